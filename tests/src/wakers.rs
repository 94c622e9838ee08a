//! A waker whose code is all in the test. A waker made by [`Wake`](std::task::Wake) would run no code of the test when it
//! is cloned.

use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// Which part of a waker is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The waker is cloned.
    Clone,
    /// The waker is woken.
    Wake,
    /// The waker is dropped without being woken.
    Drop,
}

/// Makes a waker. The waker and its clones call this function for each part.
pub fn calling<F: Fn(Part) + Send + Sync + 'static>(call: F) -> Waker {
    let call = Arc::into_raw(Arc::new(call)).cast();
    // SAFETY: the functions of the table are those of this type. Each keeps the count of the `Arc` right, and `call` is
    // `Send` and `Sync`.
    unsafe { Waker::from_raw(RawWaker::new(call, &Table::<F>::TABLE)) }
}

struct Table<F>(F);

impl<F: Fn(Part) + Send + Sync + 'static> Table<F> {
    const TABLE: RawWakerVTable =
        RawWakerVTable::new(Self::clone, Self::wake, Self::wake_by_ref, Self::drop);

    unsafe fn clone(call: *const ()) -> RawWaker {
        // SAFETY: the waker that is cloned owns one count of the `Arc`, and the clone gets another count.
        let function = unsafe {
            Arc::increment_strong_count(call.cast::<F>());
            &*call.cast::<F>()
        };
        function(Part::Clone);
        RawWaker::new(call, &Self::TABLE)
    }

    unsafe fn wake(call: *const ()) {
        // SAFETY: this call takes over the waker's count of the `Arc`.
        let function = unsafe { Arc::from_raw(call.cast::<F>()) };
        function(Part::Wake);
    }

    unsafe fn wake_by_ref(call: *const ()) {
        // SAFETY: the waker is alive, and so is its function.
        let function = unsafe { &*call.cast::<F>() };
        function(Part::Wake);
    }

    unsafe fn drop(call: *const ()) {
        // SAFETY: this call takes over the waker's count of the `Arc`.
        let function = unsafe { Arc::from_raw(call.cast::<F>()) };
        function(Part::Drop);
    }
}
