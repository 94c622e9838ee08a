//! The kernels of a program. `#[kernel]` adds each one to a list that the linker makes, so that a test can compile all.
//!
//! An entry is data: the CUDA body and the parameters, without the host body. No code runs to make the list. Each
//! program has it, since the linker keeps what may be read by its section.

use super::KernelInfo;
use crate::driver::HostArgs;

/// The kernels of all crates that the program is linked of.
#[linkme::distributed_slice]
pub static KERNELS: [Registered];

/// A kernel, or an instance of a generic one.
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// The function's name.
    pub name: &'static str,
    /// The file that holds the CUDA body.
    pub file: &'static str,
    /// The line, from 1, at which the CUDA body begins.
    pub line: u32,
    /// The kernel, to be compiled and not to be launched. `None` for a generic kernel without instances.
    pub info: Option<KernelInfo>,
}

impl Registered {
    /// A kernel, or an instance of a generic one.
    pub const fn of(info: &'static KernelInfo) -> Self {
        // The host body is left out; otherwise it would be part of each program.
        let info = KernelInfo { host: no_host_body, ..*info };
        Self { name: info.name, file: info.file, line: info.line, info: Some(info) }
    }

    /// Whether the same code is compiled of both.
    pub(super) fn is(&self, other: &Self) -> bool {
        let code = |kernel: &Self| kernel.info.map(|info| (info.cuda, info.params, info.generics));
        (self.name, self.file, self.line) == (other.name, other.file, other.line)
            && code(self) == code(other)
    }

    /// A generic kernel without a named instance.
    pub const fn generic(name: &'static str, file: &'static str, line: u32) -> Self {
        Self { name, file, line, info: None }
    }
}

/// The host body of a kernel that is only compiled.
///
/// # Safety
/// It does nothing.
unsafe fn no_host_body(_: HostArgs<'_>) {}
