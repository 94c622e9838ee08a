//! Errors of nodes inside: they name the path of the node, and nothing is lost or left.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::{Count, List};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("an_error_inside_names_the_path", error)
        .both("a_panic_inside_names_the_path", panicked)
        .both("a_node_inside_that_is_not_made_ends_new", not_made)
        .both("a_stall_inside_names_the_paths", stalled)
        .both("a_node_inside_makes_its_operator_again", restarted)
}

/// Counts the values that were dropped.
#[derive(Debug, Clone)]
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Fails at one number, or panics at another.
#[operator]
struct Wrong {
    #[input]
    n: &u64,
    #[output]
    out: u64,
    fails_at: u64,
    panics_at: u64,
    _kept: Dropped,
}

impl Compute for Wrong {
    fn compute(&mut self, io: WrongIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.n.receive().into_data();
        assert_ne!(n, self.panics_at, "a panic on purpose");
        if n == self.fails_at {
            self.fails_at = u64::MAX;
            return Err(Failure::msg("wrong on purpose"));
        }
        io.out.emit(n)
    }
}

graph! {
    struct Inner(fails_at: u64, panics_at: u64, dropped: Dropped) {
        input n: &u64;
        output out: u64;
        let wrong: Wrong = Wrong::new(fails_at, panics_at, dropped);
        n >> wrong.n;
        wrong.out >> out;
    }
}

graph! {
    struct Middle(fails_at: u64, panics_at: u64, dropped: Dropped) {
        input n: &u64;
        output out: u64;
        let inner: Inner = Inner::new(fails_at, panics_at, dropped);
        n >> inner.n;
        inner.out >> out;
    }
}

graph! {
    struct Fails(fails_at: u64, panics_at: u64, dropped: Dropped) {
        #[when(count(4))]
        let count: Count = Count::new();
        let middle: Middle = Middle::new(fails_at, panics_at, dropped);
        let list: List = List::new(Vec::new());
        count.n >> middle.n;
        middle.out >> list.n;
    }
}

fn has(text: &str, wanted: &str) -> Result<(), Failed> {
    check(text.contains(wanted), || format!("`{wanted}` is not in:\n{text}"))
}

fn error(platform: &Platform) -> Result<(), Failed> {
    let dropped = Dropped(Arc::default());
    let mut graph = Fails::new(platform, 2, u64::MAX, dropped.clone())?;
    let error = graph.run().err().map(|error| error.to_string()).unwrap_or_default();
    has(&error, "middle.inner.wrong")?;
    has(&error, "wrong on purpose")?;
    // The graph is usable again.
    graph.run()?;
    check_equal(graph.list().got.clone(), vec![0, 1, 0, 1, 2, 3])?;
    check_equal(dropped.0.load(Ordering::Relaxed), 0)?;
    drop(graph);
    check_equal(dropped.0.load(Ordering::Relaxed), 1)
}

fn panicked(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Fails::new(platform, u64::MAX, 1, Dropped(Arc::default()))?;
    let error = graph.run().err().map(|error| error.to_string()).unwrap_or_default();
    has(&error, "middle.inner.wrong")?;
    has(&error, "a panic on purpose")
}

graph! {
    struct NotMade(count: u64, dropped: Dropped) {
        input n: &u64;
        output out: u64;
        let wrong: Wrong = Wrong::new(9, 9, dropped);
        #[when(count(count))]
        let source: Count = Count::new();
        source.n >> _;
        n >> wrong.n;
        wrong.out >> out;
    }
}

graph! {
    struct AroundNotMade(count: u64, dropped: Dropped) {
        #[when(count(4))]
        let count: Count = Count::new();
        let part: NotMade = NotMade::new(count, dropped);
        count.n >> part.n;
        part.out >> _;
    }
}

/// Checks that a node inside that can't be made ends `new` with the path of the node, and that all values are dropped once.
fn not_made(platform: &Platform) -> Result<(), Failed> {
    let dropped = Dropped(Arc::default());
    let error = AroundNotMade::new(platform, 0, dropped.clone()).err();
    has(&error.map(|error| error.to_string()).unwrap_or_default(), "part.source")?;
    check_equal(dropped.0.load(Ordering::Relaxed), 1)
}

/// Adds two numbers.
#[operator]
struct Both {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
    #[output]
    sum: u64,
}

impl Compute for Both {
    fn compute(&mut self, io: BothIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.sum.emit(io.a.receive().into_data() + io.b.receive().into_data())
    }
}

/// Sends nothing.
#[operator]
struct Silent {
    #[input]
    n: &u64,
    #[output]
    out: u64,
}

impl Compute for Silent {
    fn compute(&mut self, io: SilentIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.n.discard();
        Ok(())
    }
}

graph! {
    struct Stalls {
        input n: &u64;
        output out: u64;
        let silent: Silent = Silent::new();
        let both: Both = Both::new();
        n >> (silent.n, both.a);
        silent.out >> both.b;
        both.sum >> out;
    }
}

graph! {
    struct Stalled {
        #[when(count(4))]
        let count: Count = Count::new();
        let part: Stalls = Stalls::new();
        count.n >> part.n;
        part.out >> _;
    }
}

fn stalled(platform: &Platform) -> Result<(), Failed> {
    let error = Stalled::new(platform)?.run().err();
    let text = error.map(|error| error.to_string()).unwrap_or_default();
    has(&text, "`part.both`")?;
    has(&text, "`part.silent`")?;
    has(&text, "count.n >> part.both.a")
}

graph! {
    struct Restarts(fails_at: u64, dropped: Dropped) {
        input n: &u64;
        output out: u64;
        #[on_failure(restart(3, 1ms))]
        let wrong: Wrong = Wrong::new(fails_at, u64::MAX, dropped);
        n >> wrong.n;
        wrong.out >> out;
    }
}

graph! {
    struct Restarted(dropped: Dropped) {
        #[when(count(4))]
        let count: Count = Count::new();
        let part: Restarts = Restarts::new(2, dropped);
        let list: List = List::new(Vec::new());
        count.n >> part.n;
        part.out >> list.n;
    }
}

fn restarted(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Restarted::new(platform, Dropped(Arc::default()))?;
    graph.run()?;
    check_equal(graph.list().got.clone(), vec![0, 1, 3])
}
