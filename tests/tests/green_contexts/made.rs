//! How partitions are made and named. Each partition has the requested size, and data passes through streams on
//! all partitions and on the rest of the device.

use streamflow::prelude::*;
use streamflow::stream::{CudaGreenContext, CudaGreenContextPool};
use streamflow_driver::driver::GreenContext;
use streamflow_tests::Suite;
use streamflow_tests::kernels::{slow_copy, slow_fill};

use super::{LEN, SLOW};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("each_division_has_its_sizes_and_passes_data", divisions)
        .ordered("a_context_is_found_by_its_index_and_as_the_default", contexts)
        .ordered("a_stream_needs_neither_its_description_nor_others", lifetime)
        .ordered("two_partitions_are_in_use_at_once", at_once)
}

const EMPTY: CudaGreenContextPool = CudaGreenContextPool::new();
const FOUR: CudaGreenContextPool = EMPTY.sms_per_partition(&[8; 4]);
const TWO: CudaGreenContextPool = EMPTY.sms_per_partition(&[8, 8]);
const THREE: CudaGreenContextPool = EMPTY.sms_per_partition(&[8, 8, 16]);
const ONE: CudaGreenContextPool = EMPTY.sms_per_partition(&[8]);
const UNEQUAL: CudaGreenContextPool = EMPTY.sms_per_partition(&[8, 16]);

/// Returns a stream on a green context.
fn stream_on(platform: &Platform, context: CudaGreenContext) -> Result<CudaStream> {
    Ok(platform.stream_pool("GREEN", &CudaStreamPool::new().on(context))?.allocate("green")?)
}

/// Returns a stream on the whole device.
fn primary(platform: &Platform) -> Result<CudaStream> {
    Ok(platform.stream_pool("PRIMARY", &CudaStreamPool::new())?.allocate("primary")?)
}

/// Returns the number of multiprocessors that a stream on a green context has.
fn size(stream: &CudaStream) -> Option<u32> {
    stream.green_context().map(GreenContext::multiprocessors)
}

/// Returns whether data that is written slowly on the first stream arrives at the last. Each stream copies the
/// data that the stream before has written.
fn handed_on(platform: &Platform, streams: &[&CudaStream]) -> Result<bool> {
    let mut buffers: Vec<Buffer<f32>> = Vec::new();
    for stream in streams {
        let mut buffer = platform.buffer::<f32>(LEN, stream)?;
        stream.launch::<slow_fill>(LEN, (&mut buffer, -1.0, 0))?;
        if let Some(before) = buffers.last() {
            // The kernel is loaded now. Loading may wait for running kernels, and would so hide a missing edge.
            stream.launch::<slow_copy>(LEN, (&mut buffer, before, 0))?;
        }
        stream.synchronize_blocking()?;
        buffers.push(buffer);
    }
    let ([first, .., last], [written, ..]) = (streams, &mut buffers[..]) else { return Ok(false) };
    first.launch::<slow_fill>(LEN, (written, 7.0, SLOW))?;
    for next in 1..streams.len() {
        let (before, after) = buffers.split_at_mut(next);
        streams[next].launch::<slow_copy>(LEN, (&mut after[0], &before[next - 1], 0))?;
    }
    Ok(last.download_blocking(&buffers[streams.len() - 1])?.iter().all(|&x| x == 7.0))
}

/// Returns whether the partitions have the requested sizes, with the rest of the device as leftover, and whether
/// data passes through a stream on each of them, from the rest of the device and back.
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

/// Returns whether a stream on a context has the expected number of multiprocessors, and whether data goes to it
/// and back.
fn is_context(platform: &Platform, context: CudaGreenContext, expected: u32) -> Result<bool> {
    let (there, green) = (primary(platform)?, stream_on(platform, context)?);
    let back = primary(platform)?;
    Ok(size(&green) == Some(expected) && handed_on(platform, &[&there, &green, &back])?)
}

/// Checks that a description without partitions divides nothing, and that a division that is asked for again has
/// the same partitions.
fn divisions(platform: &Platform) -> Result<bool> {
    let whole = platform.green_contexts(&EMPTY)?;
    let all = whole.leftover().map(GreenContext::multiprocessors);
    let total = platform.device_info(device(0))?.multiprocessors;
    let empty = whole.partitions().is_empty() && all == Some(total);
    let (first, again) = (platform.green_contexts(&TWO)?, platform.green_contexts(&TWO)?);
    Ok(empty
        & (first.partitions() == again.partitions())
        & is_divided(platform, ONE, &[8])?
        & is_divided(platform, TWO, &[8, 8])?
        & is_divided(platform, THREE, &[8, 8, 16])?
        & is_divided(platform, FOUR, &[8; 4])?)
}

/// Checks the default context, which is the leftover where a pool sets no other.
fn contexts(platform: &Platform) -> Result<bool> {
    let left = platform.device_info(device(0))?.multiprocessors - 24;
    let default = |index| UNEQUAL.default_context_index(index).default_context();
    let named = [
        (UNEQUAL.context(0), 8),
        (UNEQUAL.context(1), 16),
        (default(0), 8),
        (default(1), 16),
        (UNEQUAL.default_context(), left),
        (UNEQUAL.leftover(), left),
    ];
    named
        .into_iter()
        .try_fold(true, |right, (context, size)| Ok(right & is_context(platform, context, size)?))
}

/// Checks lifetimes: first a stream's description is dropped, and then a stream while its kernel runs. The data
/// is still right.
fn lifetime(platform: &Platform) -> Result<bool> {
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

/// Checks two contexts of one pool in use at once: data goes from one to the other and back.
fn at_once(platform: &Platform) -> Result<bool> {
    let first = stream_on(platform, TWO.context(0))?;
    let second = stream_on(platform, TWO.context(1))?;
    let back = stream_on(platform, TWO.context(0))?;
    let apart = first.green_context() != second.green_context();
    let same = first.green_context() == back.green_context();
    Ok(apart && same && handed_on(platform, &[&first, &second, &back])?)
}
