//! Tests that a node is flushed as soon as its inputs have ended, whatever the rest of the graph does.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{End, Report, StoppedBy, Workers};
use streamflow::time::{Clock, Timestamp};
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::operators::{Count, Delay, SumOfFour};
use super::ticks;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::runs;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_branch_without_an_end_puts_no_flush_off::host", apart)
        .plain("nodes_in_a_row_are_flushed_beside_a_branch_without_an_end::host", row)
        .plain("a_node_that_has_ended_is_flushed_while_its_source_goes_on::host", preview)
        .plain("a_join_that_has_lost_an_input_is_flushed_while_the_other_goes_on::host", joined)
        .plain(
            "a_join_that_drops_alone_messages_is_flushed_beside_a_branch_without_an_end::host",
            alone,
        )
        .plain("an_edge_gives_way_beside_a_branch_without_an_end::host", gives_way)
        .plain("a_hook_that_does_not_return_puts_no_flush_off::host", beside_a_hook)
        .plain("no_time_passes_before_a_flush_that_is_due::host", at_once)
}

/// The number of ticks of another branch after which a test takes a missing flush for one that never comes.
const FOR_EVER: u64 = 3_000_000;

/// An operator that sends the number of each tick, and fails if the run does not end within `FOR_EVER` ticks.
#[operator]
pub(crate) struct Endless {
    #[output]
    n: u64,
}

impl Compute for Endless {
    fn compute(&mut self, io: EndlessIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() < FOR_EVER {
            return io.n.emit(cx.tick());
        }
        Err(Failure::msg("the flush is put off"))
    }
}

#[operator]
pub(crate) struct Eats {
    #[input]
    n: &u64,
}

impl Compute for Eats {
    fn compute(&mut self, io: EatsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.n.discard();
        Ok(())
    }
}

/// An operator that keeps the messages it receives, and stops the graph when it has `most` of them.
#[operator]
pub(crate) struct StopsAt {
    #[input]
    n: u64,
    pub(crate) got: Vec<u64>,
    most: usize,
}

impl Compute for StopsAt {
    fn compute(&mut self, io: StopsAtIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.got.push(io.n.receive().into_data());
        if self.got.len() == self.most {
            cx.stop_graph();
        }
        Ok(())
    }
}

/// Checks that the node `list` stopped the run, and that each node was flushed before.
pub(crate) fn stopped(report: &Report) -> Result<(), Failed> {
    let by = StoppedBy::StopGraph("list".to_owned());
    check_equal(&report.end, &End::Stopped { by })?;
    check(report.nodes.iter().all(|node| !node.unflushed), || report.to_string())
}

/// Defines a module of graphs. The argument is the policy of the edge from the source that never ends.
macro_rules! graphs {
    ($module:ident, [$($policy:tt)*]) => {
        mod $module {
            use super::*;

            graph! {
                pub(super) struct Apart {
                    let endless: Endless = Endless::new();
                    let eats: Eats = Eats::new();
                    #[when(count(10))] let count: Count = Count::new();
                    let sum: SumOfFour = SumOfFour::new(Vec::new());
                    let list: StopsAt = StopsAt::new(Vec::new(), 3);
                    $($policy)* endless.n >> eats.n;
                    count.n >> sum.n;
                    sum.sum >> list.n;
                }
            }
            graph! {
                pub(super) struct Row {
                    let endless: Endless = Endless::new();
                    let eats: Eats = Eats::new();
                    #[when(count(10))] let count: Count = Count::new();
                    let first: SumOfFour = SumOfFour::new(Vec::new());
                    let middle: Delay = Delay::new(Vec::new(), false, 0);
                    let last: SumOfFour = SumOfFour::new(Vec::new());
                    let list: StopsAt = StopsAt::new(Vec::new(), 1);
                    $($policy)* endless.n >> eats.n;
                    count.n >> first.n;
                    first.sum >> middle.n;
                    middle.out >> last.n;
                    last.sum >> list.n;
                }
            }
            runs!(Apart, Row);

            pub(super) fn apart() -> Result<(), Failed> {
                in_each_order(2, Apart::new, |graph, done| {
                    let report = done?;
                    check_equal(std::mem::take(&mut graph.list_mut().got), vec![6, 22, 17])?;
                    check_equal(ticks(&report, "sum"), (11, 1))?;
                    stopped(&report)
                })
            }

            pub(super) fn row() -> Result<(), Failed> {
                in_each_order(2, Row::new, |graph, done| {
                    let report = done?;
                    check_equal(std::mem::take(&mut graph.list_mut().got), vec![45])?;
                    let flushes = ["first", "middle", "last"].map(|node| ticks(&report, node));
                    check_equal(flushes, [(11, 1), (7, 4), (4, 1)])?;
                    stopped(&report)
                })
            }
        }
    };
}

