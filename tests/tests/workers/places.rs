//! Where nodes run: on the worker that they name, on the thread of the run if their operator stays there, and
//! otherwise on any of the shared workers.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ThreadId};
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{Worker, Workers};
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .host("a_node_runs_on_the_worker_that_it_names", named)
        .host("an_operator_that_stays_has_all_hooks_on_the_thread_of_the_run", stays)
        .host("a_node_runs_on_one_worker_at_a_time", one_at_a_time)
        .host("workers_that_cannot_be_are_errors_before_start", refused)
        .host("a_graph_is_dropped_while_its_workers_run", dropped)
        .host("a_failure_ends_a_run_that_is_paused", failed_in_a_pause)
}

type Threads = Seen<(&'static str, Option<String>, ThreadId)>;

fn note(threads: &Threads, hook: &'static str) {
    let current = thread::current();
    push_seen(threads, (hook, current.name().map(str::to_owned), current.id()));
}

#[operator]
struct Numbers {
    #[output]
    number: u64,
    threads: Threads,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        note(&self.threads, "compute");
        io.number.emit(cx.tick())
    }
}

#[operator]
struct Sum {
    #[input]
    number: u64,
    sum: u64,
    threads: Threads,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        note(&self.threads, "compute");
        self.sum += io.number.receive().into_data();
        Ok(())
    }
}

const TICKS: u64 = 500;

graph! {
    struct Named(source: Threads, sum: Threads) {
        #[when(count(TICKS))]
        #[worker(reader)]
        let numbers: Numbers = Numbers::new(source);
        #[worker(disk)]
        let sum: Sum = Sum::new(0, sum);
        #[capacity(4)]
        numbers.number >> sum.number;
    }
}

fn named(platform: &Platform) -> Result<(), Failed> {
    let (source, sum) = (Threads::default(), Threads::default());
    let mut graph = Named::new(platform, source.clone(), sum.clone())?;
    let report = graph.run()?;
    check_equal(report.ticks("sum"), Some(TICKS))?;
    check_equal(graph.sum().sum, TICKS * (TICKS - 1) / 2)?;
    for (threads, name) in [(source, "reader"), (sum, "disk")] {
        let threads: HashSet<_> =
            take(&threads).into_iter().map(|(_, name, id)| (name, id)).collect();
        check_equal(threads.len(), 1)?;
        check(threads.iter().all(|(thread, _)| thread.as_deref() == Some(name)), || {
            format!("{threads:?}")
        })?;
    }
    // With `Workers::none()`, a single thread runs all nodes, whatever workers they name.
    let (source, sum) = (Threads::default(), Threads::default());
    let mut graph = Named::new(platform, source.clone(), sum.clone())?;
    graph.workers(Workers::none())?.run()?;
    let mut all = take(&source);
    all.extend(take(&sum));
    check(all.iter().all(|(_, _, id)| *id == thread::current().id()), || format!("{all:?}"))
}

/// An operator for a library that is bound to one thread.
#[operator(stays)]
struct Window {
    #[input]
    number: u64,
    threads: Threads,
}

impl Compute for Window {
    fn start(&mut self, _: WindowStreams<'_>, _: &ExecutionContext) -> Result<()> {
        note(&self.threads, "start");
        Ok(())
    }

    fn compute(&mut self, io: WindowIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.receive().into_data();
        note(&self.threads, "compute");
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        note(&self.threads, "stop");
        Ok(())
    }
}

graph! {
    struct Shown(source: Threads, window: Threads) {
        #[when(count(TICKS))]
        let numbers: Numbers = Numbers::new(source);
        let window: Window = Window::new(window);
        #[capacity(4)]
        numbers.number >> window.number;
    }
}

fn stays(platform: &Platform) -> Result<(), Failed> {
    for workers in [1, 2, 4] {
        let (source, window) = (Threads::default(), Threads::default());
        let mut graph = Shown::new(platform, source.clone(), window.clone())?;
        graph.workers(workers)?.run()?;
        let hooks = take(&window);
        check_equal(hooks.len() as u64, TICKS + 2)?;
        check(hooks.iter().all(|(_, _, id)| *id == thread::current().id()), || {
            format!("{hooks:?}")
        })?;
        let (source, window) = (Threads::default(), Threads::default());
        let mut graph = Shown::new(platform, source.clone(), window.clone())?;
        graph.workers(workers)?;
        graph.spawn()?.join()?;
        let threads: HashSet<_> = take(&window).into_iter().map(|(_, _, id)| id).collect();
        check_equal(threads.len(), 1)?;
        check(!threads.contains(&thread::current().id()), || {
            "it ran on the caller's thread".into()
        })?;
    }
    Ok(())
}

