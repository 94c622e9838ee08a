//! N6, N10: `exception_handling.cpp` and `test_memory_available_condition.py`: a failing hook, and missing memory.

use streamflow::memory::{Allocator, MemoryLimits};
use streamflow::prelude::*;
use streamflow_tests::Suite;
use streamflow_tests::kernels::{slow_copy, slow_fill};

use super::gxf::Rx;
use super::operators::{LEN, SLOW, Seen, Tx, all, floats, push_seen};

pub(crate) fn tests(suite: Suite) -> Suite {
    suite
        .ordered("n6_exception_handling", n6_exception_handling)
        .ordered("n10_memory_available", n10_memory_available)
}

/// Fails in one hook while a copy of its received data is queued.
#[operator]
struct Throws {
    #[input]
    image: Tensor<f32>,
    hook: &'static str,
    copies: Seen<Download<f32>>,
}

impl Throws {
    fn strike(&self, hook: &str) -> Result<()> {
        if self.hook == hook { Err(Failure::msg("out of paper")) } else { Ok(()) }
    }
}

impl Compute for Throws {
    fn start(&mut self, _: ThrowsStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.strike("start")
    }

    fn compute(&mut self, io: ThrowsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut copy = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut copy, &image, SLOW / 4))?;
        push_seen(&self.copies, cx.download(&copy, &stream)?);
        if cx.tick() == 2 { self.strike("compute") } else { Ok(()) }
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.strike("stop")
    }
}

graph! {
    struct Throwing(hook: &'static str, copies: Seen<Download<f32>>) {
        #[when(count(5))] let tx: Tx = Tx::new(0.0, true, SLOW / 8);
        let rx: Throws = Throws::new(hook, copies);
        tx.image >> rx.image;
    }
}

/// A failing hook ends the run with an error that names operator and hook. Queued work still completes, and its memory
/// is recycled in order: all runs are on one platform.
fn n6_exception_handling(platform: &Platform) -> Result<bool> {
    let mut right = true;
    for (hook, ticks) in [("start", 0), ("compute", 3), ("stop", 5), ("none", 5)] {
        let copies = Seen::default();
        let run = Throwing::new(platform, hook, copies.clone())?.run();
        right &= match run {
            Ok(_) => hook == "none",
            Err(error) => {
                let (text, named) = (error.to_string(), format!("`{hook}`"));
                ["`rx`", &named, "out of paper"].iter().all(|part| text.contains(part))
            }
        };
        let Ok(copies) = copies.lock() else { return Ok(false) };
        right &= copies.len() == ticks;
        for (tick, copy) in copies.iter().enumerate() {
            right &= copy.wait_blocking()?.iter().all(|&x| x == tick as f32);
        }
    }
    Ok(right)
}

/// Needs two blocks at once.
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
    struct Blocks(blocks: Allocator, seen: Seen<f32>) {
        #[when(count(5))] let tx: TwoBlocks = TwoBlocks::new(blocks);
        let rx: Rx = Rx::new(seen);
        tx.image >> rx.image;
    }
}

/// No condition waits for free blocks. With enough blocks the ticks run. With too few, Holoscan stops by deadlock
/// without a tick; here the error gives the number of blocks needed.
fn n10_memory_available(platform: &Platform) -> Result<bool> {
    let (seen, none) = (Seen::default(), Seen::default());
    let blocks = |count| {
        platform.allocator("BLOCKS", device(0), MemoryLimits::blocks(4 * LEN as u64, count))
    };
    Blocks::new(platform, blocks(3)?, seen.clone())?.run()?;
    let run = Blocks::new(platform, blocks(1)?, none.clone())?.run();
    let is_right = run.is_err_and(|error| {
        let text = error.to_string();
        ["`tx`", "`BLOCKS`", "all 1", "at least 2"].iter().all(|part| text.contains(part))
    });
    Ok(is_right && all(&none).is_empty() && all(&seen) == floats(0..5))
}
