//! The messages that `flush` receives at its inputs.

use std::time::Duration;

use streamflow::port::Many;
use streamflow::prelude::*;
use streamflow::schedule::DropReason;
use streamflow_tests::{Failed, Suite, check_equal, check_text, stalled};

use super::operators::{Count, List};
use super::ticks;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::runs;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_batch_that_is_not_full_comes_to_flush::host", batch)
        .plain("what_flush_leaves_at_an_input_stalls_the_run::host", ignored)
        .plain("the_rest_of_one_input_comes_to_flush::host", unpaired)
        .plain("flush_gets_each_message_of_several_edges_in_their_order::host", several)
        .plain("flush_lets_no_producer_go_on::host", goes_on)
        .plain("an_edge_beside_one_whose_producer_waits_for_room_comes_to_flush::host", beside)
}

/// An operator that sends the sums of batches of four. Its `flush` receives the last, smaller batch.
#[operator(flush)]
struct Batches {
    #[input]
    n: u64,
    #[output]
    sum: u64,
    takes_rest: bool,
}

impl Compute for Batches {
    fn compute(&mut self, io: BatchesIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.sum.emit(io.n.receive_batch(4).into_data().sum())
    }
}

impl Flush for Batches {
    fn flush(&mut self, io: BatchesFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        if self.takes_rest {
            io.sum.emit(io.n.receive().into_data().sum())?;
        }
        Ok(Flushed::Done)
    }
}

graph! {
    struct Batched(takes_rest: bool) {
        #[when(count(10))] let count: Count = Count::new();
        #[when(message_available(n, 4))] let sum: Batches = Batches::new(takes_rest);
        let list: List = List::new(Vec::new());
        #[capacity(4)] count.n >> sum.n;
        sum.sum >> list.n;
    }
}
runs!(Batched, Unpaired, Several, GoesOn, Beside);

fn batch() -> Result<(), Failed> {
    in_each_order(
        2,
        |platform| Batched::new(platform, true),
        |graph, done| {
            let report = done?;
            check_equal(std::mem::take(&mut graph.list_mut().got), vec![6, 22, 17])?;
            check_equal((ticks(&report, "sum"), report.dropped.len()), ((3, 1), 0))
        },
    )
}

fn ignored() -> Result<(), Failed> {
    in_each_order(
        2,
        |platform| Batched::new(platform, false),
        |_, done| {
            let text = stalled(done)?;
            let has = "`sum`, after 3 ticks, was flushed, and has the message of `count.n >> sum.n`, but waits for";
            check_text(&text, &[has, "condition `message_available(n, 4)`"])
        },
    )
}

/// An operator that sends sums of pairs. Its `flush` sends the numbers without a partner, one in each tick.
#[operator(flush)]
struct Pairs {
    #[input]
    a: &u64,
    #[input]
    b: Shared<u64>,
    #[input(optional)]
    c: &u64,
    #[output]
    sum: u64,
    rest: Vec<u64>,
}

impl Compute for Pairs {
    fn compute(&mut self, io: PairsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.c.discard();
        io.sum.emit(io.a.receive().into_data() + *io.b.receive().into_data())
    }
}

impl Flush for Pairs {
    fn flush(&mut self, io: PairsFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        let a: Many<'_, &u64> = io.a.receive().into_data();
        self.rest.extend(a);
        self.rest.extend(io.b.receive().into_data().map(|b: Shared<u64>| *b));
        io.c.discard();
        match self.rest.len() {
            0 => return Ok(Flushed::Done),
            _ => io.sum.emit(self.rest.remove(0))?,
        }
        Ok(Flushed::More)
    }
}

graph! {
    struct Unpaired {
        #[when(count(8))] let a: Count = Count::new();
        #[when(count(5))] let b: Count = Count::new();
        let pairs: Pairs = Pairs::new(Vec::new());
        let list: List = List::new(Vec::new());
        #[capacity(4)] a.n >> pairs.a;
        b.n >> pairs.b;
        pairs.sum >> list.n;
    }
}

