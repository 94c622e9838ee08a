//! Streams that cudarc was lent and may still use, because cudarc's slices have clones of them.

use std::sync::{Arc, PoisonError};

use cudarc::driver::CudaStream as Theirs;

use super::Timeline;
use crate::driver::current;
use crate::sync::{Mutex, statics};

/// A stream as cudarc's type, with the timeline that owns the CUDA stream.
struct Kept {
    theirs: Arc<Theirs>,
    _timeline: Arc<Timeline>,
}

statics! {
    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
}

/// Keeps the timeline that owns a stream until cudarc has no clone of the stream any more.
pub(super) fn keep(theirs: Arc<Theirs>, timeline: Arc<Timeline>) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push(Kept { theirs, _timeline: timeline });
    drop(kept);
    drop_unused();
}

/// Drops the streams of which cudarc has no clone any more.
pub(super) fn drop_unused() {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let is_over = |kept: &mut Kept| Arc::get_mut(&mut kept.theirs).is_some();
    let over: Vec<Kept> = kept.extract_if(.., is_over).collect();
    drop(kept);
    if !over.is_empty() {
        // The lock is released before the streams are dropped, since dropping the last owner of a context or of a stream calls
        // CUDA.
        drop(over);
        current::doubt();
    }
}
