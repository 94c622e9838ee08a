//! A graph of 12 operators for long runs: timers, notices, a queue that drops, feedback, failures and restarts.
//!
//! Each operator counts the messages that it sends and receives, so that a lost message is found; `fuse` compares the
//! two halves of each frame, since they arrive by different paths. All random choices come from a seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use streamflow::operator::AsyncHandle;
use streamflow::prelude::*;
use streamflow::schedule::{Report, Workers};
use streamflow::time::{Clock, Timestamp};

use crate::random::Random;
use crate::{Failed, check, check_equal};

/// The edges of the graph, as indices into [`Counts`].
#[derive(Debug, Clone, Copy)]
enum Way {
    Frame,
    ToLeft,
    ToRight,
    Shown,
    Left,
    Right,
    Fused,
    State,
    Point,
    Batched,
    Pulse,
}

/// Each edge with its name.
const WAYS: [(Way, &str); 11] = [
    (Way::Frame, "camera.frame >> decode.frame"),
    (Way::ToLeft, "decode.image >> left.image"),
    (Way::ToRight, "decode.image >> right.image"),
    (Way::Shown, "decode.image >> display.image"),
    (Way::Left, "left.half >> fuse.left"),
    (Way::Right, "right.half >> fuse.right"),
    (Way::Fused, "fuse.fused >> track.fused"),
    (Way::State, "track.state >> control.state"),
    (Way::Point, "lidar.point >> batch.point"),
    (Way::Batched, "batch.out >> store.point"),
    (Way::Pulse, "pulse.pulse >> store.pulse"),
];

/// The operators that may fail, as indices into [`Counts`].
#[derive(Debug, Clone, Copy)]
enum Fails {
    Camera,
    Decode,
    Left,
    Fuse,
    Control,
    Batch,
}

/// How many messages each operator has sent and received, and how often it has failed.
#[derive(Debug, Default)]
pub struct Counts {
    seed: u64,
    sent: [AtomicU64; WAYS.len()],
    received: [AtomicU64; WAYS.len()],
    attempts: [AtomicU64; 6],
    failures: AtomicU64,
    made: AtomicU64,
    digest: AtomicU64,
}