graph! {
    struct GoesOn {
        let a: Count = Count::new();
        let b: FinishesAtOnce = FinishesAtOnce::new();
        let pairs: Pairs = Pairs::new(Vec::new());
        let list: List = List::new(Vec::new());
        #[capacity(2)] a.n >> pairs.a;
        b.n >> pairs.b;
        pairs.sum >> list.n;
    }
}

fn unpaired() -> Result<(), Failed> {
    in_each_order(2, Unpaired::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![0, 2, 4, 6, 8, 5, 6, 7])?;
        check_equal((ticks(&report, "pairs"), report.dropped.len()), ((9, 4), 0))
    })
}

/// A source that sends a message and ends itself in its first tick.
#[operator]
struct FinishesAtOnce {
    #[output]
    n: u64,
}

impl Compute for FinishesAtOnce {
    fn compute(&mut self, io: FinishesAtOnceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.finish();
        io.n.emit(100)
    }
}

/// Checks that two waiting messages of a source without an end are not flushed. If `flush` took them, the source
/// would have room for more, and the flush would never end.
fn goes_on() -> Result<(), Failed> {
    in_each_order(2, GoesOn::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![100])?;
        let dropped: Vec<_> =
            report.dropped.iter().map(|of| (of.edge, of.messages, of.reason)).collect();
        check_equal(dropped, vec![("a.n >> pairs.a", 2, DropReason::RunEnded)])?;
        check_equal([ticks(&report, "a"), ticks(&report, "pairs")], [(3, 0), (2, 1)])
    })
}

/// An operator that holds what it receives, and sends each message of it in a tick of `flush`.
#[operator(flush)]
struct Merge {
    #[input(many)]
    all: u64,
    #[output]
    n: u64,
    held: Vec<u64>,
    /// Whether the operator ends itself in its first tick.
    finishes: bool,
}

impl Compute for Merge {
    fn compute(&mut self, io: MergeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if self.finishes {
            cx.finish();
        }
        self.held.extend(io.all.receive().into_data());
        Ok(())
    }
}

impl Flush for Merge {
    fn flush(&mut self, io: MergeFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        self.held.extend(io.all.receive().into_data());
        if self.held.is_empty() {
            return Ok(Flushed::Done);
        }
        io.n.emit(self.held.remove(0))?;
        Ok(Flushed::More)
    }
}

graph! {
    struct Several {
        #[when(count(4))] let a: Count = Count::new();
        #[when(count(1), periodic(Duration::from_millis(1)))] let b: Count = Count::new();
        #[when(count(3))] let c: Count = Count::new();
        let merge: Merge = Merge::new(Vec::new(), false);
        let list: List = List::new(Vec::new());
        #[capacity(4)] a.n >> merge.all;
        b.n >> merge.all;
        #[capacity(4)] c.n >> merge.all;
        merge.n >> list.n;
    }
}

/// Checks an input of several edges. A tick of `compute` takes one message of each edge, so three messages of `a`
/// and two of `c` are left for `flush`.
fn several() -> Result<(), Failed> {
    in_each_order(2, Several::new, |graph, done| {
        done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![0, 0, 0, 1, 2, 3, 1, 2])
    })
}

graph! {
    struct Beside {
        let endless: Count = Count::new();
        #[when(count(3))] let counted: Count = Count::new();
        let merge: Merge = Merge::new(Vec::new(), true);
        let list: List = List::new(Vec::new());
        #[capacity(2)] endless.n >> merge.all;
        #[capacity(4)] counted.n >> merge.all;
        merge.n >> list.n;
    }
}

/// Checks a node that ends itself while one of its sources goes on. `endless` would send more if it had room, so
/// its messages are not flushed. The messages of `counted` are.
fn beside() -> Result<(), Failed> {
    in_each_order(2, Beside::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![0, 0, 1, 2])?;
        let dropped: Vec<_> =
            report.dropped.iter().map(|of| (of.edge, of.messages, of.reason)).collect();
        check_equal(dropped, vec![("endless.n >> merge.all", 2, DropReason::RunEnded)])
    })
}
