//! Divisions by 0, and indices out of range, in bodies that the simulator runs.

use std::cell::Cell;
use std::panic::Location;
use std::ptr;

use crate::driver::HostArgs;
use crate::kernel::KernelInfo;
use crate::kernel::bounds::{self, Mistake, Report};

thread_local! {
    /// The launch that this thread executes.
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
}

/// A launch: its report and its kernel. The number of the kernel is computed for a mistake alone, since it is a hash of texts.
#[derive(Debug, Clone, Copy)]
struct Current {
    report: *const Report,
    info: &'static KernelInfo,
}

/// The report of a launch, for the operators of its body on this thread, until this is dropped.
#[derive(Debug)]
pub struct Faults(Option<Current>);

impl Faults {
    /// The report whose address is parameter `index`.
    ///
    /// # Safety
    /// The parameter is the address of a report that lives until this is dropped.
    pub unsafe fn of(args: &HostArgs<'_>, index: usize, info: &'static KernelInfo) -> Self {
        let address = args.params.get(index).map_or(0, |param| param.get::<u64>());
        let report = ptr::with_exposed_provenance(address as usize);
        let current = Some(Current { report, info });
        // While a thread ends, its own values may be gone: then a division by 0 panics.
        Self(CURRENT.try_with(|it| it.replace(current)).unwrap_or(None))
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        let _ended = CURRENT.try_with(|it| it.set(self.0));
    }
}

/// Reports the division at the caller's place. Outside of a launch it panics, as Rust's own operator does.
#[cold]
#[inline(never)]
#[track_caller]
#[expect(clippy::panic, reason = "as a division of integers")]
pub(super) fn division_by_zero() {
    if !keep(Mistake {
        argument: bounds::DIVISION,
        index: 0,
        length: 0,
        line: Location::caller().line(),
    }) {
        panic!("attempt to divide by zero");
    }
}

/// Reports an index at the caller's place. Outside of a launch it panics, as Rust's own operator does.
#[cold]
#[inline(never)]
#[track_caller]
#[expect(clippy::panic, reason = "as an index of Rust")]
pub(super) fn out_of_range(argument: u32, index: usize, len: usize) {
    let (at, length) = (index as u64, len as u64);
    if !keep(Mistake { argument, index: at, length, line: Location::caller().line() }) {
        panic!("index out of bounds: the len is {len} but the index is {index}");
    }
}

/// Keeps a mistake in the report of this thread's launch. `false` outside of a launch.
fn keep(mistake: Mistake) -> bool {
    let Some(Current { report, info }) = CURRENT.try_with(Cell::get).unwrap_or(None) else {
        return false;
    };
    // SAFETY: `Faults::of`; null for a launch without the parameter.
    match unsafe { report.as_ref() } {
        Some(report) => {
            report.keep(bounds::kernel_id(info), mistake);
            true
        }
        None => false,
    }
}
