//! The list of kernels that the code of a program launches, with the types of each instance of a generic kernel.
//!
//! `#[kernel]` does not know the types that a generic kernel is launched with, and a `static` can't be generic. But rustc
//! compiles a launch for each instance. The code of a launch has directives for the assembler that put an entry into a section of
//! the program; directives are not instructions, so a launch takes no longer. The program has an entry for each launch that is
//! part of its code, whether the launch runs or not, for example in an operator of a graph or in a test. On other targets than
//! 64-bit Linux there are no entries.

use super::{KERNELS, KernelInfo, Registered};

pub(super) use section::note;

/// Code that a launch of a program runs.
pub(super) trait Noted {
    /// Its description.
    const INFO: &'static KernelInfo;
}

/// The code of a kernel with two bodies.
pub(super) struct OfKernel<K>(std::marker::PhantomData<K>);

impl<K: super::Kernel> Noted for OfKernel<K> {
    const INFO: &'static KernelInfo = K::INFO;
}

/// Returns the kernels that `#[kernel]` has registered, and the instances of generic ones that the program's code launches. A
/// generic kernel of which no instance is named or launched is returned without a type.
pub fn kernels() -> Vec<Registered> {
    let (mut kernels, generic): (Vec<_>, Vec<_>) =
        KERNELS.iter().copied().flatten().copied().partition(|kernel| kernel.info.is_some());
    for launched in section::list() {
        if !kernels.iter().any(|kernel| kernel.is(&launched)) {
            kernels.push(launched);
        }
    }
    let place = |kernel: &Registered| (kernel.name, kernel.file, kernel.line);
    let has_instance =
        |generic: &Registered| kernels.iter().any(|one| place(one) == place(generic));
    let without: Vec<_> = generic.into_iter().filter(|generic| !has_instance(generic)).collect();
    kernels.extend(without);
    kernels
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    not(miri)
))]
mod section {
    use std::arch::asm;
    use std::{ptr, slice};

    use super::Noted;
    use crate::kernel::Registered;

    /// An entry of the section. One entry is always `None`, so that the section exists.
    type Entry = Option<fn() -> Registered>;

    /// Adds a kernel to the list of launched kernels of the program whose code this function is inlined into.
    #[inline(always)]
    pub(in crate::kernel) fn note<K: Noted>() {
        // The flag `R` makes the linker keep the entries, as it keeps a static with `#[used]`. SAFETY: the directives end
        // in the section in which they began, and contain no instructions.
        unsafe {
            asm!(
                ".pushsection streamflow_launched, \"awR\", @progbits",
                ".balign 8",
                ".8byte {entry}",
                ".popsection",
                entry = sym entry::<K>,
                options(nomem, nostack, preserves_flags),
            );
        }
    }

    fn entry<K: Noted>() -> Registered {
        const { Registered::of(K::INFO) }
    }

    /// Returns the launched kernels. A kernel that several parts of the code launch is returned several times.
    pub(super) fn list() -> impl Iterator<Item = Registered> {
        // SAFETY: the directives end in the section in which they began, as in `note`.
        unsafe {
            asm!(
                ".pushsection streamflow_launched, \"awR\", @progbits",
                ".balign 8",
                ".8byte 0",
                ".popsection",
                options(nomem, nostack, preserves_flags),
            );
        }
        // SAFETY: the linker defines both symbols, since the section's name is an identifier of C and the section is not empty.
        unsafe extern "Rust" {
            #[link_name = "__start_streamflow_launched"]
            static BEGIN: [Entry; 0];
            #[link_name = "__stop_streamflow_launched"]
            static END: [Entry; 0];
        }
        let (begin, end) = (&raw const BEGIN, &raw const END);
        let count = (end.addr() - begin.addr()) / size_of::<Entry>();
        // The pointer to read by is not derived from `BEGIN`, which has no bytes, but from its address alone. The section that
        // the assembler made holds the entries, and its memory counts as exposed.
        let first = ptr::with_exposed_provenance::<Entry>(begin.expose_provenance());
        // SAFETY: the section lies between the two symbols. It holds only pointers to `entry` and zeros, one after the
        // other, and no code changes them.
        let entries = unsafe { slice::from_raw_parts(first, count) };
        entries.iter().flatten().map(|entry| entry())
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    not(miri)
)))]
mod section {
    use super::Noted;
    use crate::kernel::Registered;

    #[inline(always)]
    pub(in crate::kernel) fn note<K: Noted>() {}

    pub(super) fn list() -> impl Iterator<Item = Registered> {
        std::iter::empty()
    }
}
