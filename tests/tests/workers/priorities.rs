//! Operators on threads with a real-time priority.

use std::fs;

use streamflow::prelude::*;
use streamflow::schedule::{Priority, Worker, Workers};
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::{Failed, Suite, check, check_equal};

pub(super) fn add_to(suite: Suite) -> Suite {
    suite.both("the_nodes_of_a_worker_have_its_priority", priorities)
}

const TICKS: u64 = 10;

#[operator]
struct Tx {
    #[output]
    number: u64,
}

impl Compute for Tx {
    fn compute(&mut self, io: TxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

/// An operator that notes the priority of its thread, and the number of the thread's policy.
#[operator]
struct Rx {
    #[input]
    number: u64,
    seen: Seen<(u64, [u64; 2])>,
}

impl Compute for Rx {
    fn compute(&mut self, io: RxIo<'_>, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, (io.number.receive().into_data(), of_this_thread()?));
        Ok(())
    }
}

/// Returns the fields 40 and 41 of proc(5) for this thread: the real-time priority, and the number of the policy.
fn of_this_thread() -> Result<[u64; 2]> {
    if !cfg!(target_os = "linux") {
        return Ok([0; 2]);
    }
    let stat = fs::read_to_string("/proc/thread-self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or_else(|| Failure::msg("no name in `stat`"))?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Ok([fields[37].parse()?, fields[38].parse()?])
}

graph! {
    struct Realtime(seen: Seen<(u64, [u64; 2])>) {
        #[when(count(TICKS))]
        let tx: Tx = Tx::new();
        #[worker(realtime)]
        let rx: Rx = Rx::new(seen);
        tx.number >> rx.number;
    }
}

/// Checks that each node of a worker runs with the worker's priority, where the system permits it. Elsewhere the
/// run is an error before any hook is called.
fn priorities(platform: &Platform) -> Result<(), Failed> {
    for (priority, expected) in
        [(Priority::Fifo(1), Some([1, 1])), (Priority::RoundRobin(2), Some([2, 2]))]
    {
        run(platform, Worker::new().priority(priority), expected)?;
    }
    // The control: a worker without a priority has the priority of the caller.
    run(platform, Worker::new(), None)?;
    let mut graph = Realtime::new(platform, Seen::default())?;
    let beyond = Workers::new(1).worker("realtime", Worker::new().priority(Priority::Fifo(100)));
    check(matches!(graph.workers(beyond), Err(Error::Workers { .. })), || "priority 100".into())
}

fn run(platform: &Platform, options: Worker, expected: Option<[u64; 2]>) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Realtime::new(platform, seen.clone())?;
    let done = graph.workers(Workers::new(1).worker("realtime", options))?.run();
    match done {
        Err(error @ Error::WorkerThread { .. }) => {
            let text = error.to_string();
            check(text.contains("worker `realtime`") && text.contains("priority"), || text)?;
            check_equal(all(&seen), vec![])
        }
        done => {
            done?;
            let expected = expected.map_or_else(of_this_thread, Ok)?;
            check_equal(all(&seen), (0..TICKS).map(|number| (number, expected)).collect())
        }
    }
}
