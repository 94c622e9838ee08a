//! The cost of workers: the time from `emit` to `compute` on another worker, and a tick of two operators.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench workers
//! ```
//!
//! Two nodes on two workers pass one message around. Half a round trip is a hand-over: `emit`, the end of the tick, the
//! other worker's look, `receive`. The hand-over is measured while workers spin, and with `spin(0)`, where each
//! hand-over wakes a thread from its sleep; beside that, two threads pass a number around by a futex,
//! `std::thread::park`. The forms take turns; the results are medians of all rounds, and of the 99th percentile of a
//! round.
//!
//! The last rows are a tick of two operators that pass a `u64`: on one thread, and with workers.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench workers -- lateness
//! ```
//!
//! measures another graph on real time, from its report: a source at 20 Hz, beside a branch with a hook that takes 500
//! ms.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use streamflow::prelude::*;
use streamflow::schedule::Workers;

const ROUNDS: usize = 9;
const TRIPS: u64 = 2_000;
const TICKS: u64 = 50_000;

/// Receives the message, notes when it arrived, and sends it on.
#[operator]
struct Ping {
    #[input]
    back: u64,
    #[output]
    there: u64,
    trips: u64,
    last: Option<Instant>,
    /// The nanoseconds of each round trip.
    times: Vec<u64>,
}

impl Compute for Ping {
    fn compute(&mut self, io: PingIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let number = io.back.receive().into_data();
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            self.times.push(u64::try_from((now - last).as_nanos())?);
        }
        if number == self.trips {
            cx.stop_graph();
        }
        io.there.emit(number + 1)
    }
}

#[operator]
struct Pong {
    #[input]
    there: u64,
    #[output]
    back: u64,
}

impl Compute for Pong {
    fn compute(&mut self, io: PongIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.there.receive().into_data();
        io.back.emit(number)
    }
}

graph! {
    struct Around(trips: u64) {
        let ping: Ping = Ping::new(trips, None, Vec::with_capacity(1 << 16));
        #[worker(there)]
        let pong: Pong = Pong::new();
        ping.there >> pong.there;
        #[feedback(initial = 0)]
        pong.back >> ping.back;
    }
}

#[operator]
struct Source {
    #[output]
    number: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

#[operator]
struct Sink {
    #[input]
    number: u64,
    sum: u64,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.sum += io.number.receive().into_data();
        Ok(())
    }
}

graph! {
    struct Two() {
        #[when(count(TICKS))]
        let source: Source = Source::new();
        let sink: Sink = Sink::new(0);
        source.number >> sink.number;
    }
}

/// Returns the median and the 99th percentile of a hand-over between two workers, in nanoseconds.
fn hand_over(platform: &Platform, trips: u64) -> Result<(u64, u64)> {
    let mut graph = Around::new(platform, trips)?;
    graph.run()?;
    let times = &mut graph.ping_mut().times;
    times.sort_unstable();
    Ok((times[times.len() / 2] / 2, times[times.len() * 99 / 100] / 2))
}

/// Returns the nanoseconds of a tick of two operators.
fn tick(platform: &Platform, workers: Workers) -> Result<u64> {
    let mut graph = Two::new(platform)?;
    graph.workers(workers)?;
    let begun = Instant::now();
    graph.run()?;
    assert_eq!(graph.sink().sum, TICKS * (TICKS - 1) / 2);
    Ok(u64::try_from(begun.elapsed().as_nanos())? / TICKS)
}

/// Returns half a round trip between two threads that sleep by `park`: the median and the 99th percentile, in
/// nanoseconds.
fn parked() -> (u64, u64) {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    TURN.store(0, Ordering::Release);
    let trips = usize::try_from(TRIPS).unwrap_or(usize::MAX);
    let here = std::thread::current();
    let mut times = std::thread::scope(|scope| {
        let there = scope.spawn(move || {
            for trip in 0..trips {
                while TURN.load(Ordering::Acquire) != 2 * trip + 1 {
                    std::thread::park();
                }
                TURN.store(2 * trip + 2, Ordering::Release);
                here.unpark();
            }
        });
        let times = (0..trips).map(|trip| {
            let begun = Instant::now();
            TURN.store(2 * trip + 1, Ordering::Release);
            there.thread().unpark();
            while TURN.load(Ordering::Acquire) != 2 * trip + 2 {
                std::thread::park();
            }
            u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
        });
        times.collect::<Vec<_>>()
    });
    times.sort_unstable();
    (times[times.len() / 2] / 2, times[times.len() * 99 / 100] / 2)
}

