//! Whether all operators of a graph work on one stream, so that no other ever waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stream::CudaStream;

/// No stream is known yet.
const NONE: u64 = u64::MAX;
/// One was declared, and is not known yet.
const DECLARED: u64 = u64::MAX - 1;
/// There are several, for good.
const SEVERAL: u64 = u64::MAX - 2;

/// What the nodes of a graph know together: while they have one stream, nobody needs its records. While
/// compiling the streams are counted that operators declare. Others come to light when they are used:
/// default streams, those that are named while running, and those of others that are adopted.
///
/// Nothing is ordered by it. Where a record was not made when a hook ended, since its graph had one
/// stream until then, it is made when a consumer asks.
#[derive(Debug, Clone)]
pub struct SingleStream {
    /// One of the above, or the number of the only stream.
    only: Arc<AtomicU64>,
}

impl SingleStream {
    /// For a graph whose operators declare so many streams.
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

    /// A stream that is used from now on: one that was declared, or that a message came with.
    pub(super) fn with(&self, stream: &CudaStream) {
        self.add(stream, |only| matches!(only, NONE | DECLARED));
    }

    /// A stream that is used from now on, beside those that were declared.
    pub(super) fn with_another(&self, stream: &CudaStream) {
        self.add(stream, |only| only == NONE);
    }

    fn add(&self, stream: &CudaStream, is_first: impl Fn(u64) -> bool) {
        let number = u64::from(stream.timeline().id());
        let next = |only| match only {
            only if only == number => None,
            only if is_first(only) => Some(number),
            _ => Some(SEVERAL),
        };
        // It is refused where nothing changes.
        let _same = self.only.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}
