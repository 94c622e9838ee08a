//! The conditions `periodic` and `expiring`, checked by the times at which ticks begin.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::time::Timestamp;
use streamflow_tests::greedy::greedy;
use streamflow_tests::seen::{Seen, all, push_seen, take};
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::operators::{Gather, Silent, Sink, Source, ms, simulated};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .seeded("missed_ticks_are_made_up_as_the_policy_says", policies)
        .seeded("a_source_of_20_hz_is_never_late", twenty_hertz)
        .seeded("a_source_that_sends_nothing_does_not_spin", silent)
        .seeded("a_silence_ends_with_a_message_and_with_the_run", silences)
        .seeded("a_periodic_consumer_runs_without_a_message", without_message)
        .seeded("a_second_run_begins_its_period_anew", second_run)
        .seeded("a_message_that_waited_too_long_is_enough", expiring)
        .seeded("a_message_of_an_earlier_time_has_expired", expired)
        .seeded("the_earliest_of_two_timers_comes_first", two_timers)
}

macro_rules! paced {
    ($name:ident, $($condition:tt)*) => {
        graph! {
            struct $name(began: Seen<u64>) {
                // The source's fourth tick takes 37 ms, and all others take no time.
                #[when(count(8) $($condition)*)]
                let source: Source = Source::new(began, vec![0, 0, 0, 37]);
                source.number >> _;
            }
        }
    };
}

paced!(Unpaced,);
paced!(Default, , periodic(10ms));
paced!(Skip, , periodic(Duration::from_millis(10), skip));
paced!(All, , periodic(10_000us, catch_up(u64::MAX)));
paced!(One, , periodic(0.01s, catch_up(1)));
paced!(Spaced, , periodic(10_000_000ns, spaced));

fn policies(seed: u64) -> Result<(), Failed> {
    type Run<'a> = &'a dyn Fn(&Platform, Seen<u64>) -> Result<(), Error>;
    let run = |graph: Run<'_>| -> Result<Vec<u64>> {
        let began = Seen::default();
        graph(&simulated(seed)?.0, began.clone())?;
        Ok(all(&began))
    };
    // Without `periodic`, each tick begins as soon as the tick before ends.
    let unpaced = run(&|p, seen| Unpaced::new(p, seen)?.run().map(drop))?;
    check_equal(unpaced, vec![0, 0, 0, 0, 37, 37, 37, 37])?;
    // The fourth tick ends at 67 ms. By then the ticks of 40, 50 and 60 ms are due, and are skipped.
    let skip = vec![0, 10, 20, 30, 67, 70, 80, 90];
    check_equal(run(&|p, seen| Default::new(p, seen)?.run().map(drop))?, skip.clone())?;
    check_equal(run(&|p, seen| Skip::new(p, seen)?.run().map(drop))?, skip)?;
    let caught_up = run(&|p, seen| All::new(p, seen)?.run().map(drop))?;
    check_equal(caught_up, vec![0, 10, 20, 30, 67, 67, 67, 70])?;
    let one = run(&|p, seen| One::new(p, seen)?.run().map(drop))?;
    check_equal(one, vec![0, 10, 20, 30, 67, 67, 70, 80])?;
    let spaced = run(&|p, seen| Spaced::new(p, seen)?.run().map(drop))?;
    check_equal(spaced, vec![0, 10, 20, 30, 67, 77, 87, 97])
}

/// An operator whose work takes a given time for each number.
#[operator]
struct Work {
    #[input]
    number: u64,
    time: Duration,
}

impl Compute for Work {
    fn compute(&mut self, io: WorkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        cx.platform().clock().advance(self.time);
        Ok(())
    }
}

graph! {
    struct TwentyHertz(began: Seen<u64>, work: Duration) {
        #[when(count(600), periodic(50ms))]
        let source: Source = Source::new(began, Vec::new());
        let work: Work = Work::new(work);
        source.number >> work.number;
    }
}

