//! Graphs of tensors behind slow kernels: outputs without readers, several readers, memory in use again, and several runs.

use streamflow::prelude::*;
use streamflow_tests::Suite;
use streamflow_tests::kernels::slow_copy;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{LEN, Rx, SLOW, Tx, floats};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .ordered("memory_that_nobody_reads_is_recycled_after_its_write", dangling)
        .ordered("five_readers_of_a_tensor_have_right_data", fan_out)
        .ordered("memory_is_recycled_after_a_sinks_slow_read", used_again)
        .ordered("a_graph_runs_again_and_on_a_thread_of_its_own", again)
}

graph! {
    struct Dangling(seen: Seen<f32>) {
        #[when(count(5))] let dangling: Tx = Tx::new(500.0, true, SLOW / 4);
        #[when(count(5))] let tx: Tx = Tx::new(0.0, true, SLOW / 4);
        let rx: Rx = Rx::new(seen);
        dangling.image >> _;
        tx.image >> rx.image;
    }
}

fn dangling(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    Dangling::new(platform, seen.clone())?.run()?;
    Ok(all(&seen) == floats(0..5))
}

graph! {
    struct FanOut(seen: Vec<Seen<f32>>) {
        #[when(count(5))] let tx: Tx = Tx::new(0.0, true, SLOW / 2);
        let rx1: Rx = Rx::new(seen[0].clone());
        let rx2: Rx = Rx::new(seen[1].clone());
        let rx3: Rx = Rx::new(seen[2].clone());
        let rx4: Rx = Rx::new(seen[3].clone());
        let rx5: Rx = Rx::new(seen[4].clone());
        tx.image >> (rx1.image, rx2.image, rx3.image, rx4.image, rx5.image);
    }
}

/// Checks a tensor with five readers, each on a stream of its own. The tensor's memory is recycled after the last
/// read.
fn fan_out(platform: &Platform) -> Result<bool> {
    let seen: Vec<Seen<f32>> = (0..5).map(|_| Seen::default()).collect();
    FanOut::new(platform, seen.clone())?.run()?;
    Ok(seen.iter().all(|seen| all(seen) == floats(0..5)))
}

graph! {
    struct Again(seen: Seen<f32>) {
        #[when(count(5))] let tx: Tx = Tx::new(0.0, true, SLOW / 4);
        let rx: Rx = Rx::new(seen);
        tx.image >> rx.image;
    }
}

/// Checks that a graph runs a second time, and twice more on a thread of its own.
fn again(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    let mut graph = Again::new(platform, seen.clone())?;
    graph.run()?;
    graph.run()?;
    for _ in 0..2 {
        let (back, done) = graph.spawn()?.join_with_graph()?;
        graph = back;
        done?;
    }
    Ok(all(&seen) == floats(0..5).repeat(4))
}

/// A sink that reads slowly, and returns while its kernel runs.
#[operator]
struct SlowSink {
    #[input]
    image: &Tensor<f32>,
    copies: Seen<(f32, Download<f32>)>,
}

impl Compute for SlowSink {
    fn compute(&mut self, io: SlowSinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut copy = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut copy, image, SLOW / 2))?;
        push_seen(&self.copies, (cx.tick() as f32, cx.download(&copy, &stream)?));
        Ok(())
    }
}

graph! {
    struct UsedAgain(copies: Seen<(f32, Download<f32>)>) {
        #[when(count(6))] let tx: Tx = Tx::new(0.0, true, 0);
        let rx: SlowSink = SlowSink::new(copies);
        tx.image >> rx.image;
    }
}

/// Checks that a producer which gets a block that a sink's kernel still reads waits for the kernel.
fn used_again(platform: &Platform) -> Result<bool> {
    let copies = Seen::default();
    UsedAgain::new(platform, copies.clone())?.run()?;
    let Ok(copies) = copies.lock() else { return Ok(false) };
    let mut right = copies.len() == 6;
    for (value, copy) in copies.iter() {
        right &= copy.wait_blocking()?.iter().all(|x| x == value);
    }
    Ok(right)
}
