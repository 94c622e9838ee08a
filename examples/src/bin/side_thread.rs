//! A thread beside the graph: the sink gives each download to a thread. The thread waits for the download and uses it
//! while the graph goes on. The channel has room for a few downloads, so a slow thread slows the graph down and memory
//! stays bounded.
//!
//! `cargo run -p streamflow-examples --bin side_thread` prints the mean of each frame, and ends with code 1 if one is
//! wrong.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::temporal::{Camera, reference};

/// Gives downloads to a thread beside the graph.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
}

const SHAPE: [usize; 2] = [48, 64];
const FRAMES: u64 = 20;

/// A download, possibly not complete yet, with the number of the tick that began it. Only the other thread waits for the
/// download.
type Work = (u64, Download<f32>);

/// Begins a download and sends it to the other thread.
#[operator]
struct HandOver {
    #[input]
    frame: &Tensor<f32>,
    work: SyncSender<Work>,
}

impl Compute for HandOver {
    fn compute(&mut self, io: HandOverIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (frame, stream) = io.frame.receive().receive_cuda_stream(cx)?;
        let download = cx.download(frame, &stream)?;
        let sent = self.work.send((cx.tick(), download));
        sent.map_err(|_| Failure::msg("the thread beside the graph has ended"))
    }
}

/// The work of the other thread: waits for each download, and checks its mean.
fn work(downloads: Receiver<Work>) -> Result<u64> {
    let mut done = 0;
    for (tick, download) in downloads {
        let values = download.wait_blocking()?;
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / values.len() as f64;
        let expected = reference(values.len(), tick, 0.0).iter().sum::<f64>() / values.len() as f64;
        if (mean - expected).abs() > 1e-9 {
            return Err(Failure::msg(format!("frame {tick} has mean {mean}, and not {expected}")));
        }
        writeln!(io::stdout(), "frame {tick}: mean {mean:.6}")?;
        done += 1;
    }
    Ok(done)
}

graph! {
    struct Beside(count: u64, work: SyncSender<Work>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(count(count))]
        let camera: Camera = Camera::new(SHAPE[0], SHAPE[1]);
        #[streams(STREAMS)]
        let hand_over: HandOver = HandOver::new(work);

        camera.frame >> hand_over.frame;
        camera.number >> _;
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let (sender, receiver) = sync_channel(4);
    let mut graph = Beside::new(&args.platform.open()?, FRAMES, sender)?;
    let thread = thread::spawn(|| work(receiver));
    let run = graph.run();
    // Drops the graph's sender, so that the thread ends after the downloads sent so far.
    drop(graph);
    // An error of the thread is returned first, since it may be the cause why the graph has failed.
    let done =
        thread.join().map_err(|_| Failure::msg("the thread beside the graph panicked"))??;
    run?;
    if done != FRAMES {
        return Err(Failure::msg(format!("the thread has done {done} of {FRAMES} frames")));
    }
    Ok(())
}
