//! A launch that was held back fails when it is sent, after its hook has succeeded. Nobody reads the memory that the
//! launch was to write.

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;
use streamflow_tests::kernels::mixing::{element, fold, make, map};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, Suite, check, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .seeded("another_thread_meets_the_failure_of_a_held_back_launch", by_a_thread)
        .seeded("a_hook_ignores_the_failure_of_a_held_back_launch", ignored)
        .seeded("a_hook_fails_after_a_held_back_launch_has_failed", by_itself)
        .seeded("a_download_behind_a_held_back_launch_that_failed_stays_an_error", kept)
}

const LEN: usize = 16;
const TICKS: u64 = 48;
/// The tick whose launch fails. By then each rotation is replayed.
const AT: u64 = 40;

/// What the middle operator does in the tick whose first launch fails.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// The operator lets another thread request the time of a point, which makes the driver send the calls that it holds
    /// back. An allocation would send them only while the memory's latest record is held back.
    Thread,
    /// The operator requests the time itself, and ignores the error.
    Ignore,
    /// The operator requests the time, ignores the error, and then fails by itself.
    Fail,
    /// The operator requests the time, and returns the error.
    Return,
}

/// The downloads of the last ticks, with the ticks' numbers.
type Kept = Arc<Mutex<Vec<(u64, Download<u32>)>>>;

#[operator(streams(work))]
struct First {
    #[output]
    image: Tensor<u32>,
    failing: Arc<FailNth>,
}

impl Compute for First {
    fn compute(&mut self, io: FirstIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        if cx.tick() == AT {
            self.failing.fail_next();
        }
        stream.launch::<make>(LEN, (&mut image, cx.tick() as u32, 0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

#[operator]
struct Middle {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    how: How,
    ask: SyncSender<()>,
    answer: Receiver<bool>,
    kept: Kept,
}

impl Compute for Middle {
    fn compute(&mut self, io: MiddleIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        if self.how == How::Return {
            let download = cx.download(image, &stream)?;
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push((cx.tick(), download));
            if kept.len() > 2 {
                drop(kept.remove(0));
            }
        }
        if cx.tick() == AT {
            // No trace has an allocation of the driver, nor a copy that blocks.
            let sent = || -> Result<()> {
                stream.download_blocking::<u32>(&cx.tensor([4], &stream)?)?;
                Ok(())
            };
            match self.how {
                How::Thread => {
                    self.ask.send(())?;
                    check(!self.answer.recv()?, || "the thread's call succeeded".into())?;
                }
                How::Return => sent()?,
                How::Ignore => check(sent().is_err(), || "the call succeeded".into())?,
                How::Fail => {
                    check(sent().is_err(), || "the call succeeded".into())?;
                    return Err(Failed::msg("the hook fails by itself"));
                }
            }
        }
        stream.launch::<map>(LEN, (&mut out, image, 7, 0))?;
        io.out.emit(out)
    }
}

/// Fails if it gets wrong data.
#[operator]
struct Judge {
    #[input]
    image: &Tensor<u32>,
}

impl Compute for Judge {
    fn compute(&mut self, io: JudgeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let got = cx.download(image, &stream)?.wait_blocking()?.to_vec();
        let hash = fold(7, &image_of(cx.tick()));
        let is_right = got.iter().enumerate().all(|(i, number)| *number == element(hash, i));
        check(is_right, || format!("WRONG DATA in tick {}", cx.tick()))
    }
}

fn image_of(tick: u64) -> Vec<u32> {
    (0..LEN).map(|i| element(tick as u32, i)).collect()
}

graph! {
    #[replay]
    struct Line(failing: Arc<FailNth>, how: How, ask: SyncSender<()>, answer: Receiver<bool>, kept: Kept) {
        #[when(count(TICKS))] let first: First = First::new(failing);
        let middle: Middle = Middle::new(how, ask, answer, kept);
        let judge: Judge = Judge::new();
        first.image >> middle.image;
        middle.out >> judge.image;
    }
}

/// Runs the graph. Returns the platform, and the error of the run.
fn run(seed: u64, how: How, kept: &Kept) -> Result<(Platform, String), Failed> {
    let host: Arc<dyn Driver> = Arc::new(HostDriver::builder().seed(seed).build());
    let failing = Arc::new(FailNth::new(host, CallKind::Launch, u64::MAX));
    let platform = Platform::builder().driver(Arc::new(Replaying::over(failing.clone())))?;
    let (ask, asked) = sync_channel(1);
    let (tell, answer) = channel();
    let stream = platform.stream_pool("OTHER", &CudaStreamPool::new())?.allocate("other")?;
    let (begin, end) = (stream.record_timing()?, stream.record_timing()?);
    stream.synchronize_blocking()?;
    let done = thread::scope(|scope| {
        scope.spawn(move || -> Result<(), Failed> {
            while asked.recv().is_ok() {
                tell.send(begin.elapsed_blocking(&end).is_ok())?;
            }
            Ok(())
        });
        let graph = Line::new(&platform, failing.clone(), how, ask, answer, kept.clone());
        graph.and_then(|mut graph| graph.run())
    });
    check(failing.has_failed(), || "no launch has failed".into())?;
    match done {
        Ok(_) => Err(Failed::msg("the run has no error")),
        Err(error) => Ok((platform, error.to_string())),
    }
}

/// The error names the launch and its operator, and no data was wrong.
fn check_error(text: &str) -> Result<(), Failed> {
    check_text(text, &["INJECTED", "kernel `make`", "operator `first`", "replay had held back"])?;
    check(!text.contains("WRONG"), || text.to_owned())
}

fn by_a_thread(seed: u64) -> Result<(), Failed> {
    check_error(&run(seed, How::Thread, &Kept::default())?.1)
}

fn ignored(seed: u64) -> Result<(), Failed> {
    check_error(&run(seed, How::Ignore, &Kept::default())?.1)
}

fn by_itself(seed: u64) -> Result<(), Failed> {
    let (_, text) = run(seed, How::Fail, &Kept::default())?;
    check_text(&text, &["the hook fails by itself"])?;
    check_error(&text)
}

/// Also when the run is over, and other graphs have run.
fn kept(seed: u64) -> Result<(), Failed> {
    let kept = Kept::default();
    let (platform, text) = run(seed, How::Return, &kept)?;
    check_error(&text)?;
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let found = kept.pop().filter(|(tick, _)| *tick == AT);
    let Some((_, download)) = found else { return Err(Failed::msg("there is no download")) };
    for _ in 0..2 {
        check(download.wait_blocking().is_err(), || "the download is taken for complete".into())?;
        let stream = platform.stream_pool("LATER", &CudaStreamPool::new())?.allocate("later");
        check(stream.and_then(|it| platform.tensor::<u32>([4], &it)).is_err(), || {
            "memory is allocated".into()
        })?;
    }
    Ok(())
}
