//! G1–G9: `tests/system/cuda_green_context.cpp`; P3: `python/tests/system/test_stream_handling.py`.
//!
//! Holoscan's tests check that an object exists. Here each partition has the requested size, and data passes through
//! streams on all partitions and on the rest of the device. Sizes are 8 and 16, not 2 and 4: every device of compute
//! capability 7.0 or later supports them.

use streamflow::driver::GreenContext;
use streamflow::prelude::*;
use streamflow::stream::{CudaGreenContext, CudaGreenContextPool};
use streamflow_tests::Suite;

use super::operators::{SLOW, Seen, Tx, all, handed_on, push_seen};
use super::python::ExternalRx;

pub(crate) fn tests(suite: Suite) -> Suite {
    suite
        .ordered("g1_pool_creation", g1_pool_creation)
        .ordered("g2_pool_initialization", g2_pool_initialization)
        .ordered("g3_pool_multiple_partitions", g3_pool_multiple_partitions)
        .ordered("g4_context_creation", g4_context_creation)
        .ordered("g5_context_initialization", g5_context_initialization)
        .ordered("g6_default_context_with_index", g6_default_context_with_index)
        .ordered("g7_default_context", g7_default_context)
        .ordered("g8_resource_lifetime", g8_resource_lifetime)
        .ordered("g9_multiple_contexts_from_same_pool", g9_multiple_contexts_from_same_pool)
        .ordered("p3_external_stream_with_green_context", p3_external_stream_with_green_context)
}

const EMPTY: CudaGreenContextPool = CudaGreenContextPool::new();
const FOUR: CudaGreenContextPool = EMPTY.sms_per_partition(&[8; 4]);
const TWO: CudaGreenContextPool = EMPTY.sms_per_partition(&[8, 8]);
const THREE: CudaGreenContextPool = EMPTY.sms_per_partition(&[8, 8, 16]);
const ONE: CudaGreenContextPool = EMPTY.sms_per_partition(&[8]);
const UNEQUAL: CudaGreenContextPool = EMPTY.sms_per_partition(&[8, 16]);

/// A stream on a green context.
fn stream_on(platform: &Platform, context: CudaGreenContext) -> Result<CudaStream> {
    Ok(platform.stream_pool("GREEN", &CudaStreamPool::new().on(context))?.allocate("green")?)
}

/// A stream on the whole device.
fn primary(platform: &Platform) -> Result<CudaStream> {
    Ok(platform.stream_pool("PRIMARY", &CudaStreamPool::new())?.allocate("primary")?)
}

/// The number of multiprocessors of a stream on a green context.
fn size(stream: &CudaStream) -> Option<u32> {
    stream.green_context().map(GreenContext::multiprocessors)
}

/// Whether the partitions have the requested sizes, with the rest as leftover, and whether data passes through a stream
/// on each, from the rest of the device and back.
fn is_divided(platform: &Platform, pool: CudaGreenContextPool, sizes: &[u32]) -> Result<bool> {
    let total = platform.device_info(device(0))?.multiprocessors;
    let made = platform.green_contexts(&pool)?;
    let found: Vec<u32> = made.partitions().iter().map(|one| one.multiprocessors()).collect();
    let left = made.leftover().map_or(0, GreenContext::multiprocessors);
    let mut streams = vec![primary(platform)?];
    for index in 0..sizes.len() {
        streams.push(stream_on(platform, pool.context(index))?);
    }
    streams.push(primary(platform)?);
    let on: Vec<u32> = streams.iter().filter_map(size).collect();
    let right = handed_on(platform, &streams.iter().collect::<Vec<_>>())?;
    Ok(found == sizes && on == sizes && left == total - sizes.iter().sum::<u32>() && right)
}

/// Whether a stream on a context has the expected number of multiprocessors, and data goes there and back.
fn is_context(platform: &Platform, context: CudaGreenContext, expected: u32) -> Result<bool> {
    let (there, green) = (primary(platform)?, stream_on(platform, context)?);
    let back = primary(platform)?;
    Ok(size(&green) == Some(expected) && handed_on(platform, &[&there, &green, &back])?)
}