graphs!(plain, []);
graphs!(popped, [#[policy(pop)]]);
graphs!(rejected, [#[policy(reject)] #[capacity(3)]]);

fn apart() -> Result<(), Failed> {
    plain::apart()?;
    popped::apart()?;
    rejected::apart()
}

fn row() -> Result<(), Failed> {
    plain::row()?;
    popped::row()?;
    rejected::row()
}

/// An operator that sends on what it receives. Its `flush` sends the number of messages that are left at the
/// input.
#[operator(flush)]
struct Left {
    #[input]
    n: u64,
    #[output]
    out: u64,
    /// The tick in which the operator ends itself.
    last: u64,
}

impl Compute for Left {
    fn compute(&mut self, io: LeftIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == self.last {
            cx.finish();
        }
        io.out.emit(io.n.receive().into_data())
    }
}

impl Flush for Left {
    fn flush(&mut self, io: LeftFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.out.emit(io.n.receive().into_data().count() as u64)?;
        Ok(Flushed::Done)
    }
}

graph! {
    struct Popped {
        let endless: Endless = Endless::new();
        let eats: Eats = Eats::new();
        #[when(count(6))] let left: Left = Left::new(u64::MAX);
        let list: StopsAt = StopsAt::new(Vec::new(), 7);
        endless.n >> eats.n;
        #[copy] #[policy(pop)] endless.n >> left.n;
        left.out >> list.n;
    }
}

graph! {
    struct Rejected {
        let endless: Endless = Endless::new();
        let eats: Eats = Eats::new();
        #[when(count(6))] let left: Left = Left::new(u64::MAX);
        let list: StopsAt = StopsAt::new(Vec::new(), 7);
        endless.n >> eats.n;
        #[copy] #[policy(reject)] endless.n >> left.n;
        left.out >> list.n;
    }
}

graph! {
    struct Finishing {
        let endless: Endless = Endless::new();
        let eats: Eats = Eats::new();
        #[when(count(10))] let count: Count = Count::new();
        let left: Left = Left::new(5);
        let list: StopsAt = StopsAt::new(Vec::new(), 7);
        endless.n >> eats.n;
        count.n >> left.n;
        left.out >> list.n;
    }
}

/// Checks that `left` is flushed after it has ended, while its source still sends to `eats` or waits for room.
/// The flush of `left` receives none of the later messages.
fn preview() -> Result<(), Failed> {
    let judge = |got: Vec<u64>, done: Result<Report, Error>| {
        let report = done?;
        check_equal((got.len(), got.last()), (7, Some(&0)))?;
        check_equal(ticks(&report, "left"), (7, 1))?;
        stopped(&report)
    };
    in_each_order(2, Popped::new, |graph, done| {
        judge(std::mem::take(&mut graph.list_mut().got), done)
    })?;
    in_each_order(2, Rejected::new, |graph, done| {
        judge(std::mem::take(&mut graph.list_mut().got), done)
    })?;
    in_each_order(2, Finishing::new, |graph, done| {
        judge(std::mem::take(&mut graph.list_mut().got), done)
    })
}

/// An operator that sends the sums of two inputs. Its `flush` sends how many sums there were.
#[operator(flush)]
struct Sums {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
    #[output]
    sum: u64,
    count: u64,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.count += 1;
        io.sum.emit(io.a.receive().into_data() + io.b.receive().into_data())
    }
}

impl Flush for Sums {
    fn flush(&mut self, io: SumsFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.a.discard();
        io.b.discard();
        io.sum.emit(std::mem::take(&mut self.count))?;
        Ok(Flushed::Done)
    }
}

graph! {
    struct Joined {
        let endless: Endless = Endless::new();
        let eats: Eats = Eats::new();
        #[when(count(5))] let count: Count = Count::new();
        let sums: Sums = Sums::new(0);
        let list: StopsAt = StopsAt::new(Vec::new(), 6);
        endless.n >> eats.n;
        #[policy(pop)] endless.n >> sums.b;
        count.n >> sums.a;
        sums.sum >> list.n;
    }
}

fn joined() -> Result<(), Failed> {
    in_each_order(2, Joined::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got).last(), Some(&5))?;
        check_equal(ticks(&report, "sums"), (6, 1))?;
        stopped(&report)
    })
}

/// An operator that sends on only the number 8, or every number but 8.
#[operator]
struct Picks {
    #[input]
    n: &u64,
    #[output]
    out: u64,
    picks_eight: bool,
}

impl Compute for Picks {
    fn compute(&mut self, io: PicksIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.n.receive().into_data();
        if (n == 8) == self.picks_eight { io.out.emit(n) } else { Ok(()) }
    }
}

graph! {
    struct Alone {
        let endless: Endless = Endless::new();
        let eats: Eats = Eats::new();
        #[when(count(9))] let count: Count = Count::new();
        let others: Picks = Picks::new(false);
        let eight: Picks = Picks::new(true);
        #[when(same_sequence)] let sums: Sums = Sums::new(0);
        let list: StopsAt = StopsAt::new(Vec::new(), 1);
        endless.n >> eats.n;
        count.n >> others.n;
        count.n >> eight.n;
        #[capacity(8)] others.out >> sums.a;
        eight.out >> sums.b;
        sums.sum >> list.n;
    }
}