/// An operator that counts without an atomic, and yields while it counts: two threads in it at once would lose a
/// count.
#[operator]
struct Count {
    #[input(many)]
    number: u64,
    count: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, _: &ExecutionContext) -> Result<()> {
        let before = self.count;
        let more = io.number.receive().into_data().len();
        thread::yield_now();
        self.count = before + u64::try_from(more)?;
        Ok(())
    }
}

graph! {
    struct Joined(threads: Threads) {
        #[when(count(TICKS))]
        let a: Numbers = Numbers::new(threads.clone());
        #[when(count(TICKS))]
        let b: Numbers = Numbers::new(threads.clone());
        #[when(count(TICKS))]
        let c: Numbers = Numbers::new(threads);
        let count: Count = Count::new(0);
        a.number >> count.number;
        b.number >> count.number;
        c.number >> count.number;
    }
}

fn one_at_a_time(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Joined::new(platform, Threads::default())?;
    graph.workers(4)?.run()?;
    check_equal(graph.count().count, 3 * TICKS)
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Named::new(platform, Threads::default(), Threads::default())?;
    for (workers, text) in [
        (Workers::new(0), "at least 1"),
        (Workers::new(usize::MAX), "at most 1024"),
        (Workers::new(1).worker("disc", Worker::new()), "`disk`"),
        (Workers::new(1).worker("disk", Worker::new().core(100_000)), "100000"),
    ] {
        let set = graph.workers(workers).map(drop);
        check_error("impossible workers", set, |error| error.to_string().contains(text))?;
    }
    // The refused setting has changed nothing, so the graph runs.
    graph.run()?;
    Ok(())
}

fn dropped(platform: &Platform) -> Result<(), Failed> {
    for workers in [1, 2, 4] {
        let mut graph = Endless::new(platform)?;
        graph.workers(workers)?;
        let running = graph.spawn()?;
        while running.status().nodes.iter().any(|node| node.ticks == 0) {
            thread::yield_now();
        }
        drop(running);
    }
    Ok(())
}

#[operator]
struct Ignore {
    #[input]
    number: u64,
}

impl Compute for Ignore {
    fn compute(&mut self, io: IgnoreIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

#[operator]
struct Ticks {
    #[output]
    number: u64,
}

impl Compute for Ticks {
    fn compute(&mut self, io: TicksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Endless() {
        let ticks: Ticks = Ticks::new();
        #[worker(other)]
        let ignore: Ignore = Ignore::new();
        ticks.number >> ignore.number;
    }
}

/// An operator that waits for a word of the test in its first tick, and then fails.
#[operator]
struct Fails {
    #[output]
    number: u64,
    begun: Sender<()>,
    word: Receiver<()>,
}

impl Compute for Fails {
    fn compute(&mut self, _: FailsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.begun.send(())?;
        self.word.recv()?;
        Err(Failure::msg("out of paper"))
    }
}

graph! {
    struct Paused(begun: Sender<()>, word: Receiver<()>) {
        #[worker(other)]
        let fails: Fails = Fails::new(begun, word);
        let ticks: Ticks = Ticks::new();
        let ignore: Ignore = Ignore::new();
        fails.number >> _;
        ticks.number >> ignore.number;
    }
}

fn failed_in_a_pause(platform: &Platform) -> Result<(), Failed> {
    let ((begun, begins), (word, waits)) = (channel(), channel());
    let mut running = Paused::new(platform, begun, waits)?.spawn()?;
    begins.recv()?;
    running.pause()?;
    // This gives the shared worker the time to go to sleep.
    (0..1000).for_each(|_| thread::yield_now());
    word.send(())?;
    let done = running.join_timeout(Duration::from_secs(20));
    check_error("a failure in a pause", done, |error| error.to_string().contains("out of paper"))
        .map(drop)
}
