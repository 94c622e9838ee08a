//! X1–X3 and X10: GXF's own tests of streams, events and memory, `cuda/tests` and `stream/tests`.

use streamflow::prelude::*;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

use super::operators::{LEN, SLOW, Seen, Tx, all, floats, handed_on, push_seen, value};

pub(crate) fn tests(suite: Suite) -> Suite {
    suite
        .both("x1_cuda_stream_event", x1_cuda_stream_event)
        .ordered("x2_single_stream_event", x2_single_stream_event)
        .ordered("x3_multiple_stream_event", x3_multiple_stream_event)
        .both("x10_stream_ordered_allocation", x10_stream_ordered_allocation)
}

/// A stream of a pool has a handle, a device and events, and returns to the pool when it is dropped.
fn x1_cuda_stream_event(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("x1", &CudaStreamPool::new().max_size(1))?;
    let stream = pool.allocate("x1")?;
    check(stream.device() == device(0) && pool.in_use() == 1, || format!("{stream:?}"))?;
    let mut data = platform.buffer::<f32>(LEN, &stream)?;
    stream.launch::<slow_fill>(LEN, (&mut data, 3.0, SLOW))?;
    let point = stream.record()?;
    stream.synchronize_blocking()?;
    check(stream.is_complete()? && point.record() > 0, || "the stream is not complete".into())?;
    drop(stream);
    check(pool.in_use() == 0, || "a dropped stream is still in use".into())?;
    pool.allocate("again")?;
    Ok(())
}

/// Notes the tensor's value, if all elements are equal.
#[operator]
pub(crate) struct Rx {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<f32>,
}

impl Compute for Rx {
    fn compute(&mut self, io: RxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, value(cx, image, &stream)?);
        Ok(())
    }
}

graph! {
    struct SingleStream(seen: Seen<f32>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);
        #[streams(STREAMS)] #[when(count(10))]
        let tx: Tx = Tx::new(1.0, true, SLOW / 2);
        #[streams(STREAMS)]
        let rx: Rx = Rx::new(seen);
        tx.image >> rx.image;
    }
}

/// Ten messages; the consumer's stream waits for each.
fn x2_single_stream_event(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    SingleStream::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == floats(1..11))
}

/// Five streams of a pool of five: data passes from each to the next, and a sixth stream is an error.
fn x3_multiple_stream_event(platform: &Platform) -> Result<bool> {
    let pool = platform.stream_pool("x3", &CudaStreamPool::new().max_size(5))?;
    let names = ["a", "b", "c", "d", "e"];
    let streams =
        names.map(|name| pool.allocate(name)).into_iter().collect::<Result<Vec<_>, Error>>()?;
    let refused = matches!(
        pool.allocate("f"),
        Err(Error::PoolExhausted { max_size: 5, holders, .. }) if holders == names
    );
    let streams: Vec<_> = streams.iter().collect();
    Ok(refused && handed_on(platform, &streams)?)
}

/// Stream-ordered memory of host and device, for one stream and for many. Too much memory and an invalid length are
/// errors.
fn x10_stream_ordered_allocation(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("x10", &CudaStreamPool::new().max_size(4))?;
    let streams = ["a", "b", "c", "d"].map(|name| pool.allocate(name));
    for round in 0..3 {
        for stream in &streams {
            let stream = stream.as_ref().map_err(Failed::msg)?;
            let mut data = platform.buffer::<f32>(LEN, stream)?;
            stream.launch::<slow_fill>(LEN, (&mut data, round as f32, 0))?;
            let mut pinned = platform.pinned::<f32>(device(0), LEN)?;
            pinned.as_mut_slice_blocking()?.fill(-1.0);
            let found = stream.download_blocking(&data)?;
            check(found.iter().all(|&x| x == round as f32), || format!("round {round}"))?;
        }
    }
    let stream = streams[0].as_ref().map_err(Failed::msg)?;
    // More memory than any device has.
    let too_much = platform.buffer::<f32>(1 << 44, stream);
    let is_oom = |error: &Error| matches!(error, Error::OutOfMemory { .. });
    let text = check_error("16 times 4 TiB", too_much.map(drop), is_oom)?;
    check_text(&text, &["memory"])?;
    let wrong = platform.tensor::<f32>([usize::MAX, 2], stream);
    check_error("a shape", wrong.map(drop), |error| matches!(error, Error::Shape { .. }))?;
    Ok(())
}
