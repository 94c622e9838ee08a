//! Tests of the state after a failed tick, and of ticks that fail because they did nothing with a message.

use std::sync::atomic::AtomicU64;

use super::*;
use crate::HostData;
use crate::operator::AsyncHandle;
use crate::testing::OperatorHarness;

#[operator]
struct Numbers {
    #[output]
    number: u64,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

/// Receives a message in its first tick, leaves one in the second, discards it in the third, and does nothing with the next one.
#[operator]
struct Forgets {
    #[input]
    number: u64,
}

impl Compute for Forgets {
    fn compute(&mut self, io: ForgetsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        match cx.tick() {
            0 => drop(io.number.receive().into_data()),
            1 => io.number.leave(),
            2 => io.number.discard(),
            _ => {}
        }
        Ok(())
    }
}

graph! {
    struct Forgetful() {
        #[when(count(4))] let numbers: Numbers = Numbers::new();
        #[when(count(5))] let forgets: Forgets = Forgets::new();
        numbers.number >> forgets.number;
    }
}

#[test]
fn a_tick_that_does_nothing_with_a_message_fails() {
    let platform = Platform::host().build().unwrap();
    let error = Forgetful::new(&platform).unwrap().run().unwrap_err();
    assert!(
        matches!(&error, Error::Operator { node, tick: 3, .. } if node == "forgets"),
        "{error}"
    );
    assert!(format!("{error:?}").contains("`forgets.number` has a message"), "{error:?}");
}

/// Fails in each tick, and finishes in the fifth.
#[operator]
struct Fails {
    #[output]
    number: u64,
    ticks: Arc<AtomicU64>,
}

impl Compute for Fails {
    fn compute(&mut self, _: FailsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if self.ticks.fetch_add(1, Ordering::Relaxed) == 4 {
            cx.finish();
        }
        Err(Failure::msg("INJECTED"))
    }
}

graph! {
    struct Noticed(notices: AsyncHandle, ticks: Arc<AtomicU64>) {
        #[when(asynchronous(notices))] #[on_failure(skip)]
        let fails: Fails = Fails::new(ticks);
        fails.number >> _;
    }
}

#[test]
fn a_tick_that_fails_uses_up_what_its_condition_has_permitted() {
    let platform = Platform::host().build().unwrap();
    let (notices, ticks) = (AsyncHandle::new(), Arc::new(AtomicU64::new(0)));
    let mut graph = Noticed::new(&platform, notices.clone(), ticks.clone()).unwrap();
    (0..2).for_each(|_| notices.notify().unwrap());
    notices.close();
    let report = graph.run().unwrap();
    assert_eq!(ticks.load(Ordering::Relaxed), 2, "{report}");
}

/// Emits a message that has a clone of its token, and fails.
#[operator]
struct Emits {
    #[output]
    token: HostData<Arc<()>>,
    own: Arc<()>,
}

impl Compute for Emits {
    fn compute(&mut self, io: EmitsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.token.emit(HostData(self.own.clone()))?;
        Err(Failure::msg("INJECTED"))
    }
}

graph! {
    struct Emitted(token: Arc<()>) {
        #[when(count(2))] #[on_failure(skip)]
        let emits: Emits = Emits::new(token);
        emits.token >> _;
    }
}

#[operator]
struct Receives {
    #[input]
    token: &HostData<Arc<()>>,
}

impl Compute for Receives {
    fn compute(&mut self, io: ReceivesIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.token.receive().into_data();
        Ok(())
    }
}

graph! {
    struct EmittedToOne(token: Arc<()>) {
        #[when(count(2))] #[on_failure(skip)]
        let emits: Emits = Emits::new(token);
        let receives: Receives = Receives::new();
        emits.token >> receives.token;
    }
}

#[operator]
struct Takes {
    #[input]
    token: HostData<Arc<()>>,
}

impl Compute for Takes {
    fn compute(&mut self, io: TakesIo<'_>, _: &ExecutionContext) -> Result<()> {
        drop(io.token.receive().into_data());
        Ok(())
    }
}

graph! {
    struct EmittedToSome(token: Arc<()>) {
        #[when(count(2))] #[on_failure(skip)]
        let emits: Emits = Emits::new(token);
        let one: Receives = Receives::new();
        let other: Receives = Receives::new();
        let copy: Takes = Takes::new();
        emits.token >> (one.token, other.token);
        #[copy] emits.token >> copy.token;
    }
}

/// A failed tick drops its emitted messages, whatever the number of consumers, and also the copies that edges have made.
#[test]
fn a_tick_that_fails_drops_what_it_has_emitted() {
    let platform = Platform::host().build().unwrap();
    let own = Arc::new(());
    // Returns how many references to the token exist after a run. Two must be left: that of the operator, and that of the test.
    let left = |graph: &mut dyn FnMut()| {
        graph();
        Arc::strong_count(&own)
    };
    let mut none = Emitted::new(&platform, own.clone()).unwrap();
    assert_eq!(left(&mut || drop(none.run().unwrap())), 2);
    drop(none);
    let mut one = EmittedToOne::new(&platform, own.clone()).unwrap();
    assert_eq!(left(&mut || drop(one.run().unwrap())), 2);
    drop(one);
    let mut some = EmittedToSome::new(&platform, own.clone()).unwrap();
    assert_eq!(left(&mut || drop(some.run().unwrap())), 2);
}

/// Leaves its messages in the queue, and sends their sum in `flush`, in two ticks.
#[operator(flush)]
struct Sums {
    #[input]
    number: u64,
    #[output]
    sum: u64,
    #[state]
    flushes: u64,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.leave();
        io.sum.emit(0)
    }
}

