//! Streams that cudarc has longer than they were lent, since its slices keep them.

use std::sync::{Arc, PoisonError};

use cudarc::driver::CudaStream as Theirs;

use super::Timeline;
use crate::driver::current;
use crate::sync::{Mutex, statics};

/// A stream of cudarc, with the owner of the stream of CUDA.
struct Kept {
    theirs: Arc<Theirs>,
    _timeline: Arc<Timeline>,
}

statics! {
    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
}

/// Keeps the owner of a stream until cudarc has no clone.
pub(super) fn keep(theirs: Arc<Theirs>, timeline: Arc<Timeline>) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push(Kept { theirs, _timeline: timeline });
    drop(kept);
    drop_unused();
}

/// Drops the streams whose last clone is dropped.
pub(super) fn drop_unused() {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let is_over = |kept: &mut Kept| Arc::get_mut(&mut kept.theirs).is_some();
    let over: Vec<Kept> = kept.extract_if(.., is_over).collect();
    drop(kept);
    if !over.is_empty() {
        // Without the lock: the last owner of a context or of a stream calls CUDA.
        drop(over);
        current::doubt();
    }
}
