//! Finds out whether all operators of a graph work on one stream. Then no other stream waits for that stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stream::CudaStream;

/// No stream is known yet.
const NONE: u64 = u64::MAX;
/// The only stream is declared, and is not known yet.
const DECLARED: u64 = u64::MAX - 1;
/// The graph has several streams. This is final.
const SEVERAL: u64 = u64::MAX - 2;

/// State shared by all nodes of a graph: whether they have only one stream. No other stream then needs its records.
/// `graph!` counts the streams that operators declare. The others are found when they are used: default streams,
/// streams that are named in a hook, and adopted streams.
///
/// No order depends on this state. If a hook ended without a record, because its graph had one stream until then, the
/// record is made when a consumer needs it.
#[derive(Debug, Clone)]
pub struct SingleStream {
    /// One of the constants above, or the number of the only stream.
    only: Arc<AtomicU64>,
}

impl SingleStream {
    /// Creates the state of a graph with operators that declare this number of streams.
    pub fn new(declared: usize) -> Self {
        let only = match declared {
            0 => NONE,
            1 => DECLARED,
            _ => SEVERAL,
        };
        Self { only: Arc::new(AtomicU64::new(only)) }
    }

    /// Whether there is no second stream.
    #[inline]
    pub(super) fn holds(&self) -> bool {
        self.only.load(Ordering::Relaxed) != SEVERAL
    }

    /// Adds a stream that is used from now on: a declared stream, or the stream of a message.
    pub(super) fn use_declared(&self, stream: &CudaStream) {
        self.add(stream, |only| matches!(only, NONE | DECLARED));
    }

    /// Adds a stream that is used from now on and was not counted as declared.
    pub(super) fn use_undeclared(&self, stream: &CudaStream) {
        self.add(stream, |only| only == NONE);
    }

    fn add(&self, stream: &CudaStream, is_first: impl Fn(u64) -> bool) {
        let number = u64::from(stream.timeline().id());
        let next = |only| match only {
            only if only == number => None,
            only if is_first(only) => Some(number),
            _ => Some(SEVERAL),
        };
        // An `Err` means that nothing changes.
        let _unchanged = self.only.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}
