//! Streams that an operator allocates in `start`.

use streamflow::prelude::*;
use streamflow_tests::Suite;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::stereo::Counter;
use streamflow_tests::tensors::{LEN, SLOW, holds, stream_number};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("a_stream_of_start_is_that_of_compute_in_each_run", with_pool)
        .ordered("a_stream_of_start_needs_no_pool", without_pool)
}

/// An operator with a stream before its first tick. `image` is written on that stream, and read on another
/// stream.
#[operator(streams(test_stream))]
struct AllocInStart {
    #[input]
    number: u64,
    in_start: Option<u32>,
    seen: Seen<bool>,
}

impl Compute for AllocInStart {
    fn start(&mut self, streams: AllocInStartStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(streams.test_stream)?;
        // Allocated by its name as a text, this is the same stream.
        let again = cx.allocate_cuda_stream_named("test_stream")?;
        let found = cx.allocate_cuda_stream_named("found while running")?;
        let same = stream.raw() == again.raw() && found.raw() != stream.raw();
        push_seen(&self.seen, same && stream.device() == device(0));
        self.in_start = Some(stream_number(&stream)?);
        Ok(())
    }

    fn compute(&mut self, io: AllocInStartIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let value = io.number.receive().into_data() as f32;
        let stream = cx.allocate_cuda_stream(io.test_stream)?;
        let found = cx.allocate_cuda_stream_named("found while running")?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut image, value, SLOW))?;
        let same = self.in_start == Some(stream_number(&stream)?);
        push_seen(&self.seen, same && holds(cx, &image, &found, value)?);
        Ok(())
    }
}

macro_rules! alloc_in_start {
    ($name:ident, { $($declared:tt)* } $($pool:tt)*) => {
        graph! {
            struct $name(seen: Seen<bool>) {
                $($declared)*
                #[when(count(3))]
                let tx: Counter = Counter::new();
                $($pool)*
                let rx: AllocInStart = AllocInStart::new(None, seen);
                tx.number >> rx.number;
            }
        }
    };
}

alloc_in_start!(
    WithPool,
    { const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1); }
    #[streams(STREAMS)]
);
alloc_in_start!(WithoutPool, {});

/// Checks that a stream that is allocated in `start` is on device 0, is cached by its name, and is still valid in
/// `compute`, also in a second run.
fn with_pool(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    let mut graph = WithPool::new(platform, seen.clone())?;
    graph.run()?;
    graph.run()?;
    Ok(all(&seen) == [true; 8])
}

/// Checks the same for a node without a named pool.
fn without_pool(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    WithoutPool::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 4])
}
