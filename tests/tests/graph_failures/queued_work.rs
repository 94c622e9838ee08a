//! Hooks that fail while their work is queued.

use streamflow::prelude::*;
use streamflow_tests::Suite;
use streamflow_tests::kernels::slow_copy;
use streamflow_tests::seen::{Seen, push_seen};
use streamflow_tests::tensors::{LEN, SLOW, Tx};

pub(super) fn add(suite: Suite) -> Suite {
    suite.ordered("work_that_was_queued_before_a_failure_completes", completes)
}

/// An operator that fails in one hook while a copy of its received data is queued.
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

/// Checks that a failing hook ends the run with an error that names the operator and the hook. The queued work
/// still completes, and its memory is recycled in order, since all runs are on one platform.
fn completes(platform: &Platform) -> Result<bool> {
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
