//! Limits of allocators in a graph. Memory is written slowly, read on another stream, freed while it is being
//! read, and recycled in the next tick.

use streamflow::memory::{Allocator, MemoryLimits};
use streamflow::prelude::*;
use streamflow_tests::Suite;
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{Rx, floats};

use super::{BYTES, LEN, SLOW};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("a_block_that_is_recycled_keeps_the_size_of_its_pool", recycled)
        .ordered("memory_of_the_default_stream_is_recycled_in_order", without_streams)
        .ordered("too_few_blocks_are_an_error_with_the_number_needed", too_few)
}

/// The used and the reserved bytes of an allocator: while a tensor exists, and after its drop.
type Amounts = [(u64, u64); 2];

/// An operator that allocates a tensor, writes it, and frees it while another stream reads it. The next tick gets
/// the same memory.
#[operator(streams(internal2, reads))]
struct Allocate {
    #[output]
    copy: Tensor<f32>,
    allocator: Allocator,
    amounts: Seen<Amounts>,
}

impl Compute for Allocate {
    fn compute(&mut self, io: AllocateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let amounts = |of: &Allocator| (of.used(), of.reserved());
        let stream = cx.allocate_cuda_stream(io.internal2)?;
        let reads = cx.allocate_cuda_stream(io.reads)?;
        let mut data = self.allocator.tensor([LEN], &stream)?;
        let between = amounts(&self.allocator);
        stream.launch::<slow_fill>(LEN, (&mut data, cx.tick() as f32, SLOW / 8))?;
        let mut copy = cx.tensor([LEN], &reads)?;
        reads.launch::<slow_copy>(LEN, (&mut copy, &data, SLOW / 8))?;
        drop(data);
        push_seen(&self.amounts, [between, amounts(&self.allocator)]);
        io.copy.set_cuda_stream(&reads).emit(copy)
    }
}

/// An operator that keeps downloads of the copies.
#[operator]
struct Values {
    #[input]
    copy: &Tensor<f32>,
    seen: Seen<Download<f32>>,
}

impl Compute for Values {
    fn compute(&mut self, io: ValuesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (copy, stream) = io.copy.receive().receive_cuda_stream(cx)?;
        // The host does not wait for this download, so the next tick begins while this tick's kernels run.
        push_seen(&self.seen, cx.download(copy, &stream)?);
        Ok(())
    }
}

graph! {
    struct Allocates(allocator: Allocator, amounts: Seen<Amounts>, seen: Seen<Download<f32>>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(10);
        #[streams(STREAMS)] #[when(count(10))]
        let allocate: Allocate = Allocate::new(allocator, amounts);
        #[streams(STREAMS)]
        let values: Values = Values::new(seen);
        allocate.copy >> values.copy;
    }
}

/// Runs ten ticks that allocate from `limits`. Returns whether the sizes were `expected` in each tick, and
/// whether each copy holds its tick's number.
fn allocates(platform: &Platform, limits: MemoryLimits, expected: Amounts) -> Result<bool> {
    let allocator = platform.allocator("ALLOCATOR", device(0), limits)?;
    let (amounts, seen) = (Seen::default(), Seen::default());
    Allocates::new(platform, allocator, amounts.clone(), seen.clone())?.run()?;
    Ok(all(&amounts) == [expected; 10] && are_ticks(&seen)?)
}

/// Returns whether there are ten copies, and each is full of its tick's number.
fn are_ticks(seen: &Seen<Download<f32>>) -> Result<bool> {
    let Ok(copies) = seen.lock() else { return Ok(false) };
    let mut right = copies.len() == 10;
    for (tick, copy) in copies.iter().enumerate() {
        right &= copy.wait_blocking()?.iter().all(|&x| x == tick as f32);
    }
    Ok(right)
}

