//! Divisions by 0, and indices out of range, in bodies that the simulator runs.

use std::cell::Cell;
use std::panic::Location;
use std::ptr;

use crate::driver::HostArgs;
use crate::kernel::KernelInfo;
use crate::kernel::bounds::{self, Mistake, Report};

thread_local! {
    /// The report of the launch that this thread executes, and the number of its kernel.
    static CURRENT: Cell<(*const Report, u64)> = const { Cell::new((ptr::null(), 0)) };
}

/// The report of a launch, for the operators of its body on this thread, until this is dropped.
#[derive(Debug)]
pub struct Faults((*const Report, u64));

impl Faults {
    /// The report whose address is parameter `index`.
    ///
    /// # Safety
    /// The parameter is the address of a report that lives until this is dropped.
    pub unsafe fn of(args: &HostArgs<'_>, index: usize, info: &'static KernelInfo) -> Self {
        let address = args.params.get(index).map_or(0, |param| param.get::<u64>());
        let report = ptr::with_exposed_provenance(address as usize);
        let current = (report, bounds::kernel_id(info));
        // While a thread ends, its own values may be gone: then a division by 0 panics.
        Self(CURRENT.try_with(|it| it.replace(current)).unwrap_or((ptr::null(), 0)))
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
    let (report, kernel) = CURRENT.try_with(Cell::get).unwrap_or((ptr::null(), 0));
    // SAFETY: `Faults::of`; null outside of a launch.
    match unsafe { report.as_ref() } {
        Some(report) => {
            report.keep(kernel, mistake);
            true
        }
        None => false,
    }
}
