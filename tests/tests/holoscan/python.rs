//! P1, P2 and P4: `python/tests/system/test_stream_handling.py`.

use streamflow::driver::Call;
use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_tests::kernels::{add_one, slow_fill};
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, foreign};

use super::operators::{LEN, SLOW, Seen, Tx, all, holds, push_seen};

pub(crate) fn tests(suite: Suite) -> Suite {
    suite
        .ordered("p1_stream_pool_methods", p1_stream_pool_methods)
        .ordered("p2_external_stream", p2_external_stream)
        .both("p4_default_cuda_stream_pool", p4_default_cuda_stream_pool)
}

#[operator]
struct StreamRx {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    allocate: bool,
    seen: Seen<bool>,
}

impl Compute for StreamRx {
    fn compute(&mut self, io: StreamRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        let streams: Vec<_> = image.streams().collect();
        let [Some(upstream)] = streams[..] else {
            push_seen(&self.seen, false);
            return Ok(());
        };
        let (image, stream) = if self.allocate {
            image.receive_cuda_stream(cx)?
        } else {
            image.adopt().receive_cuda_stream(cx)?
        };
        let new = cx.allocate_cuda_stream_named("my_stream")?;
        let right = holds(cx, image, &stream, cx.tick() as f32)?;
        // Written on the internal stream and sent on the new one, on a port without readers.
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut out, 1.0, 0))?;
        io.out.set_cuda_stream(&new).emit(out)?;
        let adopted = upstream.is(&stream);
        let zero = cx.default_stream()?.raw();
        let handled = stream.raw() != zero && new.raw() != zero && stream.device() == device(0);
        push_seen(&self.seen, handled && adopted != self.allocate && right);
        Ok(())
    }
}

graph! {
    struct PoolMethods(allocate: bool, seen: Seen<bool>) {
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 8]);
        const STREAMS: CudaStreamPool =
            CudaStreamPool::new().on(GREEN.context(0)).reserved_size(1).max_size(5);
        #[streams(STREAMS)] #[when(count(10))]
        let tx: Tx = Tx::new(0.0, true, SLOW / 4);
        #[streams(STREAMS)]
        let rx: StreamRx = StreamRx::new(allocate, seen);
        tx.image >> rx.image;
        rx.out >> _;
    }
}

/// Both ways to get the internal stream, on a green context: allocated, it is not the message's stream; adopted, it is.
/// Another stream can be allocated, and set on an output without readers.
fn p1_stream_pool_methods(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    PoolMethods::new(platform, true, seen.clone())?.run()?;
    PoolMethods::new(platform, false, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 20])
}

/// Queues work on its received stream outside of streamflow, as a library does that takes a `CUstream`.
#[operator]
pub(crate) struct ExternalRx {
    #[input]
    image: Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for ExternalRx {
    fn compute(&mut self, io: ExternalRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        // Holoscan's test only overwrites the data, which shows no order. Here the data is used first.
        stream.launch::<add_one>(LEN, (&mut image,))?;
        let right = holds(cx, &image, &stream, 1.0 + cx.tick() as f32)?;
        foreign::fill(cx.platform(), &stream, &mut image, 0)?;
        stream.launch::<add_one>(LEN, (&mut image,))?;
        stream.launch::<add_one>(LEN, (&mut image,))?;
        let sum: f32 = cx.download(&image, &stream)?.wait_blocking()?.iter().sum();
        push_seen(&self.seen, right && sum == 2.0 * LEN as f32);
        Ok(())
    }
}

graph! {
    struct External(seen: Seen<bool>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().reserved_size(1).max_size(5);
        #[streams(STREAMS)] #[when(count(5))]
        let tx: Tx = Tx::new(0.0, true, SLOW);
        #[streams(STREAMS)]
        let rx: ExternalRx = ExternalRx::new(seen);
        tx.image >> rx.image;
    }
}

/// Work that another library queues on the received stream's handle comes after the producer's work.
fn p2_external_stream(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    External::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 5])
}

#[operator]
pub(crate) struct PingRx {
    #[input]
    number: u64,
    seen: Seen<u64>,
}

impl Compute for PingRx {
    fn compute(&mut self, io: PingRxIo<'_>, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, io.number.receive().into_data());
        Ok(())
    }
}

graph! {
    /// A graph with only host data.
    pub(crate) struct Ping(seen: Seen<u64>) {
        #[when(count(10))]
        let tx: Counter = Counter::new();
        let rx: PingRx = PingRx::new(seen);
        tx.number >> rx.number;
    }
}

/// In Holoscan, every operator owns a pool and a stream of it where there is a GPU. Here an operator without device
/// data owns none: a graph of host data makes no stream, no event and no record.
fn p4_default_cuda_stream_pool(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    recorder.clear();
    let seen = Seen::default();
    Ping::new(&platform, seen.clone())?.run()?;
    let calls = recorder.calls();
    let other = calls.iter().find(|call| !matches!(call, Call::Bind { .. }));
    check(other.is_none(), || format!("a graph of host data made a call: {other:?}"))?;
    check(all(&seen) == (0..10).collect::<Vec<_>>(), || format!("{seen:?}"))
}
