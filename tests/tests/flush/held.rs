//! A node that one worker is running while another worker finds out what follows from nodes that have ended.

use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::testing::Explorer;
use streamflow_tests::relays::Pass;
use streamflow_tests::{Failed, Suite, check_equal};

use super::meanwhile::{StopsAt, stopped};
use super::operators::Tail;
use super::ticks;

pub(crate) fn add(suite: Suite) -> Suite {
    suite.plain("a_node_that_is_held_during_a_question_is_flushed::host", held)
}

/// The number of ticks after which a source takes a missing flush for one that never comes. No seed's order needs
/// as many before the flush begins.
const FOR_EVER: u64 = 30_000;

/// A source that is always ready, and fails if the flush does not come.
#[operator]
struct Busy {
    #[output]
    n: u64,
}

impl Compute for Busy {
    fn compute(&mut self, io: BusyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == FOR_EVER {
            return Err(Failure::msg("the flush of `tail` never begins"));
        }
        io.n.emit(cx.tick())
    }
}

/// A source that sends nothing, and ends itself in its second tick.
#[operator]
struct Silent {
    #[output]
    n: u64,
}

impl Compute for Silent {
    fn compute(&mut self, _: SilentIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 1 {
            cx.finish();
        }
        Ok(())
    }
}

graph! {
    struct Held {
        let left: Busy = Busy::new();
        let right: Busy = Busy::new();
        let source: Silent = Silent::new();
        let a: Pass = Pass::new();
        let b: Pass = Pass::new();
        let c: Pass = Pass::new();
        let d: Pass = Pass::new();
        let tail: Tail = Tail::new(1);
        let list: StopsAt = StopsAt::new(Vec::new(), 1);
        left.n >> _;
        right.n >> _;
        source.n >> a.i;
        a.o >> b.i;
        b.o >> c.i;
        c.o >> d.i;
        d.o >> tail.n;
        tail.out >> list.n;
    }
}

/// A worker looks at a node on the way to `tail` before `source` has ended, so it asks nothing afterwards. Before it gives the node
/// back, the other worker looks at `source`, which ends, and at the nodes behind it: each time it asks, and the node is held. The
/// node is looked at once more for that question. No other look asks, since `left` and `right` are ready at each of theirs.
fn held() -> Result<(), Failed> {
    let found = Explorer::new().seeds(64).run(|platform| {
        let mut graph = Held::new(platform)?;
        let report = graph.workers(Workers::new(2))?.run()?;
        check_equal(&graph.list().got[..], &[0])?;
        check_equal(ticks(&report, "tail"), (1, 1))?;
        stopped(&report)
    })?;
    Ok(found.check()?)
}
