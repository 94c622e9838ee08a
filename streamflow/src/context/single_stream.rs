//! `SingleStream`: whether all operators of a graph work on one stream. If they do, no other stream waits for that stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stream::CudaStream;

/// No stream of the graph is known yet.
const NONE: u64 = u64::MAX;
/// The graph has one declared stream, which was not used yet, so its number is not known.
const DECLARED: u64 = u64::MAX - 1;
/// The graph has several streams. This state does not change any more.
const SEVERAL: u64 = u64::MAX - 2;

/// State shared by all nodes of a graph: whether the graph has only one stream. If so, no other stream needs the records of that
/// stream. `graph!` counts the streams that operators declare. Other streams are counted when they are first used: default
/// streams, streams that are named in a hook, and adopted streams.
///
/// The order of work does not depend on this state. If a hook ended without a record, because its graph had only one stream until
/// then, the record is made when another stream needs it.
#[derive(Debug, Clone)]
pub struct SingleStream {
    /// One of the constants above, or the number of the graph's only stream.
    only: Arc<AtomicU64>,
}

impl SingleStream {
    /// Creates the state of a graph whose operators declare this number of streams.
    pub fn new(declared: usize) -> Self {
        let only = match declared {
            0 => NONE,
            1 => DECLARED,
            _ => SEVERAL,
        };
        Self { only: Arc::new(AtomicU64::new(only)) }
    }

    /// Returns whether the graph has at most one stream so far.
    #[inline]
    pub(super) fn holds(&self) -> bool {
        self.only.load(Ordering::Relaxed) != SEVERAL
    }

    /// Adds a stream when it is first used: a stream that `graph!` has counted as declared, or the stream of a message.
    pub(super) fn use_declared(&self, stream: &CudaStream) {
        self.add(stream, |only| matches!(only, NONE | DECLARED));
    }

    /// Adds a stream when it is first used that `graph!` has not counted as declared.
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
        // `fetch_update` returns an `Err` if `next` returned `None`, that is, if the state stays as it is.
        let _unchanged = self.only.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}