/// Checks that a single block is enough for ten ticks, and that a pool keeps its initial size if that is larger.
fn recycled(platform: &Platform) -> Result<bool> {
    let limits = MemoryLimits::stream_ordered().max_size(32 << 20);
    let (small, large) = (limits.initial_size(1 << 10), limits.initial_size(16 << 10));
    let small = small.release_threshold(4 << 20);
    let reserved = platform.allocator("SMALL", device(0), small)?.reserved();
    Ok((reserved == 1 << 10)
        & allocates(platform, small, [(BYTES, BYTES), (0, BYTES)])?
        & allocates(platform, large, [(BYTES, 16 << 10), (0, 16 << 10)])?)
}

/// An operator without a stream pool. It has no stream to allocate on, which is an error. Memory on the default
/// stream is still recycled in order.
#[operator]
struct NoPool {
    #[output]
    copy: Tensor<f32>,
    allocator: Allocator,
    refusals: Seen<String>,
}

impl Compute for NoPool {
    fn compute(&mut self, io: NoPoolIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if let Err(error) = cx.allocate_cuda_stream_named("internal2") {
            push_seen(&self.refusals, error.to_string());
        }
        let stream = cx.default_stream()?;
        let mut copy = self.allocator.tensor([LEN], &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut copy, cx.tick() as f32, SLOW / 8))?;
        io.copy.set_cuda_stream(&stream).emit(copy)
    }
}

graph! {
    struct WithoutPool(allocator: Allocator, refusals: Seen<String>, seen: Seen<Download<f32>>) {
        #[streams(none)] #[when(count(10))]
        let no_pool: NoPool = NoPool::new(allocator, refusals);
        let values: Values = Values::new(seen);
        no_pool.copy >> values.copy;
    }
}

fn without_streams(platform: &Platform) -> Result<bool> {
    let allocator = platform.allocator("BLOCKS", device(0), MemoryLimits::blocks(BYTES, 2))?;
    let (refusals, seen) = (Seen::default(), Seen::default());
    WithoutPool::new(platform, allocator, refusals.clone(), seen.clone())?.run()?;
    let refusals = all(&refusals);
    let is_named =
        |text: &String| ["`no_pool`", "`#[streams(none)]`"].iter().all(|x| text.contains(x));
    Ok(refusals.len() == 10 && refusals.iter().all(is_named) && are_ticks(&seen)?)
}

/// An operator that needs two blocks at once.
#[operator(streams(work))]
struct TwoBlocks {
    #[output]
    image: Tensor<f32>,
    blocks: Allocator,
}

impl Compute for TwoBlocks {
    fn compute(&mut self, io: TwoBlocksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut first = self.blocks.tensor([LEN], &stream)?;
        let mut image = self.blocks.tensor([LEN], &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut first, cx.tick() as f32, SLOW / 8))?;
        stream.launch::<slow_copy>(LEN, (&mut image, &first, 0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

graph! {
    struct TwoAtOnce(blocks: Allocator, seen: Seen<f32>) {
        #[when(count(5))] let tx: TwoBlocks = TwoBlocks::new(blocks);
        let rx: Rx = Rx::new(seen);
        tx.image >> rx.image;
    }
}

/// Checks that no condition waits for free blocks: with too few the run fails, and with enough it succeeds.
fn too_few(platform: &Platform) -> Result<bool> {
    let (seen, none) = (Seen::default(), Seen::default());
    let blocks = |count| {
        platform.allocator("BLOCKS", device(0), MemoryLimits::blocks(4 * LEN as u64, count))
    };
    TwoAtOnce::new(platform, blocks(3)?, seen.clone())?.run()?;
    let run = TwoAtOnce::new(platform, blocks(1)?, none.clone())?.run();
    let is_right = run.is_err_and(|error| {
        let text = error.to_string();
        ["`tx`", "`BLOCKS`", "all 1", "at least 2"].iter().all(|part| text.contains(part))
    });
    Ok(is_right && all(&none).is_empty() && all(&seen) == floats(0..5))
}
