//! The tree of a reduction on the simulator: `cuda/reduce.cuh` has the same one.

use std::ptr;

use super::plan::{BY_COLUMN, PARAMS, Plan, SECOND, lanes};
use crate::driver::HostArgs;
use crate::kernel::KernelInfo;
use crate::kernel::body::Faults;
use crate::kernel::combine::ScanKernel;

/// The lanes of a warp.
const WARP: usize = 32;

/// Executes one launch of the kernel that `info` describes.
///
/// # Safety
/// The parameters are those of [`Plan::pass`], for elements that are allocated and that no other code writes, and for results or
/// parts of the plan's number that no other code uses.
pub(super) unsafe fn reduce<K: ScanKernel>(args: &HostArgs<'_>, info: &'static KernelInfo) {
    let (plan, input, out) = Plan::passed(args);
    // SAFETY: the report's address is the parameter after the plan's, as `launch_kernel` passes it.
    let _faults = K::REPORTS.then(|| unsafe { Faults::of(args, PARAMS, info) });
    let elements = ptr::with_exposed_provenance::<K::Input>(input as usize);
    let values = ptr::with_exposed_provenance::<K::State>(input as usize);
    let results = ptr::with_exposed_provenance_mut::<K::Output>(out as usize);
    let parts = ptr::with_exposed_provenance_mut::<K::State>(out as usize);
    for result in 0..plan.results() {
        let first = plan.first(result);
        for part in 0..plan.parts {
            // SAFETY: the plan's places are those of elements, or of parts, that the caller vouches for.
            let state = unsafe {
                if plan.form >= SECOND {
                    state::<K>(&plan, part, |i| values.add(first + plan.place(i)).read())
                } else {
                    let element = |i| elements.add(first + plan.place(i)).read();
                    state::<K>(&plan, part, |i| K::of(element(i), i))
                }
            };
            // SAFETY: as above.
            unsafe {
                if plan.parts == 1 {
                    results.add(plan.result(result)).write(K::finish(state, plan.count));
                } else {
                    parts.add((result * plan.parts + part) as usize).write(state);
                }
            }
        }
    }
}

/// The value of one part of a result.
fn state<K: ScanKernel>(plan: &Plan, part: u64, value: impl Fn(u64) -> K::State) -> K::State {
    let length = plan.length();
    if plan.form == BY_COLUMN {
        let elements = (part..length).step_by(plan.parts as usize);
        return lanes_of::<K, 1>(elements.map(value));
    }
    let begin = part * plan.chunk;
    let elements = (begin..length.min(begin + plan.chunk)).map(value);
    match lanes(length) {
        1 => lanes_of::<K, 1>(elements),
        32 => lanes_of::<K, 32>(elements),
        _ => lanes_of::<K, 256>(elements),
    }
}

/// The value of elements by `W` lanes.
fn lanes_of<K: ScanKernel, const W: usize>(values: impl Iterator<Item = K::State>) -> K::State {
    let mut sums = [[K::identity(); 4]; W];
    let mut at = 0;
    for value in values {
        let sum = &mut sums[at / 4][at % 4];
        *sum = K::combine(*sum, value);
        at = (at + 1) % (4 * W);
    }
    let mut values = sums.map(|sums| lane::<K>(&sums));
    for warp in values.chunks_mut(WARP) {
        halve::<K>(warp);
    }
    let warps = W.div_ceil(WARP);
    for warp in 1..warps {
        values[warp] = values[warp * WARP];
    }
    halve::<K>(&mut values[..warps]);
    values[0]
}

fn lane<K: ScanKernel>(&[a, b, c, d]: &[K::State; 4]) -> K::State {
    K::combine(K::combine(a, b), K::combine(c, d))
}

/// Combines values, of a number that is a power of two, into the first one.
fn halve<K: ScanKernel>(values: &mut [K::State]) {
    let mut by = values.len() / 2;
    while by > 0 {
        for lane in 0..by {
            values[lane] = K::combine(values[lane], values[lane + by]);
        }
        by /= 2;
    }
}
