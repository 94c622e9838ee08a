//! The kernels of a program. `#[kernel]` adds each kernel to a list that the linker makes, so that a test can compile all
//! of them.
//!
//! An entry of the list is data: the CUDA body and the parameters, without the host body. No code runs to make the list. Every
//! program contains the list, since the linker keeps sections whose names code can refer to.

use super::KernelInfo;
use crate::driver::HostArgs;

/// The kernels of all crates in the program: for each use of `#[kernel]`, its codes or its instances.
#[linkme::distributed_slice]
pub static KERNELS: [&'static [Registered]];

/// A kernel, or an instance of a generic one.
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// The function's name.
    pub name: &'static str,
    /// The file that holds the CUDA body.
    pub file: &'static str,
    /// The line, from 1, at which the CUDA body begins.
    pub line: u32,
    /// The description of the kernel. It can be compiled but not launched. `None` for a generic kernel without instances.
    pub info: Option<KernelInfo>,
}

impl Registered {
    /// Creates the entry of a kernel, or of an instance of a generic one.
    pub const fn of(info: &'static KernelInfo) -> Self {
        // Replaces the host body: with a pointer to it, each program would contain the host bodies of all kernels.
        let info = KernelInfo { host: no_host_body, ..*info };
        Self { name: info.name, file: info.file, line: info.line, info: Some(info) }
    }

    /// Whether this entry and `other` give the same code when they are compiled.
    pub(super) fn is(&self, other: &Self) -> bool {
        let code =
            |kernel: &Self| kernel.info.map(|info| (info.cuda.text(), info.params, info.generics));
        (self.name, self.file, self.line) == (other.name, other.file, other.line)
            && code(self) == code(other)
    }

    /// Creates the entry of a generic kernel of which no instance is named.
    pub const fn generic(name: &'static str, file: &'static str, line: u32) -> Self {
        Self { name, file, line, info: None }
    }
}

/// The host body of a description that is compiled alone, and never launched.
///
/// # Safety
/// There is nothing to ensure: the function does nothing.
pub(super) unsafe fn no_host_body(_: HostArgs<'_>) {}
