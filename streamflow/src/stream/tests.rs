//! Tests of the driver calls that streams and pools make or skip. A recorder between the runtime and the simulator sees them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attached;
mod complete;
mod external;
mod order;
mod pools;
mod waits;

use std::sync::{Arc, Mutex, mpsc};

use super::*;
use crate::driver::host::{HostDriver, LogAction, Policy};
use crate::driver::{Call, Recorder};
use crate::{Error, Platform, device};

struct Bench {
    host: Arc<HostDriver>,
    recorder: Arc<Recorder>,
    platform: Platform,
    pool: StreamPool,
}

fn bench(policy: Policy) -> Bench {
    let host = Arc::new(HostDriver::builder().policy(policy).trace(true).build());
    let recorder = Arc::new(Recorder::new(host.clone()));
    let platform = Platform::builder().driver(recorder.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    Bench { host, recorder, platform, pool }
}

impl Bench {
    fn stream(&self) -> CudaStream {
        self.pool.allocate("a test").unwrap()
    }

    /// Returns how many records and waits were made since the last call of this function.
    fn records_and_waits(&self) -> (usize, usize) {
        let records = self.recorder.count(|call| matches!(call, Call::RecordEvent { .. }));
        let waits = self.recorder.count(|call| matches!(call, Call::WaitEvent { .. }));
        self.recorder.clear();
        (records, waits)
    }

    fn made(&self) -> usize {
        self.recorder.count(|call| matches!(call, Call::CreateStream { .. }))
    }

    /// Returns how many fills the simulator has executed.
    fn fills(&self) -> usize {
        self.host.log().iter().filter(|it| matches!(it.action, LogAction::Fill { .. })).count()
    }
}
