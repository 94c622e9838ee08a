//! Which stream a message names: that of the node that sends it on, or another stream of that node.

use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_tests::Suite;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{LEN, SLOW, Tx, holds, stream_number};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("a_forwarded_message_has_the_forwarders_stream", forwarded)
        .ordered("an_allocated_and_an_adopted_stream_work_on_a_partition", both_ways)
}

#[operator]
struct Forward {
    #[input]
    image: Shared<Tensor<f32>>,
    #[output]
    out: Shared<Tensor<f32>>,
    seen: Seen<u32>,
}

impl Compute for Forward {
    fn compute(&mut self, io: ForwardIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, stream_number(&stream)?);
        io.out.emit(image)
    }
}

#[operator]
struct ForwardedRx {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<(u32, bool)>,
}

impl Compute for ForwardedRx {
    fn compute(&mut self, io: ForwardedRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        let names: Vec<_> = image.streams().flatten().collect();
        let (image, stream) = image.receive_cuda_stream(cx)?;
        let right = holds(cx, image, &stream, cx.tick() as f32)?;
        for name in names {
            push_seen(&self.seen, (name.point().stream(), right));
        }
        Ok(())
    }
}

graph! {
    struct Forwarding(forwarders: Seen<u32>, received: Seen<(u32, bool)>) {
        #[when(count(5))] let tx: Tx = Tx::new(0.0, true, SLOW);
        let forward: Forward = Forward::new(forwarders);
        let rx: ForwardedRx = ForwardedRx::new(received);
        tx.image >> forward.image;
        forward.out >> rx.image;
    }
}

/// Checks that a message that is received and emitted unchanged keeps its data, and names the stream of the node
/// that sends it on.
fn forwarded(platform: &Platform) -> Result<bool> {
    let (forwarders, received) = (Seen::default(), Seen::default());
    Forwarding::new(platform, forwarders.clone(), received.clone())?.run()?;
    let expected: Vec<_> = all(&forwarders).into_iter().map(|number| (number, true)).collect();
    Ok(expected.len() == 5 && all(&received) == expected)
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
        // `out` is written on the internal stream and sent on the new one, at an output without readers.
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

/// Checks the two ways to get the internal stream, on a green context: an allocated stream is not the message's
/// stream, and an adopted one is. Another stream can be allocated, and set on an output without readers.
fn both_ways(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    PoolMethods::new(platform, true, seen.clone())?.run()?;
    PoolMethods::new(platform, false, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 20])
}
