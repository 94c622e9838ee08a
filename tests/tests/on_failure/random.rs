//! Random failures: no messages are lost except those of failed ticks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::time::Clock;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check};

pub(crate) fn add(suite: Suite) -> Suite {
    suite.seeded("what_was_sent_is_received_or_lost_to_a_failed_tick", counted)
}

/// The numbers that were seen at each place of the graph.
#[derive(Debug, Default)]
struct Ledger {
    random: Option<Random>,
    sent: Vec<u64>,
    passed: Vec<u64>,
    received: Vec<u64>,
    /// The messages that failed ticks had received.
    lost: Vec<u64>,
    /// How many ticks failed before they received their message, which then stays in the queue.
    unseen: usize,
    made: usize,
}

type Shared = Arc<Mutex<Ledger>>;

fn locked(ledger: &Shared) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ledger {
    /// Draws whether something happens that has this chance, in percent.
    fn draws(&mut self, percent: usize) -> bool {
        self.random.as_mut().is_some_and(|random| random.below(100) < percent)
    }
}

#[operator(no_new)]
struct Source {
    #[output]
    number: u64,
    ledger: Shared,
}

impl Source {
    /// Makes an operator. Fails now and then.
    fn new(ledger: Shared) -> Result<Self> {
        make(&ledger)?;
        Ok(Self { ledger })
    }
}

/// Fails now and then, except in the first three calls, as a constructor that can't make its operator.
fn make(ledger: &Shared) -> Result<()> {
    let mut ledger = locked(ledger);
    ledger.made += 1;
    if ledger.made > 3 && ledger.draws(10) { Err(Failure::msg("not now")) } else { Ok(()) }
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let mut ledger = locked(&self.ledger);
        io.number.emit(cx.tick())?;
        if ledger.draws(10) {
            // The tick fails, so the messages that it emitted are not sent.
            return Err(Failure::msg("a dark frame"));
        }
        ledger.sent.push(cx.tick());
        Ok(())
    }
}

#[operator(no_new)]
struct Middle {
    #[input]
    number: u64,
    #[output]
    out: u64,
    ledger: Shared,
}

impl Middle {
    fn new(ledger: Shared) -> Result<Self> {
        make(&ledger)?;
        Ok(Self { ledger })
    }
}

impl Compute for Middle {
    #[allow(clippy::panic, reason = "the test is about panics")]
    fn compute(&mut self, io: MiddleIo<'_>, _: &ExecutionContext) -> Result<()> {
        let mut ledger = locked(&self.ledger);
        if ledger.draws(5) {
            ledger.unseen += 1;
            return Err(Failure::msg("not a look at it"));
        }
        let number = io.number.receive().into_data();
        io.out.emit(number)?;
        if ledger.draws(5) {
            ledger.lost.push(number);
            return Err(Failure::msg("a bad lens"));
        }
        if ledger.draws(5) {
            ledger.lost.push(number);
            drop(ledger);
            panic!("a broken lens");
        }
        ledger.passed.push(number);
        Ok(())
    }
}

#[operator(no_new)]
struct Sink {
    #[input]
    number: u64,
    ledger: Shared,
}

impl Sink {
    fn new(ledger: Shared) -> Result<Self> {
        make(&ledger)?;
        Ok(Self { ledger })
    }
}

impl Compute for Sink {
    fn start(&mut self, _: SinkStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() > 0 && locked(&self.ledger).draws(10) {
            return Err(Failure::msg("no disk"));
        }
        Ok(())
    }

    fn compute(&mut self, io: SinkIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        let mut ledger = locked(&self.ledger);
        if ledger.draws(10) {
            ledger.lost.push(number);
            return Err(Failure::msg("a full disk"));
        }
        ledger.received.push(number);
        Ok(())
    }
}

graph! {
    struct Pipeline(count: u64, ledger: Shared) {
        #[when(count(count))] #[on_failure(restart(50, Duration::from_millis(1)))]
        let source: Source = Source::new(ledger)?;
        #[on_failure(restart(50, Duration::from_millis(3)))]
        let middle: Middle = Middle::new(ledger.clone())?;
        #[on_failure(restart(50, Duration::from_millis(2)))]
        let sink: Sink = Sink::new(ledger)?;
        #[capacity(4)]
        source.number >> middle.number;
        #[capacity(2)]
        middle.out >> sink.number;
    }
}

const TICKS: u64 = 3000;

fn counted(seed: u64) -> Result<(), Failed> {
    let platform = Platform::host().seed(seed).clock(&Clock::simulated()).build()?;
    let ledger = Shared::default();
    locked(&ledger).random = Some(Random::new(seed));
    let report = Pipeline::new(&platform, TICKS, ledger.clone())?.run()?;
    let failures: Vec<u64> = report.nodes.iter().map(|node| node.failures).collect();
    check(failures.iter().all(|failures| *failures > 100), || report.to_string())?;
    check(report.ticks("source") == Some(TICKS), || report.to_string())?;
    check(report.dropped.is_empty(), || report.to_string())?;
    let Ledger { sent, passed, received, lost, unseen, .. } = &*locked(&ledger);
    // Each tick of the source has sent a number, or has failed.
    check(sent.len() as u64 + failures_of_ticks(sent) == TICKS, || format!("{} sent", sent.len()))?;
    // Each place has the numbers in order, and each number once.
    for numbers in [sent, passed, received] {
        check(numbers.is_sorted_by(|one, other| one < other), || "out of order".into())?;
    }
    check(*unseen > 100, || "inconclusive: each tick received its message".into())?;
    let known = received.len() + lost.len();
    check(known == sent.len(), || format!("{known} of {} known", sent.len()))?;
    let mut both: Vec<u64> = received.iter().chain(lost).copied().collect();
    both.sort_unstable();
    both.dedup();
    check(both.len() == received.len() + lost.len(), || "a number twice".into())?;
    check(both.iter().all(|number| sent.binary_search(number).is_ok()), || {
        "a number that was not sent".into()
    })
}

/// Returns how many ticks of the source have sent nothing.
fn failures_of_ticks(sent: &[u64]) -> u64 {
    (0..TICKS).filter(|tick| sent.binary_search(tick).is_err()).count() as u64
}
