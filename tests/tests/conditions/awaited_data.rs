//! `stream_done` with results of kernels, with messages without a stream, and with several buffers in one queue.

use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow_tests::Suite;
use streamflow_tests::kernels::{dot, slow_fill};
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{LEN, Rx, SLOW, Tx, floats};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("an_awaited_product_is_read_without_a_wait", dot_product)
        .conditional(
            "messages_without_a_stream_are_awaited",
            |platform| without_a_stream(|seen| Unnamed::new(platform, seen)?.run().map(drop)),
            |platform| {
                without_a_stream(|seen| UnnamedUnconditional::new(platform, seen)?.run().map(drop))
            },
        )
        .conditional(
            "awaited_buffers_of_two_streams_are_complete",
            |platform| two_streams(|seen| Buffers::new(platform, seen)?.run().map(drop)),
            |platform| {
                two_streams(|seen| BuffersUnconditional::new(platform, seen)?.run().map(drop))
            },
        )
}

/// An operator that makes two vectors, and computes the expected dot product on the host.
#[operator(streams(generate))]
struct Generator {
    #[output]
    pair: Pair,
}

#[derive(Message)]
struct Pair {
    a: Buffer<f32>,
    b: Buffer<f32>,
    expected: f32,
}

impl Compute for Generator {
    fn compute(&mut self, io: GeneratorIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.generate)?;
        let (mut a, mut b) = (cx.buffer(LEN, &stream)?, cx.buffer(LEN, &stream)?);
        let (x, y) = ((cx.tick() % 7) as f32, (1 + cx.tick() % 5) as f32);
        stream.launch::<slow_fill>(LEN, (&mut a, x, SLOW / 20))?;
        stream.launch::<slow_fill>(LEN, (&mut b, y, SLOW / 20))?;
        // All numbers are integers that are small enough to be exact.
        let expected = x * y * LEN as f32;
        io.pair.set_cuda_stream(&stream).emit(Pair { a, b, expected })
    }
}

/// An operator that computes the product on the device, and queues the result's copy to the host.
#[operator]
struct DotProduct {
    #[input]
    pair: &Pair,
    #[output]
    product: Product,
}

#[derive(Message)]
struct Product {
    value: Pinned<f32>,
    expected: f32,
}

impl Compute for DotProduct {
    fn compute(&mut self, io: DotProductIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (pair, stream) = io.pair.receive().receive_cuda_stream(cx)?;
        let mut product = cx.buffer(1, &stream)?;
        stream.launch::<dot>(1, (&mut product, &pair.a, &pair.b))?;
        let value = cx.download(&product, &stream)?.into_pinned();
        io.product.emit(Product { value, expected: pair.expected })
    }
}

#[operator]
struct Verify {
    #[input]
    product: &Product,
    seen: Seen<bool>,
}

impl Compute for Verify {
    fn compute(&mut self, io: VerifyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (product, _) = io.product.receive().receive_cuda_stream(cx)?;
        // The host reads without a wait, since the condition has waited for the copy.
        let value = product.value.try_as_slice()?;
        push_seen(&self.seen, value == Some(&[product.expected]));
        Ok(())
    }
}

graph! {
    struct DotProducts(count: u64, seen: Seen<bool>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);
        #[streams(STREAMS)] #[when(count(count))]
        let generator: Generator = Generator::new();
        #[streams(STREAMS)]
        let product: DotProduct = DotProduct::new();
        #[streams(STREAMS)] #[when(stream_done(product))]
        let verify: Verify = Verify::new(seen);
        generator.pair >> product.pair;
        product.product >> verify.product;
    }
}

/// Checks twenty dot products against those of the host. The host reads them without a wait after the condition,
/// since a message in pinned memory names the stream of its copy.
fn dot_product(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    DotProducts::new(platform, 20, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 20])
}

macro_rules! unnamed {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(seen: Seen<f32>) {
                #[when(count(10))] let tx: Tx = Tx::new(1.0, false, SLOW / 2);
                $($condition)*
                let rx: Rx = Rx::new(seen);
                tx.image >> rx.image;
            }
        }
    };
}

unnamed!(Unnamed, #[when(stream_done(image))]);
unnamed!(UnnamedUnconditional,);

/// Checks that messages without a stream meet the condition once their last write is complete.
fn without_a_stream(run: impl FnOnce(Seen<f32>) -> Result<(), Error>) -> Result<bool> {
    let seen = Seen::default();
    run(seen.clone())?;
    Ok(all(&seen) == floats(1..11))
}

/// An operator that sends a buffer while the buffer of the tick before is still being written.
#[operator(streams(one, other))]
struct Alternate {
    #[output]
    data: Buffer<f32>,
}

impl Compute for Alternate {
    fn compute(&mut self, io: AlternateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let even = cx.tick().is_multiple_of(2);
        let stream = cx.allocate_cuda_stream(if even { io.one } else { io.other })?;
        let mut data = cx.buffer(LEN, &stream)?;
        let cycles = if even { SLOW } else { 0 };
        stream.launch::<slow_fill>(LEN, (&mut data, cx.tick() as f32, cycles))?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

#[operator]
struct BufferRx {
    #[input]
    data: &Buffer<f32>,
    seen: Seen<bool>,
}

impl Compute for BufferRx {
    fn compute(&mut self, io: BufferRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let tick = cx.tick() as f32;
        push_seen(
            &self.seen,
            cx.download(data, &stream)?.wait_blocking()?.iter().all(|&x| x == tick),
        );
        Ok(())
    }
}

macro_rules! buffers {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(seen: Seen<bool>) {
                #[when(count(6))] let tx: Alternate = Alternate::new();
                $($condition)*
                let rx: BufferRx = BufferRx::new(seen);
                #[capacity(3)]
                tx.data >> rx.data;
            }
        }
    };
}

buffers!(Buffers, #[when(stream_done(data))]);
buffers!(BuffersUnconditional,);

/// Checks buffers of two streams in one queue, where a slow buffer comes before a fast one.
fn two_streams(run: impl FnOnce(Seen<bool>) -> Result<(), Error>) -> Result<bool> {
    let seen = Seen::default();
    run(seen.clone())?;
    Ok(all(&seen) == [true; 6])
}
