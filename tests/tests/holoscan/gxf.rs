//! X1–X8 and X10: GXF's own tests, `cuda/tests` and `stream/tests`.

use streamflow::driver::DriverError;
use streamflow::prelude::*;
use streamflow_tests::kernels::{dot, slow_copy, slow_fill};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

use crate::operators::{LEN, SLOW, Seen, Tx, all, note};

pub(crate) fn tests(suite: Suite) -> Suite {
    suite
        .both("x1_cuda_stream_event", x1_cuda_stream_event)
        .ordered("x2_single_stream_event", x2_single_stream_event)
        .ordered("x3_multiple_stream_event", x3_multiple_stream_event)
        .ordered("x4_x5_x7_dot_product", x4_x5_x7_dot_product)
        .both("x6_ping_without_callback", x6_ping_without_callback)
        .conditional(
            "x6_messages_without_a_stream",
            |platform| x6_messages_without_a_stream(|seen| Unnamed::new(platform, seen)?.run()),
            |platform| {
                x6_messages_without_a_stream(|seen| {
                    UnnamedUnconditional::new(platform, seen)?.run()
                })
            },
        )
        .conditional(
            "x8_buffers",
            |platform| x8_buffers(|seen| Buffers::new(platform, seen)?.run()),
            |platform| x8_buffers(|seen| BuffersUnconditional::new(platform, seen)?.run()),
        )
        .both("x10_stream_ordered_allocation", x10_stream_ordered_allocation)
}

/// A stream of a pool has a handle, a device and events, and goes back when it is dropped.
fn x1_cuda_stream_event(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("x1", &CudaStreamPool::new().max_size(1))?;
    let stream = pool.allocate("x1")?;
    check(stream.device() == device(0) && pool.lent() == 1, || format!("{stream:?}"))?;
    let mut data = platform.buffer::<f32>(LEN, &stream)?;
    stream.launch::<slow_fill>(LEN, (&mut data, 3.0, SLOW))?;
    let point = stream.record()?;
    stream.synchronize_blocking()?;
    check(stream.is_complete()? && point.epoch() > 0, || "not complete".into())?;
    drop(stream);
    check(pool.lent() == 0, || "a stream that was dropped is lent".into())?;
    pool.allocate("again")?;
    Ok(())
}

#[operator]
struct Rx {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<f32>,
}

impl Compute for Rx {
    fn compute(&mut self, io: RxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let values = cx.download(image, &stream)?;
        let values = values.wait_blocking()?;
        let same = values.iter().all(|&x| x == values[0]);
        note(&self.seen, if same { values[0] } else { f32::NAN });
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

/// Ten messages, the consumer waits.
fn x2_single_stream_event(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    SingleStream::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == (1..=10).map(|n| n as f32).collect::<Vec<_>>())
}

/// Five streams of a pool of five: work is handed from each to the next, and a sixth is refused.
fn x3_multiple_stream_event(platform: &Platform) -> Result<bool> {
    let pool = platform.stream_pool("x3", &CudaStreamPool::new().max_size(5))?;
    let names = ["a", "b", "c", "d", "e"];
    let streams = names.map(|name| pool.allocate(name)).into_iter().collect::<Result<Vec<_>>>()?;
    let refused = matches!(
        pool.allocate("f"),
        Err(Error::PoolExhausted { max_size: 5, holders, .. }) if holders == names
    );
    let mut buffers: Vec<Buffer<f32>> = Vec::new();
    for stream in &streams {
        let mut buffer = platform.buffer::<f32>(LEN, stream)?;
        stream.launch::<slow_fill>(LEN, (&mut buffer, -1.0, 0))?;
        if let Some(before) = buffers.last() {
            // Loaded now: it may wait for kernels that run, and would hide a missing edge.
            stream.launch::<slow_copy>(LEN, (&mut buffer, before, 0))?;
        }
        stream.synchronize_blocking()?;
        buffers.push(buffer);
    }
    streams[0].launch::<slow_fill>(LEN, (&mut buffers[0], 7.0, SLOW))?;
    for next in 1..streams.len() {
        let (before, after) = buffers.split_at_mut(next);
        streams[next].launch::<slow_copy>(LEN, (&mut after[0], &before[next - 1], 0))?;
    }
    let last = streams[4].download_blocking(&buffers[4])?;
    Ok(refused && last.iter().all(|&x| x == 7.0))
}

/// Two vectors, and what their dot product is.
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
        // Whole numbers, small enough to be exact.
        let expected = x * y * LEN as f32;
        io.pair.set_cuda_stream(&stream).emit(Pair { a, b, expected })
    }
}

