//! A stand-in for a camera: a thread of a camera's library calls back with each frame, and passes the frame to a graph. The
//! callback writes the frame to page-locked memory and permits one tick of the graph's source. If no memory is free for a frame,
//! the frame is dropped, as by real cameras.
//!
//! `cargo run -p streamflow-examples --features all --bin camera` says how many frames arrived, and ends with
//! code 1 if one is wrong.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use clap::Parser;
use streamflow::memory::Pinned;
use streamflow::operator::AsyncHandle;
use streamflow::prelude::*;
use streamflow::time::Timestamp;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::progress;
use streamflow_examples::temporal::pattern_on_host;

/// Takes frames from the thread of a camera.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of frames that the camera makes
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,

    /// Frames per second
    #[arg(long, value_name = "F", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
}

const LEN: usize = 64 * 48;

/// How many frames may be on their way at once.
const BUFFERS: usize = 4;

/// A frame that the callback has written and the source has not yet taken.
struct Frame {
    number: u32,
    acquired: Timestamp,
    pixels: Pinned<f32>,
}

/// The source's ends of the two channels between the camera's thread and the source.
struct Buffers {
    full: Receiver<Frame>,
    empty: Sender<Pinned<f32>>,
}

/// Uploads the next frame. The callback's notices permit one tick for each frame.
#[operator(streams(upload))]
struct Camera {
    #[output]
    frame: Tensor<f32>,
    buffers: Buffers,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // There is one notice for each full frame, so a frame is in the channel.
        let Frame { number, acquired, pixels } = self.buffers.full.recv()?;
        let stream = cx.allocate_cuda_stream(io.upload)?;
        let mut frame = cx.tensor([pixels.len()], &stream)?;
        stream.upload(&pixels, &mut frame)?;
        // The copy may still read the memory; the camera's next write waits for the copy. If the camera has ended, the send fails
        // and the memory is freed.
        let _ = self.buffers.empty.send(pixels);
        let output = io.frame.set_cuda_stream(&stream);
        output.acquired(acquired).sequence(number.into()).emit(frame)
    }
}

/// Compares each frame, one tick later, with the data that the camera has written.
#[operator]
struct Check {
    #[input]
    frame: &Tensor<f32>,
    before: Option<(u64, Download<f32>)>,
    arrived: u64,
}

impl Check {
    fn check(&mut self) -> Result<()> {
        let Some((number, download)) = self.before.take() else { return Ok(()) };
        let mut expected = vec![0.0; LEN];
        pattern_on_host(&mut expected, number as u32);
        if download.wait_blocking()? != expected {
            return Err(Failure::msg(format!("frame {number} has wrong pixels")));
        }
        self.arrived += 1;
        Ok(())
    }
}

impl Compute for Check {
    fn compute(&mut self, io: CheckIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.check()?;
        let frame = io.frame.receive();
        let number = frame.metadata().and_then(|metadata| metadata.sequence()).unwrap_or_default();
        let (frame, stream) = frame.receive_cuda_stream(cx)?;
        self.before = Some((number, cx.download(frame, &stream)?));
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.check()
    }
}

graph! {
    struct Recording(buffers: Buffers, notices: AsyncHandle) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(asynchronous(notices))]
        let camera: Camera = Camera::new(buffers);
        #[streams(STREAMS)]
        let check: Check = Check::new(None, 0);

        camera.frame >> check.frame;
    }
}

/// Stands for a camera's library: starts a thread that calls back for each frame, at a steady rate.
fn start(
    args: &Args,
    mut callback: impl FnMut(u32) -> Result<()> + Send + 'static,
) -> thread::JoinHandle<Result<()>> {
    let (count, interval) = (args.count, Duration::from_secs(1) / args.rate);
    thread::spawn(move || {
        (0..count).try_for_each(|number| {
            thread::sleep(interval);
            callback(number)
        })
    })
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let platform = args.platform.open()?;
    let (to_graph, full) = channel();
    let (empty, free) = channel();
    for _ in 0..BUFFERS {
        empty.send(platform.pinned(device(0), LEN)?)?;
    }
    let notices = AsyncHandle::new();
    let mut graph = Recording::new(&platform, Buffers { full, empty }, notices.clone())?;

    let bar = progress::bar(args.count.into());
    // The clock of the platform may be simulated. The graph's conditions and the times of its messages use the same clock.
    let clock = platform.clock().clone();
    let camera = start(args, move |number| {
        bar.inc(1);
        // If no memory is free, the frame is dropped.
        let Ok(mut pixels) = free.try_recv() else { return Ok(()) };
        pattern_on_host(pixels.as_mut_slice_blocking()?, number);
        // The frame is sent before the notice, so that the tick finds it.
        to_graph.send(Frame { number, acquired: clock.now(), pixels })?;
        Ok(notices.notify()?)
        // At the end of the thread the callback is dropped, and with it the handle for notices, so the run ends.
    });
    let run = graph.run();
    let camera = camera.join().map_err(|_| Failure::msg("the camera's thread panicked"))?;
    let (ticks, arrived) = (run?.ticks("camera").unwrap_or_default(), graph.check().arrived);
    camera?;
    writeln!(io::stdout(), "the camera made {} frames, and {arrived} arrived", args.count)?;
    if arrived != ticks || arrived == 0 {
        return Err(Failure::msg(format!("{ticks} frames were taken, and {arrived} arrived")));
    }
    Ok(())
}