fn twenty_hertz(seed: u64) -> Result<(), Failed> {
    let began = Seen::default();
    let due: Vec<u64> = (0..600).map(|tick| tick * 50).collect();
    let work = Duration::from_millis(49);
    TwentyHertz::new(&simulated(seed)?.0, began.clone(), work)?.run()?;
    check_equal(take(&began), due.clone())?;
    // The control: work that takes longer than the interval makes ticks begin late.
    let work = Duration::from_millis(51);
    TwentyHertz::new(&simulated(seed)?.0, began.clone(), work)?.run()?;
    let late = take(&began).iter().zip(&due).filter(|(began, due)| began > due).count();
    check_equal(late, 599)
}

graph! {
    struct SilentPeriodic() {
        #[when(periodic(100ms))]
        let silent: Silent = Silent::new();
        silent.number >> _;
    }
}

graph! {
    struct SilentAlone() {
        let silent: Silent = Silent::new();
        silent.number >> _;
    }
}

fn silent(seed: u64) -> Result<(), Failed> {
    let report = SilentPeriodic::new(&simulated(seed)?.0)?.run()?;
    check_equal(report.ticks("silent"), Some(11))?;
    // Without a condition, the silent source ticks some times at the beginning, and after that about once in a
    // millisecond.
    let ticks = SilentAlone::new(&simulated(seed)?.0)?.run()?.ticks("silent").unwrap_or(0);
    check((900..=1100).contains(&ticks), || format!("{ticks} ticks"))
}

/// An operator that sends only one message, in tick 70, and notes when each tick began.
#[operator]
struct Rarely {
    #[output]
    number: u64,
    began: Seen<Timestamp>,
}

impl Compute for Rarely {
    fn compute(&mut self, io: RarelyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.began, cx.now());
        if cx.tick() == 70 { io.number.emit(70) } else { Ok(()) }
    }
}

graph! {
    struct Rare(began: Seen<Timestamp>) {
        #[when(count(140))]
        let rarely: Rarely = Rarely::new(began);
        rarely.number >> _;
    }
}

/// Checks that a source pauses between ticks only after many ticks without a message. A message ends the pauses,
/// and so does the end of a run.
fn silences(seed: u64) -> Result<(), Failed> {
    let began = Seen::default();
    let mut graph = Rare::new(&simulated(seed)?.0, began.clone())?;
    // This run ends while the source sends nothing.
    graph.run_for(Duration::from_micros(10))?;
    check_equal(take(&began).len(), 68)?;
    for run in 0..2 {
        graph.run()?;
        let began = take(&began);
        let waited = (1..140).filter(|tick| began[*tick] > began[tick - 1]);
        // The source ticks at once up to tick 64, and pauses before each tick from 65 to 70. Tick 70 sends a message.
        // The source then ticks at once again, and pauses from tick 136 on.
        let expected = (65..=70).chain(136..140);
        check_equal((run, waited.collect::<Vec<_>>()), (run, expected.collect()))?;
    }
    Ok(())
}

graph! {
    struct Sampled(seen: Seen<(u64, Option<u64>, Option<u64>)>) {
        #[when(count(3), periodic(25ms))]
        let source: Source = Source::new(Seen::default(), Vec::new());
        #[when(count(8), periodic(10ms))]
        let sample: Gather = Gather::new(seen);
        source.number >> sample.a;
    }
}

graph! {
    struct Unsampled(seen: Seen<(u64, Option<u64>, Option<u64>)>) {
        #[when(count(3), periodic(25ms))]
        let source: Source = Source::new(Seen::default(), Vec::new());
        let sample: Gather = Gather::new(seen);
        source.number >> sample.a;
    }
}

fn without_message(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    Sampled::new(&simulated(seed)?.0, seen.clone())?.run()?;
    // With workers, the tick at 50 ms may begin before the message of that moment is in the queue.
    let ticks = take(&seen);
    let began: Vec<_> = ticks.iter().map(|(at, ..)| *at).collect();
    check_equal(began, (0..8).map(|tick| tick * 10).collect())?;
    let of = |number| ticks.iter().find(|(_, a, _)| *a == Some(number)).map(|(at, ..)| *at);
    let came = [of(0), of(1), of(2)].map(Option::unwrap_or_default);
    check([0, 30, 50].iter().zip(came).all(|(due, at)| (*due..=due + 10).contains(&at)), || {
        format!("{ticks:?}")
    })?;
    greedy(Sampled::new(&simulated(seed)?.0, seen.clone())?)?.run()?;
    let sampled = [Some(0), None, None, Some(1), None, Some(2), None, None];
    let times = (0..).map(|tick| tick * 10);
    let expected: Vec<_> = times.zip(sampled).map(|(at, number)| (at, number, None)).collect();
    check_equal(take(&seen), expected)?;
    // With the default condition, each tick needs a message.
    Unsampled::new(&simulated(seed)?.0, seen.clone())?.run()?;
    let messages = vec![(0, Some(0), None), (25, Some(1), None), (50, Some(2), None)];
    check_equal(take(&seen), messages)
}

