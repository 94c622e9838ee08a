//! Work on another stream than the received one, and work that another library queues.

use streamflow::prelude::*;
use streamflow::stream::{CudaGreenContextPool, StreamFlags};
use streamflow_driver::driver::GreenContext;
use streamflow_tests::kernels::add_one;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{LEN, SLOW, Tx, holds};
use streamflow_tests::{Suite, foreign};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("work_of_another_library_on_a_partition_follows_the_producer", on_a_partition)
        .ordered("a_consumer_on_the_default_stream_waits_for_its_data", on_default)
        .ordered("a_stream_named_internal_is_an_ordinary_stream", named_internal)
}

/// An operator that queues work on its received stream without streamflow, as a library does that takes a
/// `CUstream`.
#[operator]
struct ExternalRx {
    #[input]
    image: Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for ExternalRx {
    fn compute(&mut self, io: ExternalRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive().receive_cuda_stream(cx)?;
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

/// An operator that notes the number of multiprocessors of its stream.
#[operator]
struct Where {
    #[input]
    image: &Tensor<f32>,
    sizes: Seen<Option<u32>>,
}

impl Compute for Where {
    fn compute(&mut self, io: WhereIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.sizes, stream.green_context().map(GreenContext::multiprocessors));
        Ok(())
    }
}

graph! {
    struct OnGreen(seen: Seen<bool>, sizes: Seen<Option<u32>>) {
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[16]);
        const STREAMS: CudaStreamPool = CudaStreamPool::new().on(GREEN.context(0)).max_size(5);
        #[streams(STREAMS)] #[when(count(5))]
        let tx: Tx = Tx::new(0.0, true, SLOW);
        #[streams(STREAMS)] #[when(count(5))]
        let other: Tx = Tx::new(0.0, true, 0);
        #[streams(STREAMS)]
        let rx: ExternalRx = ExternalRx::new(seen);
        #[streams(STREAMS)]
        let size: Where = Where::new(sizes);
        tx.image >> rx.image;
        other.image >> size.image;
    }
}

/// Checks the stream of a node on a partition of 16 multiprocessors.
fn on_a_partition(platform: &Platform) -> Result<bool> {
    let (seen, sizes) = (Seen::default(), Seen::default());
    OnGreen::new(platform, seen.clone(), sizes.clone())?.run()?;
    Ok(all(&seen) == [true; 5] && all(&sizes) == [Some(16); 5])
}

/// An operator that works on the default stream, with data of a non-blocking stream.
#[operator]
struct DefaultRx {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for DefaultRx {
    fn compute(&mut self, io: DefaultRxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, holds(cx, image, &cx.default_stream()?, cx.tick() as f32)?);
        Ok(())
    }
}

graph! {
    struct OnDefault(seen: Seen<bool>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().flags(StreamFlags::NonBlocking);
        #[streams(STREAMS)] #[when(count(4))]
        let tx: Tx = Tx::new(0.0, true, SLOW);
        #[streams(STREAMS)]
        let rx: DefaultRx = DefaultRx::new(seen);
        tx.image >> rx.image;
    }
}

fn on_default(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    OnDefault::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 4])
}

/// An operator that gives a stream of its own the name that Holoscan reserves for the internal stream.
#[operator]
struct Internal {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for Internal {
    fn compute(&mut self, io: InternalIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let own = cx.allocate_cuda_stream_named("_internal")?;
        let apart = own.raw() != stream.raw();
        push_seen(&self.seen, apart && holds(cx, image, &own, cx.tick() as f32)?);
        Ok(())
    }
}

graph! {
    struct NamedInternal(seen: Seen<bool>) {
        #[when(count(3))] let tx: Tx = Tx::new(0.0, true, SLOW);
        let rx: Internal = Internal::new(seen);
        tx.image >> rx.image;
    }
}

/// Checks that no name of a stream is reserved.
fn named_internal(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    NamedInternal::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == [true; 3])
}
