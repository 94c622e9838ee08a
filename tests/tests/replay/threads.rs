//! Other threads touch streams, events and memory while a replayed pass holds its calls back.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use streamflow::prelude::*;
use streamflow::testing::{Explorer, scope};
use streamflow_driver::driver::replay::ReplayReport;
use streamflow_tests::forms::Form;
use streamflow_tests::kernels::{add_one, fill};
use streamflow_tests::seen;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::data::{Diamond, few, replayed};
use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_thread_reads_memory_of_a_pass_that_is_held_back", |platform| run(platform, true))
        .both("a_thread_reads_memory_beside_passes", |platform| run(platform, false))
        .plain("runs_begin_and_end_beside_a_thread", explored)
        .except(Form::Replayed, "its subject is a graph that is not replayed", |suite| {
            suite.both("a_graph_of_another_thread_leaves_passes_whole", beside)
        })
}

const TICKS: u64 = 160;
/// The tick by which each rotation of memory and parameters is replayed.
const WARM: u64 = 40;
/// From tick `WARM` on, the thread reads the image of every fifth tick.
const EVERY: u64 = 5;

/// A tick's number, and the tensor that the thread is asked to read.
type Asked = (u64, Shared<Tensor<u32>>);

/// Folds each image. For some images, the hook sends the image to another thread after its launch, and waits for the
/// answer.
#[operator]
struct Give {
    #[input]
    image: Shared<Tensor<u32>>,
    state: Option<Tensor<u32>>,
    to: Sender<Asked>,
    /// Receives the thread's answer, for which the hook waits.
    back: Option<Receiver<u32>>,
    got: Got,
}

impl Compute for Give {
    fn compute(&mut self, io: GiveIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        if self.state.is_none() {
            self.state = Some(cx.upload(&[0; LEN])?);
        }
        let Some(state) = &mut self.state else { return Ok(()) };
        stream.launch::<folded>(LEN, (state, &*image))?;
        if cx.tick() < WARM || !cx.tick().is_multiple_of(EVERY) {
            return Ok(());
        }
        self.to.send((cx.tick(), image.clone()))?;
        if let Some(back) = &self.back {
            check_equal(back.recv()?, image_of(cx.tick()))?;
        }
        Ok(())
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        if let Some(state) = self.state.take() {
            let pool = cx.platform().stream_pool("STOP", &CudaStreamPool::new())?;
            let stream = pool.allocate("the fold")?;
            let fold = cx.platform().download(&state, &stream)?.wait_blocking()?.to_vec();
            seen::push_seen(&self.got, fold);
        }
        Ok(())
    }
}

/// Returns the value of the image that `Source` sends in a tick.
fn image_of(tick: u64) -> u32 {
    let state = (0..=tick).fold(0_u32, |state, _| state.wrapping_mul(3).wrapping_add(1));
    state.wrapping_mul(5).wrapping_add(1)
}

graph! {
    #[replay]
    struct Giving(to: Sender<Asked>, back: Option<Receiver<u32>>, got: Got) {
        #[when(count(TICKS))] let source: Source = Source::new(None);
        let give: Give = Give::new(None, to, back, got);
        source.image >> give.image;
    }
}

/// Reads each image that it is given: its own stream waits for the record of the pass, copies the memory, and is queried.
fn read(platform: &Platform, asked: &Receiver<Asked>, back: &Sender<u32>) -> Result<u64> {
    let pool = platform.stream_pool("SIDE", &CudaStreamPool::new())?;
    let stream = pool.allocate("the thread")?;
    let mut read = 0;
    while let Ok((tick, image)) = asked.recv() {
        let copy = platform.download(&*image, &stream)?;
        drop(image);
        stream.is_complete()?;
        let values = copy.wait_blocking()?;
        check_equal(values, &[image_of(tick); LEN][..])?;
        read += 1;
        // An error is ignored: the hook may not wait for this answer.
        let _is_awaited = back.send(values[0]);
    }
    Ok(read)
}

fn run(platform: &Platform, waits: bool) -> Result<(), Failed> {
    let platform = few(platform)?;
    let (to, asked) = channel();
    let (back, answers) = channel();
    let got = Got::default();
    let mut graph = Giving::new(&platform, to, waits.then_some(answers), got.clone())?;
    let (report, read) = thread::scope(|scope| {
        let side = platform.clone();
        let reader = scope.spawn(move || read(&side, &asked, &back));
        let report = graph.run();
        // The graph owns the sender. With the graph dropped, the reading thread ends.
        drop(graph);
        (report, reader.join())
    });
    let report = report?;
    let read = read.map_err(|_| Failed::msg("the reader panicked"))??;
    check_equal(read, (TICKS - WARM) / EVERY)?;
    let fold =
        (0..TICKS).fold(0_u32, |fold, tick| fold.wrapping_mul(31).wrapping_add(image_of(tick)));
    check_equal(seen::all(&got), vec![vec![fold; LEN]])?;
    let replay = replayed(&report)?;
    check(replay.replayed > WARM, || report.to_string())?;
    check(!waits || interrupted(replay) > 0, || report.to_string())
}