impl Counts {
    fn sent(&self, way: Way) {
        self.sent[way as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn received(&self, way: Way) {
        self.received[way as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Fails at random, in one of 200 calls.
    fn may_fail(&self, operator: Fails) -> Result<()> {
        let attempt = self.attempts[operator as usize].fetch_add(1, Ordering::Relaxed);
        if mix(self.seed ^ ((operator as u64) << 56) ^ attempt).is_multiple_of(200) {
            self.failures.fetch_add(1, Ordering::Relaxed);
            return Err(Failure::msg("a failure by chance"));
        }
        Ok(())
    }

    /// Adds a value to the run's digest.
    fn digest(&self, value: u64) {
        let digest = self.digest.load(Ordering::Relaxed);
        self.digest.store(mix(digest ^ value), Ordering::Relaxed);
    }
}

/// Sends the numbers 0, 1, 2, … The last tick closes the handle, so that the run ends.
#[operator]
struct Camera {
    #[output]
    frame: u64,
    counts: Arc<Counts>,
    last: u64,
    notices: AsyncHandle,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() + 1 == self.last {
            self.notices.close();
        }
        self.counts.may_fail(Fails::Camera)?;
        self.counts.sent(Way::Frame);
        io.frame.emit(self.counts.made.fetch_add(1, Ordering::Relaxed))
    }
}

#[operator]
struct Lidar {
    #[output]
    point: u64,
    counts: Arc<Counts>,
}

impl Compute for Lidar {
    fn compute(&mut self, io: LidarIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.counts.sent(Way::Point);
        io.point.emit(cx.tick())
    }
}

/// Loses a frame when it fails, since its failure policy is `skip`.
#[operator]
struct Decode {
    #[input]
    frame: u64,
    #[output]
    image: u64,
    counts: Arc<Counts>,
}

impl Compute for Decode {
    fn compute(&mut self, io: DecodeIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = io.frame.receive().into_data();
        self.counts.received(Way::Frame);
        self.counts.may_fail(Fails::Decode)?;
        [Way::ToLeft, Way::ToRight, Way::Shown].into_iter().for_each(|way| self.counts.sent(way));
        io.image.emit(frame)
    }
}

/// Fails before it receives, and is then restarted, so no frame is lost.
#[operator]
struct Left {
    #[input]
    image: &u64,
    #[output]
    half: u64,
    counts: Arc<Counts>,
}

impl Compute for Left {
    fn compute(&mut self, io: LeftIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.counts.may_fail(Fails::Left)?;
        let image = *io.image.receive().into_data();
        self.counts.received(Way::ToLeft);
        self.counts.sent(Way::Left);
        io.half.emit(image * 2)
    }
}

#[operator]
struct Right {
    #[input]
    image: &u64,
    #[output]
    half: u64,
    counts: Arc<Counts>,
}

impl Compute for Right {
    fn compute(&mut self, io: RightIo<'_>, _: &ExecutionContext) -> Result<()> {
        let image = *io.image.receive().into_data();
        self.counts.received(Way::ToRight);
        self.counts.sent(Way::Right);
        io.half.emit(image * 3)
    }
}

#[operator]
struct Fuse {
    #[input]
    left: u64,
    #[input]
    right: u64,
    #[output]
    fused: u64,
    counts: Arc<Counts>,
}

impl Compute for Fuse {
    fn compute(&mut self, io: FuseIo<'_>, _: &ExecutionContext) -> Result<()> {
        let (left, right) = (io.left.receive().into_data(), io.right.receive().into_data());
        self.counts.received(Way::Left);
        self.counts.received(Way::Right);
        assert_eq!(left * 3, right * 2, "the halves are of one frame");
        self.counts.may_fail(Fails::Fuse)?;
        self.counts.sent(Way::Fused);
        io.fused.emit(left + right)
    }
}

#[operator]
struct Track {
    #[input]
    fused: u64,
    #[input]
    before: &u64,
    #[output]
    state: u64,
    counts: Arc<Counts>,
}

impl Compute for Track {
    fn compute(&mut self, io: TrackIo<'_>, _: &ExecutionContext) -> Result<()> {
        let fused = io.fused.receive().into_data();
        self.counts.received(Way::Fused);
        let state = mix(*io.before.receive().into_data() ^ fused);
        self.counts.sent(Way::State);
        io.state.emit(state)
    }
}

/// Notifies the handle `pulse` at each tenth state that it receives.
#[operator]
struct Control {
    #[input]
    state: &u64,
    counts: Arc<Counts>,
    notices: AsyncHandle,
}

impl Compute for Control {
    fn compute(&mut self, io: ControlIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let state = *io.state.receive().into_data();
        self.counts.received(Way::State);
        self.counts.digest(state);
        self.counts.may_fail(Fails::Control)?;
        if cx.tick().is_multiple_of(10) {
            // An error is ignored: at the end of the run, the handle may be closed already.
            let _closed = self.notices.notify();
        }
        Ok(())
    }
}

#[operator]
struct Pulse {
    #[output]
    pulse: u64,
    counts: Arc<Counts>,
}

impl Compute for Pulse {
    fn compute(&mut self, io: PulseIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.counts.sent(Way::Pulse);
        io.pulse.emit(cx.tick())
    }
}

#[operator]
struct Batch {
    #[input]
    point: u64,
    #[output]
    out: u64,
    counts: Arc<Counts>,
}

impl Compute for Batch {
    fn compute(&mut self, io: BatchIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.counts.may_fail(Fails::Batch)?;
        let point = io.point.receive().into_data();
        self.counts.received(Way::Point);
        self.counts.sent(Way::Batched);
        io.out.emit(point)
    }
}

#[operator]
struct Store {
    #[input(optional)]
    point: u64,
    #[input(optional)]
    pulse: u64,
    counts: Arc<Counts>,
}

impl Compute for Store {
    fn compute(&mut self, io: StoreIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if let Some(point) = io.point.receive().into_data() {
            self.counts.received(Way::Batched);
            self.counts.digest(point ^ cx.now().0);
        }
        if io.pulse.receive().into_data().is_some() {
            self.counts.received(Way::Pulse);
        }
        Ok(())
    }
}

#[operator]
struct Display {
    #[input]
    image: &u64,
    counts: Arc<Counts>,
}

impl Compute for Display {
    fn compute(&mut self, io: DisplayIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.counts.received(Way::Shown);
        self.counts.digest(*io.image.receive().into_data() ^ cx.now().0);
        Ok(())
    }
}

const BACK_OFF: Duration = Duration::from_micros(100);

graph! {
    struct Soak(frames: u64, counts: Arc<Counts>, notices: AsyncHandle) {
        #[when(count(frames), periodic(1ms))] #[on_failure(skip)]
        let camera: Camera = Camera::new(counts.clone(), frames, notices.clone());
        #[when(count(frames / 3), periodic(3ms, catch_up(4)))]
        let lidar: Lidar = Lidar::new(counts.clone());
        #[on_failure(skip)]
        let decode: Decode = Decode::new(counts.clone());
        #[on_failure(restart(3, BACK_OFF))]
        let left: Left = Left::new(counts.clone());
        let right: Right = Right::new(counts.clone());
        #[on_failure(restart(3, BACK_OFF))]
        let fuse: Fuse = Fuse::new(counts.clone());
        let track: Track = Track::new(counts.clone());
        #[on_failure(skip)]
        let control: Control = Control::new(counts.clone(), notices.clone());
        #[when(asynchronous(notices.clone()))]
        let pulse: Pulse = Pulse::new(counts.clone());
        #[when(any(message_available(point, 4), expiring(point, 5ms)))] #[on_failure(restart(3, BACK_OFF))]
        let batch: Batch = Batch::new(counts.clone());
        let store: Store = Store::new(counts.clone());
        #[when(periodic(7ms))]
        let display: Display = Display::new(counts.clone());

        camera.frame >> decode.frame;
        #[capacity(3)]
        decode.image >> left.image;
        #[capacity(2)]
        decode.image >> right.image;
        #[policy(pop)]
        decode.image >> display.image;
        left.half >> fuse.left;
        #[capacity(2)]
        right.half >> fuse.right;
        fuse.fused >> track.fused;
        #[feedback(initial = 0)]
        track.state >> track.before;
        track.state >> control.state;
        #[capacity(8)]
        lidar.point >> batch.point;
        batch.out >> store.point;
        pulse.pulse >> store.pulse;
    }
}

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// A digest of all received values, and of the times at which they arrived.
    pub digest: u64,
    /// How many ticks all operators together have run.
    pub ticks: u64,
    /// How many of the ticks failed.
    pub failures: u64,
    /// How long the run took in simulated time.
    pub took: Duration,
}

/// Runs the graph in simulated time. Checks that each message that was sent was received, or is counted in the report.
///
/// # Errors
/// The errors of the run and of the checks.
pub fn run(seed: u64, frames: u64) -> Result<Outcome, Failed> {
    run_with(seed, frames, &Workers::none())
}

/// Like [`run`], with workers on real threads. The digest then differs from run to run.
///
/// # Errors
/// As for [`run`].
pub fn run_with(seed: u64, frames: u64, workers: &Workers) -> Result<Outcome, Failed> {
    let clock = Clock::simulated();
    let platform = Platform::host().seed(seed).clock(&clock).race_check(false).build()?;
    run_on(&platform, seed, frames, workers)
}

/// Like [`run`], on a given platform with a simulated clock: in an explored test, workers take turns, and a seed repeats
/// the run.
///
/// # Errors
/// As for [`run`].
pub fn run_on(
    platform: &Platform,
    seed: u64,
    frames: u64,
    workers: &Workers,
) -> Result<Outcome, Failed> {
    let clock = platform.clock();
    let counts = Arc::new(Counts { seed: mix(seed), ..Counts::default() });
    let mut graph = Soak::new(platform, frames, counts.clone(), AsyncHandle::new())?;
    let report = graph.workers(workers.clone())?.run()?;
    check_counts(&counts, &report)?;
    Ok(Outcome {
        digest: counts.digest.load(Ordering::Relaxed),
        ticks: report.nodes.iter().map(|node| node.ticks).sum(),
        failures: counts.failures.load(Ordering::Relaxed),
        took: clock.now().since(Timestamp(0)),
    })
}

fn check_counts(counts: &Counts, report: &Report) -> Result<(), Failed> {
    for (way, edge) in WAYS {
        let [sent, received] = [&counts.sent, &counts.received]
            .map(|count| count[way as usize].load(Ordering::Relaxed));
        let dropped = report.dropped.iter().filter(|dropped| dropped.edge == edge);
        let dropped: u64 = dropped.map(|dropped| dropped.messages).sum();
        check(sent > 0, || format!("inconclusive: nothing was sent on `{edge}`"))?;
        check_equal((edge, received + dropped), (edge, sent))?;
    }
    Ok(())
}

/// Returns 64 arbitrary bits, determined by `value`.
fn mix(value: u64) -> u64 {
    Random::new(value).bits()
}