/// Checks that `sums`, after its inputs have ended, drops the messages without a partner. It does so without a
/// tick.
fn alone() -> Result<(), Failed> {
    in_each_order(2, Alone::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![0])?;
        check_equal(ticks(&report, "sums"), (1, 1))?;
        stopped(&report)
    })
}

/// An operator that receives a message of `a` in each tick, together with a message of `o` if there is one.
#[operator]
struct Overlay {
    #[input]
    a: &u64,
    #[input(optional)]
    o: &u64,
}

impl Compute for Overlay {
    fn compute(&mut self, io: OverlayIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.discard();
        io.o.discard();
        Ok(())
    }
}

graph! {
    struct GivesWay {
        let endless: Endless = Endless::new();
        let eats: Eats = Eats::new();
        #[when(count(2))] let a: Count = Count::new();
        #[when(count(10))] let b: Count = Count::new();
        let overlay: Overlay = Overlay::new();
        let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: StopsAt = StopsAt::new(Vec::new(), 3);
        endless.n >> eats.n;
        a.n >> overlay.a;
        b.n >> overlay.o;
        #[copy] b.n >> sum.n;
        sum.sum >> list.n;
    }
}

/// Checks that `b` goes on after `a` has ended, although `overlay`, which receives messages of both, then runs no
/// more.
fn gives_way() -> Result<(), Failed> {
    in_each_order(2, GivesWay::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![6, 22, 17])?;
        let node = |name| ticks(&report, name);
        check_equal([node("overlay"), node("b"), node("sum")], [(2, 0), (10, 0), (11, 1)])?;
        stopped(&report)
    })
}

/// An operator whose `compute` blocks until another branch has received the messages that a node flushes.
#[operator]
struct Hangs {
    #[output]
    n: u64,
    heard: Receiver<u64>,
}

impl Compute for Hangs {
    fn compute(&mut self, io: HangsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // The limit is long enough for a machine that runs much else at the same time.
        let heard = self.heard.recv_timeout(Duration::from_secs(60));
        cx.finish();
        io.n.emit(heard.map_err(|_| Failure::msg("the flush is put off"))?)
    }
}

/// An operator that sends its last number through a channel to the hook of another branch.
#[operator]
struct Tells {
    #[input]
    n: u64,
    got: Vec<u64>,
    most: usize,
    tells: Sender<u64>,
}

impl Compute for Tells {
    fn compute(&mut self, io: TellsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push(io.n.receive().into_data());
        if self.got.len() == self.most {
            self.tells.send(7)?;
        }
        Ok(())
    }
}

graph! {
    struct BesideAHook(heard: Receiver<u64>, tells: Sender<u64>) {
        let hangs: Hangs = Hangs::new(heard);
        let eats: Eats = Eats::new();
        #[when(count(10))] let count: Count = Count::new();
        let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: Tells = Tells::new(Vec::new(), 3, tells);
        hangs.n >> eats.n;
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

/// Checks that with workers, a hook that blocks until another branch was flushed is released.
fn beside_a_hook() -> Result<(), Failed> {
    for workers in [2, 4] {
        for _ in 0..20 {
            let platform = Platform::host().clock(&Clock::simulated()).build()?;
            let (tells, heard) = channel();
            let mut graph = BesideAHook::new(&platform, heard, tells)?;
            let report = graph.workers(workers)?.run()?;
            check_equal(&graph.list().got[..], &[6, 22, 17])?;
            check_equal((ticks(&report, "sum"), ticks(&report, "eats")), ((11, 1), (1, 0)))?;
        }
    }
    Ok(())
}

graph! {
    struct AtOnce {
        #[when(periodic(Duration::from_secs(10)))] let slow: Endless = Endless::new();
        let eats: Eats = Eats::new();
        #[when(count(10))] let count: Count = Count::new();
        let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: StopsAt = StopsAt::new(Vec::new(), 3);
        slow.n >> eats.n;
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

/// Checks that `sum` is flushed before the simulated clock moves, although another branch waits for the clock.
fn at_once() -> Result<(), Failed> {
    for workers in [Workers::none(), Workers::new(2), Workers::new(4)] {
        let clock = Clock::simulated();
        let platform = Platform::host().clock(&clock).build()?;
        let mut graph = AtOnce::new(&platform)?;
        let report = graph.workers(workers)?.run()?;
        check_equal(&graph.list().got[..], &[6, 22, 17])?;
        check_equal((ticks(&report, "sum"), clock.now()), ((11, 1), Timestamp(0)))?;
        stopped(&report)?;
    }
    Ok(())
}

runs!(Popped, Rejected, Finishing, Joined, Alone, GivesWay);
