//! Two functions that are not CUDA's: a test in the same process takes the order that a program gives to streams, and makes
//! queries say that work is not complete.

use std::ffi::c_int;

use crate::state::state;

/// Takes the calls since the last time, at most `most`: each is its kind and two numbers. The first call switches that on.
#[unsafe(no_mangle)]
unsafe extern "C" fn streamflow_fake_take_order(to: *mut [u64; 3], most: usize) -> usize {
    let mut state = state();
    let orders = &mut state.order;
    orders.is_on = true;
    let count = orders.since_last.len().min(most);
    for (index, order) in orders.since_last.drain(..).take(count).enumerate() {
        // SAFETY: the caller passes memory for `most` calls.
        unsafe { to.add(index).write(order.numbers()) };
    }
    count
}

/// From now on, queries say that work is not complete, or that it is.
#[unsafe(no_mangle)]
unsafe extern "C" fn streamflow_fake_slow(is_slow: c_int) {
    state().order.is_slow = is_slow != 0;
}