/// The passes that a call of another thread has ended.
fn interrupted(replay: &ReplayReport) -> u64 {
    let text = "another thread used the device meanwhile";
    let found = replay.broken_by.iter().filter(|(reason, _)| reason.what == text);
    found.map(|(_, passes)| passes).sum()
}

/// Folds each image. After its launch, the hook lets another thread run a tick of another graph.
#[operator]
struct Lend {
    #[input]
    image: &Tensor<u32>,
    to: Sender<()>,
    back: Receiver<()>,
    state: Option<Tensor<u32>>,
}

impl Compute for Lend {
    fn compute(&mut self, io: LendIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        if self.state.is_none() {
            self.state = Some(cx.upload(&[0; LEN])?);
        }
        let Some(state) = &mut self.state else { return Ok(()) };
        stream.launch::<folded>(LEN, (state, image))?;
        self.to.send(())?;
        Ok(self.back.recv()?)
    }
}

graph! {
    #[replay]
    struct Lending(to: Sender<()>, back: Receiver<()>) {
        #[when(count(TICKS))] let source: Source = Source::new(None);
        let lend: Lend = Lend::new(to, back, None);
        source.image >> lend.image;
    }
}

graph! {
    struct Beside(got: Got) {
        let source: Source = Source::new(None);
        let fold: Fold = Fold::new(None, got);
        source.image >> fold.image;
    }
}

/// While each pass holds its calls back, another thread runs a whole tick of a graph that is not replayed.
fn beside(platform: &Platform) -> Result<(), Failed> {
    let platform = few(platform)?;
    let (to, asked) = channel();
    let (back, answers) = channel();
    let got = Got::default();
    let mut graph = Lending::new(&platform, to, answers)?;
    let mut other = Beside::new(&platform, got.clone())?;
    // After these ticks, all objects that are made only once exist.
    (0..WARM).try_for_each(|_| other.tick().map(drop))?;
    let (report, ended) = thread::scope(|scope| {
        let runs = scope.spawn(move || -> Result<()> {
            while let Ok(()) = asked.recv() {
                other.tick()?;
                back.send(())?;
            }
            Ok(other.end_run().map(drop)?)
        });
        let report = graph.run();
        // The graph owns the sender. With the graph dropped, the other thread ends.
        drop(graph);
        (report, runs.join())
    });
    let report = report?;
    ended.map_err(|_| Failed::msg("the other graph panicked"))??;
    let fold = (0..WARM + TICKS)
        .fold(0_u32, |fold, tick| fold.wrapping_mul(31).wrapping_add(image_of(tick)));
    check_equal(seen::all(&got), vec![vec![fold; LEN]])?;
    let replay = replayed(&report)?;
    check_equal(interrupted(replay), 0)?;
    check(replay.replayed > TICKS * 3 / 4, || report.to_string())
}

/// How many ticks a run has: enough that most of them are replayed.
const SHORT: u64 = 24;

/// Three runs begin to replay and end. Meanwhile a thread makes streams wait for each other, and frees and allocates
/// memory of the same pools.
fn runs_beside_a_thread(platform: &Platform) -> Result<()> {
    let platform = &few(platform)?;
    let pool = platform.stream_pool("SIDE", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    scope(|scope| {
        let other = scope.spawn(move || {
            (0..SHORT as u8).try_for_each(|time| {
                let value = f32::from(time);
                let len = 4 + usize::from(time);
                let mut data = platform.buffer::<f32>(len, &a)?;
                a.launch::<fill>(len, (&mut data, value))?;
                b.launch::<add_one>(len, (&mut data,))?;
                check_equal(b.download_blocking(&data)?, vec![value + 1.0; len])
            })
        });
        let runs = (0..3).try_for_each(|_| {
            let got = Got::default();
            Diamond::new(platform, SHORT, u64::MAX, got.clone())?.run()?;
            check_equal(seen::all(&got), vec![expected(SHORT, u64::MAX)])
        });
        other.join().map_err(|_| Failure::msg("the thread panicked"))?.and(runs)
    })
}

fn explored() -> Result<(), Failed> {
    Ok(Explorer::new().seeds(12).run(runs_beside_a_thread)?.check()?)
}