/// The product on the device, and its copy to the host under way.
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
        // Nobody waits here: the condition did.
        let value = product.value.try_as_slice()?;
        note(&self.seen, value == Some(&[product.expected]));
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

/// A hundred dot products, each equal to the host's, read without any wait behind the condition: an
/// in-flight copy to page-locked memory carries its stream.
fn x4_x5_x7_dot_product(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    DotProducts::new(platform, 100, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 100])
}

#[operator]
struct Numbers {
    #[output]
    number: u64,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

#[operator]
struct Count {
    #[input]
    number: u64,
    seen: Seen<u64>,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, _: &ExecutionContext) -> Result<()> {
        note(&self.seen, io.number.receive().into_data());
        Ok(())
    }
}

graph! {
    struct Plain(seen: Seen<u64>) {
        #[when(count(10))] let tx: Numbers = Numbers::new();
        let rx: Count = Count::new(seen);
        tx.number >> rx.number;
    }
}

/// Host data waits for no stream; a condition on it does not compile (`ui/conditions`).
fn x6_ping_without_callback(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    Plain::new(platform, seen.clone())?.run()?;
    check(all(&seen).len() == 10, || format!("{seen:?}"))
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

/// Messages without a stream pass the condition: in GXF at once, here when their last write is complete.
fn x6_messages_without_a_stream(run: impl FnOnce(Seen<f32>) -> Result<()>) -> Result<bool> {
    let seen = Seen::default();
    run(seen.clone())?;
    Ok(all(&seen) == (1..=10).map(|n| n as f32).collect::<Vec<_>>())
}

/// A buffer that comes while the one before is still being written.
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
        note(&self.seen, cx.download(data, &stream)?.wait_blocking()?.iter().all(|&x| x == tick));
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

/// Buffers of two streams in one queue, a slow one before a fast one.
fn x8_buffers(run: impl FnOnce(Seen<bool>) -> Result<()>) -> Result<bool> {
    let seen = Seen::default();
    run(seen.clone())?;
    Ok(all(&seen) == [true; 6])
}

/// Memory in stream order: of the host and of the device, for one stream and for many. More than there
/// is, and what is no length, are errors.
fn x10_stream_ordered_allocation(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("x10", &CudaStreamPool::new().max_size(4))?;
    let streams = ["a", "b", "c", "d"].map(|name| pool.allocate(name));
    for round in 0..3 {
        for stream in &streams {
            let stream = stream.as_ref().map_err(Failed::new)?;
            let mut data = platform.buffer::<f32>(LEN, stream)?;
            stream.launch::<slow_fill>(LEN, (&mut data, round as f32, 0))?;
            let mut pinned = platform.pinned::<f32>(device(0), LEN)?;
            pinned.as_mut_slice_blocking()?.fill(-1.0);
            let found = stream.download_blocking(&data)?;
            check(found.iter().all(|&x| x == round as f32), || format!("round {round}"))?;
        }
    }
    let stream = streams[0].as_ref().map_err(Failed::new)?;
    // More than any device has.
    let too_much = platform.buffer::<f32>(1 << 44, stream);
    let is_oom = |error: &Error| matches!(error, Error::Driver(DriverError::OutOfMemory { .. }));
    let text = check_error("16 times 4 TiB", too_much.map(drop), is_oom)?;
    check_text(&text, &["memory"])?;
    let wrong = platform.tensor::<f32>([usize::MAX, 2], stream);
    check_error("a shape", wrong.map(drop), |error| matches!(error, Error::Shape { .. }))?;
    Ok(())
}
