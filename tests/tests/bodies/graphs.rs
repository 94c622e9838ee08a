//! Graphs with kernels whose Rust bodies misbehave: on one thread, with workers, with replay, and beside another
//! thread.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::testing::{Explorer, scope};
use streamflow_tests::{Failed, check, check_equal};

use super::deeds::{self, DEEDS, misbehave, misbehave_again};

const TICKS: u32 = 24;
const LEN: usize = 64;

/// An operator that fills an image by a kernel whose body misbehaves in another way in each tick.
#[operator(streams(work))]
struct Source {
    #[output]
    image: Tensor<u32>,
    number: u32,
    tick: u32,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        let (tick, number) = (self.tick, self.number);
        self.tick += 1;
        stream.launch::<misbehave>(LEN, (&mut image, tick % DEEDS, number, tick))?;
        if tick % 5 == 0 {
            let mut left = cx.tensor::<u32>([LEN], &stream)?;
            stream.launch::<misbehave>(LEN, (&mut left, 0, number, 9))?;
            let download = stream.download(&left)?;
            deeds::leave((left, download));
        }
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// An operator that adds 1 by a kernel whose body misbehaves.
#[operator]
struct Step {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    number: u32,
    tick: u32,
}

impl Compute for Step {
    fn compute(&mut self, io: StepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        let deed = (self.tick * 3 + 1) % DEEDS;
        self.tick += 1;
        stream.launch::<misbehave_again>(LEN, (&mut out, image, deed, self.number))?;
        io.out.emit(out)
    }
}

/// An operator that counts the images that are wrong.
#[operator]
struct Check {
    #[input]
    a: &Tensor<u32>,
    #[input]
    b: &Tensor<u32>,
    wrong: Arc<AtomicU32>,
    tick: u32,
}

impl Compute for Check {
    fn compute(&mut self, io: CheckIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, stream) = io.a.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.b.receive().receive_cuda_stream(cx)?;
        let right = [self.tick + 1; LEN];
        let is_right =
            stream.download_blocking(a)? == right && stream.download_blocking(b)? == right;
        self.wrong.fetch_add(u32::from(!is_right), Ordering::Relaxed);
        self.tick += 1;
        Ok(())
    }
}

graph! {
    struct Misbehaving(number: u32, wrong: Arc<AtomicU32>) {
        #[when(count(u64::from(TICKS)))] let source: Source = Source::new(number, 0);
        let a: Step = Step::new(number, 0);
        let b: Step = Step::new(number, 2);
        let check: Check = Check::new(wrong, 0);
        source.image >> (a.image, b.image);
        a.out >> check.a;
        b.out >> check.b;
    }
}

graph! {
    #[replay]
    struct Replayed(number: u32, wrong: Arc<AtomicU32>) {
        #[when(count(u64::from(TICKS)))] let source: Source = Source::new(number, 0);
        let a: Step = Step::new(number, 0);
        let b: Step = Step::new(number, 2);
        let check: Check = Check::new(wrong, 0);
        source.image >> (a.image, b.image);
        a.out >> check.a;
        b.out >> check.b;
    }
}

/// The number of the next platform. A kernel's body finds its platform by this number.
static NUMBERS: AtomicU32 = AtomicU32::new(1);

/// Runs a graph that counts wrong data. Checks that each call of the platform which a body makes is refused with
/// an error that names the call.
fn runs(
    platform: &Platform,
    run: impl FnOnce(u32, Arc<AtomicU32>) -> Result<()>,
) -> Result<(), Failed> {
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let wrong = Arc::new(AtomicU32::new(0));
    deeds::may_call(number, platform);
    let done = run(number, wrong.clone());
    let answers = deeds::may_call_no_more(number);
    deeds::clear();
    done?;
    check_equal(wrong.load(Ordering::Relaxed), 0)?;
    check(!answers.is_empty(), || "no body has called its platform".into())?;
    let refused = |it: &String| it.contains("called from inside of kernel `misbehave");
    check(answers.iter().all(refused), || format!("{answers:?}"))
}