graph! {
    struct Again(began: Seen<u64>) {
        #[when(count(2), periodic(10ms))]
        let source: Source = Source::new(began, Vec::new());
        source.number >> _;
    }
}

fn second_run(seed: u64) -> Result<(), Failed> {
    let (began, (platform, clock)) = (Seen::default(), simulated(seed)?);
    let mut graph = Again::new(&platform, began.clone())?;
    graph.run()?;
    clock.advance(Duration::from_millis(3));
    graph.run()?;
    check_equal(take(&began), vec![0, 10, 13, 23])
}

graph! {
    struct Batches(seen: Seen<(u64, u64)>) {
        #[when(count(6), periodic(10ms))]
        let source: Source = Source::new(Seen::default(), Vec::new());
        #[when(any(message_available(number, 4), expiring(number, 100ms)))]
        let sink: Sink = Sink::new(seen);
        #[capacity(4)]
        source.number >> sink.number;
    }
}

graph! {
    struct NoBatches(seen: Seen<(u64, u64)>) {
        #[when(count(6), periodic(10ms))]
        let source: Source = Source::new(Seen::default(), Vec::new());
        let sink: Sink = Sink::new(seen);
        #[capacity(4)]
        source.number >> sink.number;
    }
}

/// Checks that the last three messages, too few for `message_available(number, 4)`, are received when they are
/// 100 ms old.
fn expiring(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    Batches::new(&simulated(seed)?.0, seen.clone())?.run()?;
    check_equal(take(&seen), vec![(30, 0), (40, 1), (50, 2), (130, 3), (140, 4), (150, 5)])?;
    NoBatches::new(&simulated(seed)?.0, seen.clone())?.run()?;
    check_equal(take(&seen), vec![(0, 0), (10, 1), (20, 2), (30, 3), (40, 4), (50, 5)])
}

/// An operator that sends numbers with a fixed, old acquisition time.
#[operator]
struct Late {
    #[output]
    number: u64,
}

impl Compute for Late {
    fn compute(&mut self, io: LateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.acquired(Timestamp(0)).emit(ms(cx))
    }
}

graph! {
    struct Expired(seen: Seen<(u64, u64)>) {
        #[when(count(2), periodic(50ms))]
        let late: Late = Late::new();
        #[when(expiring(number, 20ms))]
        let sink: Sink = Sink::new(seen);
        late.number >> sink.number;
    }
}

/// Checks that a message that is 0 ms old when it is sent is received 20 ms later, and that a message that is 50
/// ms old is received at once.
fn expired(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    Expired::new(&simulated(seed)?.0, seen.clone())?.run()?;
    check_equal(take(&seen), vec![(20, 0), (50, 50)])
}

graph! {
    struct TwoTimers(fast: Seen<u64>, slow: Seen<u64>) {
        #[when(count(4), periodic(30ms))]
        let slow: Source = Source::new(slow, Vec::new());
        #[when(count(9), periodic(10ms))]
        let fast: Source = Source::new(fast, Vec::new());
        slow.number >> _;
        fast.number >> _;
    }
}

fn two_timers(seed: u64) -> Result<(), Failed> {
    let (fast, slow) = (Seen::default(), Seen::default());
    TwoTimers::new(&simulated(seed)?.0, fast.clone(), slow.clone())?.run()?;
    check_equal(all(&fast), (0..9).map(|tick| tick * 10).collect())?;
    check_equal(all(&slow), vec![0, 30, 60, 90])
}
