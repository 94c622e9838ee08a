//! How often workers ask what follows from the end of nodes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::rc::Rc;

use crate::platform::Platform;
use crate::prelude::*;
use crate::turns::hooks;

/// Sends the number of its tick.
#[operator]
struct Counts {
    #[output]
    n: u64,
}

impl Compute for Counts {
    fn compute(&mut self, io: CountsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick())
    }
}

/// Holds numbers back until it is flushed, and sends their sum.
#[operator(flush)]
struct Sums {
    #[input]
    n: u64,
    #[output]
    sum: u64,
    #[state]
    held: u64,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.held += io.n.receive().into_data();
        Ok(())
    }
}

impl Flush for Sums {
    fn flush(&mut self, io: SumsFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.n.discard();
        io.sum.emit(std::mem::take(&mut self.held))?;
        Ok(Flushed::Done)
    }
}

/// Keeps what comes.
#[operator]
struct Keeps {
    #[input]
    n: u64,
    kept: Vec<u64>,
}

impl Compute for Keeps {
    fn compute(&mut self, io: KeepsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.kept.push(io.n.receive().into_data());
        Ok(())
    }
}

/// The ticks of the source that goes on.
const TICKS: u64 = 1000;

graph! {
    struct Beside {
        #[when(count(1))] let short: Counts = Counts::new();
        let first: Keeps = Keeps::new(Vec::new());
        #[when(count(TICKS))] let long: Counts = Counts::new();
        let sums: Sums = Sums::new();
        let last: Keeps = Keeps::new(Vec::new());
        short.n >> first.n;
        long.n >> sums.n;
        sums.sum >> last.n;
    }
}

/// Counts how often the calling thread reaches the point.
fn count(point: &'static str, counted: Rc<Cell<u64>>) {
    hooks::at(point, move || {
        counted.set(counted.get() + 1);
        count(point, counted);
    });
}

/// `sums` waits for a message after each of its ticks, and nothing follows from that while `long` goes on.
#[test]
fn a_wait_from_which_nothing_can_follow_asks_nothing() {
    let counted = Rc::new(Cell::new(0));
    count("a worker asks what follows from the end of nodes", counted.clone());
    let mut graph = Beside::new(&Platform::host().build().unwrap()).unwrap();
    let done = graph.workers(1).unwrap().run();
    hooks::clear();
    done.unwrap();
    assert_eq!(graph.last().kept, [TICKS * (TICKS - 1) / 2]);
    assert!((1..10).contains(&counted.get()), "{counted:?} questions");
}
