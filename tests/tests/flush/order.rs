//! When a `flush` begins, and the order in which nodes are flushed.

use std::cell::Cell;

use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check_equal, check_text, stalled};

use super::operators::{Count, Delay, List, SumOfFour, Tail};
use super::ticks;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::runs;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_flush_sends_tick_by_tick_with_back_pressure::host", tick_by_tick)
        .plain("nodes_in_a_row_are_flushed_one_after_the_other::host", row)
        .plain("a_join_gets_what_a_node_before_it_flushes::host", joined)
        .plain("a_node_is_not_flushed_in_a_run_that_has_stalled_before_it::host", not_early)
        .plain("a_feedback_edge_holds_up_no_flush::host", around)
        .plain(
            "a_flush_of_a_node_that_has_ended_gets_nothing_of_a_source_that_goes_on::host",
            ended,
        )
        .plain("a_long_flush_of_a_node_behind_an_endless_source_is_not_cut_off::host", for_nobody)
        .plain("what_a_flush_sends_goes_on_with_the_numbers_of_the_last_tick::host", paired)
        .plain("a_flush_that_finds_no_room_stalls_the_run::host", no_room)
}

graph! {
    struct Delayed(pauses: bool) {
        #[when(count(10))] let count: Count = Count::new();
        let delay: Delay = Delay::new(Vec::new(), pauses, 0);
        let list: List = List::new(Vec::new());
        count.n >> delay.n;
        delay.out >> list.n;
    }
}

graph! {
    struct Row {
        #[when(count(10))] let count: Count = Count::new();
        let first: SumOfFour = SumOfFour::new(Vec::new());
        let middle: Delay = Delay::new(Vec::new(), false, 0);
        let last: SumOfFour = SumOfFour::new(Vec::new());
        let list: List = List::new(Vec::new());
        count.n >> first.n;
        first.sum >> middle.n;
        middle.out >> last.n;
        last.sum >> list.n;
    }
}

/// The number of messages that `Tail` flushes. A scheduler lets such a node send fewer before it looks whether
/// any node can receive them.
const TAIL: u64 = 600;

graph! {
    struct ForNobody {
        let count: Count = Count::new();
        let tail: Tail = Tail::new(TAIL);
        #[when(count(5))] let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: List = List::new(Vec::new());
        count.n >> tail.n;
        #[policy(pop)] tail.out >> sum.n;
        sum.sum >> list.n;
    }
}

graph! {
    struct Ended {
        let count: Count = Count::new();
        #[when(count(5))] let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: List = List::new(Vec::new());
        #[capacity(4)] #[policy(pop)] count.n >> sum.n;
        sum.sum >> list.n;
    }
}

/// A sink that receives a number, and a sum with the same sequence number.
#[operator]
struct Pairs {
    #[input]
    n: u64,
    #[input]
    sum: u64,
    got: Vec<(u64, u64)>,
}

impl Compute for Pairs {
    fn compute(&mut self, io: PairsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push((io.n.receive().into_data(), io.sum.receive().into_data()));
        Ok(())
    }
}

graph! {
    struct Paired {
        #[when(count(10))] let count: Count = Count::new();
        let sum: SumOfFour = SumOfFour::new(Vec::new());
        #[when(same_sequence)] let pairs: Pairs = Pairs::new(Vec::new());
        #[capacity(8)] #[copy] count.n >> pairs.n;
        #[copy] count.n >> sum.n;
        sum.sum >> pairs.sum;
    }
}
runs!(Delayed, Row, Joined, Early, Around, NoRoom, ForNobody, Ended, Paired);

/// Checks that the flush of `Tail`, whose messages no node receives, is not cut off, and that the flush of `sum`
/// begins after it.
fn for_nobody() -> Result<(), Failed> {
    in_each_order(2, ForNobody::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got).len(), 2)?;
        check_equal(ticks(&report, "sum"), (6, 1))?;
        check_equal(ticks(&report, "tail").1, TAIL)
    })
}

/// Checks a node behind an edge that drops messages, whose source goes on. The flush of the node sends only the
/// numbers that the node has held.
fn ended() -> Result<(), Failed> {
    in_each_order(2, Ended::new, |graph, done| {
        let report = done?;
        let got = std::mem::take(&mut graph.list_mut().got);
        // The edge's policy decides which five numbers arrive. The fifth of them is the only one left for the flush.
        check_equal(got.len(), 2)?;
        check_equal(ticks(&report, "sum"), (6, 1))
    })
}

/// Checks that the sum of the last two numbers has the sequence number of the last one.
fn paired() -> Result<(), Failed> {
    in_each_order(2, Paired::new, |graph, done| {
        done?;
        let got = std::mem::take(&mut graph.pairs_mut().got);
        check_equal(got, vec![(3, 6), (7, 22), (9, 17)])
    })
}

/// Checks a flush over an edge with room for one message, so that each tick of `flush` waits for a tick of the
/// list.
fn tick_by_tick() -> Result<(), Failed> {
    for pauses in [false, true] {
        let flushes = if pauses { 21 } else { 11 };
        in_each_order(
            2,
            |platform| Delayed::new(platform, pauses),
            |graph, done| {
                let report = done?;
                check_equal(std::mem::take(&mut graph.list_mut().got), (0..10).collect())?;
                check_equal(std::mem::take(&mut graph.delay_mut().flushes), flushes)?;
                check_equal(ticks(&report, "delay"), (10 + flushes, flushes))?;
                check_equal(report.dropped.len(), 0)
            },
        )?;
    }
    Ok(())
}