impl Flush for Sums {
    fn flush(&mut self, io: SumsFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.sum.emit(io.number.receive().into_data().sum())?;
        self.flushes += 1;
        Ok(if self.flushes == 2 { Flushed::Done } else { Flushed::More })
    }
}

#[test]
fn the_first_tick_of_flush_alone_gets_messages() {
    let platform = Platform::host().build().unwrap();
    let mut harness = OperatorHarness::new(&platform, Sums::new()).unwrap();
    for (numbers, sum, flushed) in [(&[1, 2][..], 3, Flushed::More), (&[4], 0, Flushed::Done)] {
        for number in numbers {
            harness.push(|ports| &mut ports.number, *number).unwrap();
        }
        assert_eq!(harness.flush().unwrap(), flushed);
        assert_eq!(*harness.take(|ports| &mut ports.sum).unwrap().message, sum);
    }
    harness.stop().unwrap();
}

/// Fails in each call of `flush`.
#[operator(flush)]
struct FailsToFlush {
    #[input]
    number: u64,
    #[state]
    calls: u64,
}

impl Compute for FailsToFlush {
    fn compute(&mut self, io: FailsToFlushIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

impl Flush for FailsToFlush {
    fn flush(&mut self, _: FailsToFlushFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        self.calls += 1;
        Err(Failure::msg("INJECTED"))
    }
}

#[test]
fn flush_is_not_called_again_after_it_has_failed() {
    let platform = Platform::host().build().unwrap();
    let mut harness = OperatorHarness::new(&platform, FailsToFlush::new()).unwrap();
    assert!(harness.flush().is_err());
    assert_eq!(harness.flush().unwrap(), Flushed::Done);
    assert_eq!(harness.operator().calls, 1);
    harness.stop().unwrap();
}

/// Passes the messages of even ticks on. Discards those of odd ticks, and sends data of its own instead.
#[operator]
struct Renews {
    #[input]
    number: &u64,
    #[output]
    other: u64,
}

impl Compute for Renews {
    fn compute(&mut self, io: RenewsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick().is_multiple_of(2) {
            return io.other.emit(*io.number.receive().into_data());
        }
        io.number.discard();
        io.other.emit(100 + cx.tick())
    }
}

/// Stores the pairs of numbers that it receives.
#[operator]
struct Pairs {
    #[input]
    number: &u64,
    #[input]
    other: u64,
    seen: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl Compute for Pairs {
    fn compute(&mut self, io: PairsIo<'_>, _: &ExecutionContext) -> Result<()> {
        let pair = (*io.number.receive().into_data(), io.other.receive().into_data());
        self.seen.lock().unwrap().push(pair);
        Ok(())
    }
}

graph! {
    struct Compared(seen: Arc<Mutex<Vec<(u64, u64)>>>) {
        #[when(count(5))]
        let numbers: Numbers = Numbers::new();
        let renews: Renews = Renews::new();
        #[when(same_sequence)] #[on_failure(restart(2, 0ms))]
        let pairs: Pairs = Pairs::new(seen.clone());
        numbers.number >> renews.number;
        #[capacity(2)]
        numbers.number >> pairs.number;
        renews.other >> pairs.other;
    }
}

/// The messages of two pairs can't be compared, while another worker already sends the next messages. Each such pair is dropped
/// with one restart of the operator, and the policy permits two restarts.
#[test]
fn messages_that_cannot_be_compared_take_one_restart_each_beside_another_worker() {
    let found = crate::testing::Explorer::new().seeds(64).run(|platform| {
        let seen = Arc::<Mutex<Vec<_>>>::default();
        let mut graph = Compared::new(platform, seen.clone())?;
        let report = graph.workers(crate::schedule::Workers::new(2))?.run()?;
        let found = (seen.lock().unwrap().clone(), report.ticks("pairs"));
        let wanted = (vec![(0, 0), (2, 2), (4, 4)], Some(5));
        if found == wanted { Ok(()) } else { Err(Failure::msg(format!("{found:?}"))) }
    });
    found.and_then(|found| found.check()).unwrap();
}