/// The default pool, and one with four partitions.
fn g1_pool_creation(platform: &Platform) -> Result<bool> {
    let whole = platform.green_contexts(&EMPTY)?;
    let all = whole.leftover().map(GreenContext::multiprocessors);
    let total = platform.device_info(device(0))?.multiprocessors;
    let empty = whole.partitions().is_empty() && all == Some(total);
    Ok(empty && is_divided(platform, FOUR, &[8; 4])?)
}

/// Initialising a pool divides the device. A second time it gives the same partitions.
fn g2_pool_initialization(platform: &Platform) -> Result<bool> {
    let (first, again) = (platform.green_contexts(&TWO)?, platform.green_contexts(&TWO)?);
    Ok(first.partitions() == again.partitions() && is_divided(platform, TWO, &[8, 8])?)
}

/// Partitions of several sizes.
fn g3_pool_multiple_partitions(platform: &Platform) -> Result<bool> {
    is_divided(platform, THREE, &[8, 8, 16])
}

/// Two contexts by their index. Each stream gives its context.
fn g4_context_creation(platform: &Platform) -> Result<bool> {
    Ok(is_context(platform, UNEQUAL.context(0), 8)? & is_context(platform, UNEQUAL.context(1), 16)?)
}

/// The one context of a pool of one.
fn g5_context_initialization(platform: &Platform) -> Result<bool> {
    is_context(platform, ONE.context(0), 8)
}

/// The default is the context that the pool sets.
fn g6_default_context_with_index(platform: &Platform) -> Result<bool> {
    let pool = UNEQUAL.default_context_index(1);
    Ok(is_context(platform, pool.default_context(), 16)?
        & is_context(platform, UNEQUAL.default_context_index(0).default_context(), 8)?)
}

/// Where the pool sets no default, it is the leftover: Holoscan's index -1.
fn g7_default_context(platform: &Platform) -> Result<bool> {
    let left = platform.device_info(device(0))?.multiprocessors - 24;
    Ok(is_context(platform, UNEQUAL.default_context(), left)?
        & is_context(platform, UNEQUAL.leftover(), left)?)
}

/// A stream's description is dropped first; then a stream is dropped while its kernel runs, and its data is still
/// right.
fn g8_resource_lifetime(platform: &Platform) -> Result<bool> {
    let (there, back) = (primary(platform)?, primary(platform)?);
    let green = {
        let description = CudaStreamPool::new().on(TWO.context(0));
        platform.stream_pool("GONE", &description)?.allocate("green")?
    };
    let right = handed_on(platform, &[&there, &green, &back])?;
    drop(green);
    let again = stream_on(platform, TWO.context(0))?;
    let divided = platform.green_contexts(&TWO)?.partitions().len();
    Ok(right && divided == 2 && handed_on(platform, &[&again, &back])?)
}

/// Two contexts of one pool are in use at once: data goes from one to the other and back.
fn g9_multiple_contexts_from_same_pool(platform: &Platform) -> Result<bool> {
    let first = stream_on(platform, TWO.context(0))?;
    let second = stream_on(platform, TWO.context(1))?;
    let back = stream_on(platform, TWO.context(0))?;
    let apart = first.green_context() != second.green_context();
    let same = first.green_context() == back.green_context();
    Ok(apart && same && handed_on(platform, &[&first, &second, &back])?)
}

/// Notes the number of multiprocessors of its stream.
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

/// P2 on a partition of 16 multiprocessors: another library's work on the received stream comes after the producer's
/// work.
fn p3_external_stream_with_green_context(platform: &Platform) -> Result<bool> {
    let (seen, sizes) = (Seen::default(), Seen::default());
    OnGreen::new(platform, seen.clone(), sizes.clone())?.run()?;
    Ok(all(&seen) == [true; 5] && all(&sizes) == [Some(16); 5])
}
