//! Work that does not end: a test in the same process can hold the threads that wait for a stream or an event. The two
//! functions are not CUDA's.

use std::ffi::c_int;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

struct Held {
    is_on: bool,
    /// How many threads wait.
    threads: c_int,
}

static HELD: Mutex<Held> = Mutex::new(Held { is_on: false, threads: 0 });
static RELEASED: Condvar = Condvar::new();

fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the test lets the thread go.
pub(crate) fn wait_while_held() {
    let mut held = held();
    held.threads += 1;
    let mut held =
        RELEASED.wait_while(held, |held| held.is_on).unwrap_or_else(PoisonError::into_inner);
    held.threads -= 1;
}

/// From now on, threads that wait for a stream or an event are held, or go on.
#[unsafe(no_mangle)]
extern "C" fn streamflow_fake_hold(is_on: c_int) {
    held().is_on = is_on != 0;
    RELEASED.notify_all();
}

/// How many threads are held.
#[unsafe(no_mangle)]
extern "C" fn streamflow_fake_held() -> c_int {
    held().threads
}
