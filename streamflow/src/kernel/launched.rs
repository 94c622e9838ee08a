//! The kernels that the code of a program launches, with the types of each instance of a generic one.
//!
//! `#[kernel]` does not know the types that a generic kernel is launched with, and a `static` can't be generic. But
//! rustc compiles a launch for each instance. The code of a launch has directives for the assembler that put an entry
//! into a section of the program; directives are not instructions, so a launch takes no longer. An entry is there if
//! the launch is code of the program, whether it runs or not, for example in an operator of a graph, or in a test.
//! Other targets than 64-bit Linux have no entries.

use super::{KERNELS, Registered};

pub(super) use section::note;

/// The kernels of the list, and the instances of generic ones that the program's code launches. A generic kernel is among them
/// without a type if no instance is named or launched.
pub fn kernels() -> Vec<Registered> {
    let (mut kernels, generic): (Vec<_>, Vec<_>) =
        KERNELS.iter().copied().partition(|kernel| kernel.info.is_some());
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

    use crate::kernel::{Kernel, Registered};

    /// An entry of the section. One entry is always `None`, so that the section exists.
    type Entry = Option<fn() -> Registered>;

    /// Adds a kernel to the list of launched kernels of the program into which this function is inlined.
    #[inline(always)]
    pub(in crate::kernel) fn note<K: Kernel>() {
        // `R`: the linker keeps the entries, as it keeps a static with `#[used]`. SAFETY: the directives end in the
        // section where they began, and are no instructions.
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

    fn entry<K: Kernel>() -> Registered {
        const { Registered::of(K::INFO) }
    }

    /// The launched kernels. A kernel that several places launch is there several times.
    pub(super) fn list() -> impl Iterator<Item = Registered> {
        // SAFETY: as in `note`.
        unsafe {
            asm!(
                ".pushsection streamflow_launched, \"awR\", @progbits",
                ".balign 8",
                ".8byte 0",
                ".popsection",
                options(nomem, nostack, preserves_flags),
            );
        }
        // SAFETY: the linker defines both symbols, since the section has a name of C and is not empty.
        unsafe extern "Rust" {
            #[link_name = "__start_streamflow_launched"]
            static BEGIN: [Entry; 0];
            #[link_name = "__stop_streamflow_launched"]
            static END: [Entry; 0];
        }
        let (begin, end) = (&raw const BEGIN, &raw const END);
        let count = (end.addr() - begin.addr()) / size_of::<Entry>();
        // A pointer derived from `BEGIN` must not read, since `BEGIN` has no bytes. The entries belong to the
        // assembler's section; memory of that section counts as exposed.
        let first = ptr::with_exposed_provenance::<Entry>(begin.expose_provenance());
        // SAFETY: the section begins and ends there, and holds only pointers to `entry` and zeros, one after the other.
        // Nothing changes them.
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
    use crate::kernel::{Kernel, Registered};

    #[inline(always)]
    pub(in crate::kernel) fn note<K: Kernel>() {}

    pub(super) fn list() -> impl Iterator<Item = Registered> {
        std::iter::empty()
    }
}