/// How long each form of the graph with the slow branch runs.
const TIME: Duration = Duration::from_secs(5);

/// The operator of the slow branch: its hook takes 500 ms for each number.
#[operator]
struct Slow {
    #[input]
    number: &u64,
}

impl Compute for Slow {
    fn compute(&mut self, io: SlowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        cx.sleep(Duration::from_millis(500));
        Ok(())
    }
}

/// The operator of the main path, which receives each number.
#[operator]
struct Main {
    #[input]
    number: &u64,
    sum: u64,
}

impl Compute for Main {
    fn compute(&mut self, io: MainIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.sum += *io.number.receive().into_data();
        Ok(())
    }
}

graph! {
    struct Branched() {
        #[when(periodic(50ms))]
        let source: Source = Source::new();
        let main: Main = Main::new(0);
        #[worker(slow)]
        let slow: Slow = Slow::new();
        source.number >> main.number;
        #[policy(pop)]
        source.number >> slow.number;
    }
}

/// Prints how late the source's ticks were, and how old its messages were at the end of the main path.
fn lateness() -> Result<()> {
    println!("a source at 20 Hz beside a branch of 500 ms, {TIME:?} of real time, in ms");
    println!("{:>26} {:>6} {:>9} {:>9} {:>9}", "", "ticks", "p50", "p99", "max");
    let forms = [
        ("one thread", Workers::none()),
        ("a worker for the branch", Workers::new(1)),
        ("2 workers and one for it", Workers::new(2)),
    ];
    for (name, workers) in forms {
        let platform = Platform::builder().statistics(true).host()?;
        let report = Branched::new(&platform)?.workers(workers)?.run_for(TIME)?;
        let source = report.nodes.iter().find(|node| node.name == "source");
        let late = source.and_then(|node| node.lateness);
        let path = report.latency.iter().find(|path| path.sink == "main").map(|path| path.summary);
        println!("{name}");
        for (what, found) in [("lateness of the source", late), ("latency of the main path", path)]
        {
            let Some(found) = found else { continue };
            let [p50, p99, max] =
                [found.p50, found.p99, found.max].map(|time| time.as_secs_f64() * 1e3);
            println!("{what:>26} {:>6} {p50:>9.3} {p99:>9.3} {max:>9.3}", found.count);
        }
    }
    Ok(())
}

fn median<T: Ord + Copy>(values: &mut [T]) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

fn main() -> Result<ExitCode> {
    if std::env::args().any(|argument| argument == "lateness") {
        lateness()?;
        return Ok(ExitCode::SUCCESS);
    }
    let spins = Platform::builder().spin(Duration::from_micros(50)).host()?;
    let sleeps = Platform::builder().spin(Duration::ZERO).host()?;
    let (mut spinning, mut sleeping, mut futex) = (Vec::new(), Vec::new(), Vec::new());
    let names = ["one thread", "1 worker", "2 workers", "4 workers"];
    let workers = [Workers::none(), Workers::new(1), Workers::new(2), Workers::new(4)];
    let mut ticks = workers.each_ref().map(|_| Vec::new());
    for _ in 0..ROUNDS {
        spinning.push(hand_over(&spins, TRIPS)?);
        sleeping.push(hand_over(&sleeps, TRIPS)?);
        futex.push(parked());
        for (times, workers) in ticks.iter_mut().zip(&workers) {
            times.push(tick(&spins, workers.clone())?);
        }
    }
    println!("a hand-over to another worker, in µs: median (99th percentile)");
    for (name, times) in
        [("it spins", &mut spinning), ("it sleeps", &mut sleeping), ("a bare futex", &mut futex)]
    {
        let (mut middle, mut high): (Vec<_>, Vec<_>) = times.iter().copied().unzip();
        let (middle, high) = (median(&mut middle) as f64, median(&mut high) as f64);
        println!("{name:>14} {:>8.2} ({:.2})", middle / 1e3, high / 1e3);
    }
    println!("a tick of two operators that pass a u64, in ns");
    for (name, times) in names.iter().zip(&mut ticks) {
        println!("{name:>14} {:>8}", median(times));
    }
    Ok(ExitCode::SUCCESS)
}