/// Checks a chain of nodes with `flush`. The last node adds up the messages that the nodes before have flushed,
/// and is flushed after them.
fn row() -> Result<(), Failed> {
    in_each_order(2, Row::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![45])?;
        let flushes = ["first", "middle", "last"].map(|node| ticks(&report, node));
        check_equal(flushes, [(11, 1), (7, 4), (4, 1)])
    })
}

/// An operator that adds two numbers.
#[operator]
struct Add {
    #[input]
    a: u64,
    #[input]
    b: u64,
    #[output]
    sum: u64,
}

impl Compute for Add {
    fn compute(&mut self, io: AddIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.sum.emit(io.a.receive().into_data() + io.b.receive().into_data())
    }
}

graph! {
    struct Joined {
        #[when(count(10))] let count: Count = Count::new();
        #[when(count(10))] let other: Count = Count::new();
        let delay: Delay = Delay::new(Vec::new(), false, 0);
        let add: Add = Add::new();
        let list: List = List::new(Vec::new());
        count.n >> delay.n;
        delay.out >> add.a;
        other.n >> add.b;
        add.sum >> list.n;
    }
}

graph! {
    struct Early {
        #[when(count(10))] let count: Count = Count::new();
        let sum: SumOfFour = SumOfFour::new(Vec::new());
        let add: Add = Add::new();
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> add.a;
        #[copy] count.n >> add.b;
        add.sum >> list.n;
    }
}

/// Checks a flush that begins while `other` waits for room and `add` for a message.
fn joined() -> Result<(), Failed> {
    in_each_order(2, Joined::new, |graph, done| {
        done?;
        let sums: Vec<u64> = (0..10).map(|n| 2 * n).collect();
        check_equal(std::mem::take(&mut graph.list_mut().got), sums)
    })
}

/// Checks that `sum` is not flushed while its source is only blocked by the full edge to `add`, and has not
/// ended. A flush would send a sum of too few numbers.
fn not_early() -> Result<(), Failed> {
    in_each_order(2, Early::new, |graph, done| {
        let text = stalled(done)?;
        check_text(&text, &["`count`, after 1 of 10 ticks, waits for room in `count.n >> add.b`"])?;
        graph.sum_mut().held.clear();
        check_equal(graph.list().got.len(), 0)
    })
}

/// An operator that adds up numbers over a feedback edge, and whose `flush` sends the total to the list.
#[operator(flush)]
struct Total {
    #[input]
    n: u64,
    #[input]
    before: u64,
    #[output]
    total: u64,
    #[output]
    out: u64,
    so_far: u64,
    begins_anew: bool,
}

impl Compute for Total {
    fn compute(&mut self, io: TotalIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.so_far = io.n.receive().into_data() + io.before.receive().into_data();
        io.total.emit(self.so_far)
    }
}

impl Flush for Total {
    fn flush(&mut self, io: TotalFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        if self.begins_anew {
            io.before.discard();
            io.total.emit(0)?;
        }
        io.out.emit(self.so_far)?;
        Ok(Flushed::Done)
    }
}

graph! {
    struct Around(begins_anew: bool) {
        #[when(count(4))] let count: Count = Count::new();
        let total: Total = Total::new(0, begins_anew);
        let list: List = List::new(Vec::new());
        count.n >> total.n;
        #[feedback(initial = 0)] total.total >> total.before;
        total.out >> list.n;
    }
}

/// Checks that a run begins with the total of the run before, or with the message that `flush` has put in its
/// place.
fn around() -> Result<(), Failed> {
    for begins_anew in [false, true] {
        let runs = Cell::new(0);
        in_each_order(
            2,
            |platform| {
                runs.set(0);
                Around::new(platform, begins_anew)
            },
            |graph, done| {
                let report = done?;
                runs.set(runs.get() + 1);
                let total = if begins_anew { 6 } else { 6 * runs.get() };
                check_equal(std::mem::take(&mut graph.list_mut().got), vec![total])?;
                check_equal((ticks(&report, "total"), report.dropped.len()), ((5, 1), 0))
            },
        )?;
    }
    Ok(())
}

graph! {
    struct NoRoom {
        #[when(count(10))] let count: Count = Count::new();
        let delay: Delay = Delay::new(Vec::new(), false, 0);
        #[when(count(3))] let list: List = List::new(Vec::new());
        count.n >> delay.n;
        delay.out >> list.n;
    }
}

fn no_room() -> Result<(), Failed> {
    in_each_order(2, NoRoom::new, |graph, done| {
        let text = stalled(done)?;
        let parts = [
            "`delay`, after 14 ticks, has more to flush, and waits for room in `delay.out >> list.n`",
            "→ `list` is done: its `count` of 3 is reached",
        ];
        check_text(&text, &parts)?;
        *graph.delay_mut() = Delay::new(Vec::new(), false, 0);
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![0, 1, 2])
    })
}