fn each_seed(run: impl Fn(&Platform, u32, Arc<AtomicU32>) -> Result<()>) -> Result<(), Failed> {
    for seed in 0..64 {
        let platform = Platform::host().seed(seed).race_check(seed % 3 == 0).build()?;
        runs(&platform, |number, wrong| run(&platform, number, wrong))
            .map_err(|failed| Failed::msg(format!("seed {seed}: {failed}")))?;
        let races = platform.take_races();
        check(races.is_empty(), || format!("seed {seed}: {races}"))?;
    }
    Ok(())
}

pub(crate) fn on_one_thread() -> Result<(), Failed> {
    each_seed(|platform, number, wrong| {
        Misbehaving::new(platform, number, wrong)?.run()?;
        Ok(())
    })
}

pub(crate) fn with_workers() -> Result<(), Failed> {
    each_seed(|platform, number, wrong| {
        let mut graph = Misbehaving::new(platform, number, wrong)?;
        graph.workers(2)?;
        graph.run()?;
        Ok(())
    })
}

pub(crate) fn replayed() -> Result<(), Failed> {
    each_seed(|platform, number, wrong| {
        Replayed::new(platform, number, wrong)?.run()?;
        Ok(())
    })
}

/// Checks a graph beside a thread that launches misbehaving bodies while it holds a lock that the bodies take,
/// too.
pub(crate) fn with_threads() -> Result<(), Failed> {
    let found = Explorer::new().seeds(64).run(|platform| {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let wrong = Arc::new(AtomicU32::new(0));
        let pool = platform.stream_pool("BESIDE", &CudaStreamPool::new())?;
        let stream = pool.allocate("beside")?;
        let done = scope(|scope| -> Result<()> {
            let beside = scope.spawn(move || -> Result<()> {
                for tick in 0..TICKS {
                    let mut data = platform.buffer::<u32>(LEN, &stream)?;
                    stream.launch::<misbehave>(LEN, (&mut data, tick % DEEDS, number, tick))?;
                    if stream.download_blocking(&data)? != [tick; LEN] {
                        return Err(Failure::msg("the data is wrong"));
                    }
                }
                Ok(())
            });
            let ran = Misbehaving::new(platform, number, wrong.clone())?.run().map(drop);
            let beside = beside.join().map_err(|_| Failure::msg("the thread panicked"))?;
            beside.and(ran.map_err(Failure::from))
        });
        deeds::clear();
        done?;
        if wrong.load(Ordering::Relaxed) > 0 {
            return Err(Failure::msg("the graph's data is wrong"));
        }
        Ok(())
    })?;
    check(found.failing.is_none(), || found.to_string())
}

/// How many bodies of `meets` have met.
static MET: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

/// Blocks until another thread runs this kernel, too. Writes whether that has happened.
#[kernel(unsafe cuda = "if (out_len > 0) out[0] = 1;")]
fn meets(out: &mut [u32]) {
    let mut met = MET.lock().unwrap_or_else(PoisonError::into_inner);
    *met += 1;
    CHANGED.notify_all();
    let waited = CHANGED.wait_timeout_while(met, Duration::from_secs(60), |met| *met < 2);
    out.fill(u32::from(waited.is_ok_and(|(_, timeout)| !timeout.timed_out())));
}

/// An operator that launches a kernel whose body blocks until the body of another operator runs.
#[operator(streams(work))]
struct Meeting {
    #[output]
    out: Tensor<u32>,
}

impl Compute for Meeting {
    fn compute(&mut self, io: MeetingIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut out = cx.tensor([1], &stream)?;
        stream.launch::<meets>(1, (&mut out,))?;
        if stream.download_blocking(&out)? != [1] {
            return Err(Failure::msg("the bodies ran one after the other"));
        }
        io.out.set_cuda_stream(&stream).emit(out)
    }
}

graph! {
    struct Two {
        #[when(count(1))] let a: Meeting = Meeting::new();
        #[when(count(1))] let b: Meeting = Meeting::new();
        a.out >> _;
        b.out >> _;
    }
}

pub(crate) fn at_once() -> Result<(), Failed> {
    let mut graph = Two::new(&Platform::host().build()?)?;
    graph.workers(2)?;
    graph.run()?;
    Ok(())
}
