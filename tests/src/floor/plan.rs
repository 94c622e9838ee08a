//! The waits and records of a task graph that is wired by hand.
//!
//! Each task has two buffers, for ticks in turn. A task waits for the tasks that it reads from, and for the tasks that
//! have read, two ticks ago, the buffer that it writes now. A wait that another implies is left out, as an expert
//! would.

use std::collections::VecDeque;

/// The number of buffers and of events of each task. Ticks use them in turn.
pub const SLOTS: usize = 2;

/// Ticks after which the waits of a tick are always the same. The last of them is the plan.
const TICKS: usize = 8;

/// The waits of each task, and the tasks that are waited for, in every tick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The stream of each task.
    pub streams: Vec<usize>,
    /// The tasks with an event that a task waits for. An earlier task's event is that of this tick, and a later task's
    /// event was recorded two ticks ago. Both events are in the slot of this tick.
    pub waits: Vec<Vec<usize>>,
    /// Whether a task records an event.
    pub records: Vec<bool>,
}

/// A task in a tick. Later ones are greater.
type Run = (usize, usize);

/// For each stream, how many of its tasks are done.
type Done = Vec<usize>;

/// The order of tasks, tick after tick.
struct Order<'a> {
    reads: &'a [Vec<usize>],
    streams: &'a [usize],
    readers: Vec<Vec<usize>>,
    /// The tasks on each stream, and how many of its own stream come up to and with a task.
    on_stream: Vec<usize>,
    place: Vec<usize>,
    /// The tasks before each stream's next task.
    next: Vec<Done>,
    /// The tasks before the end of each task of the last ticks, the newest tick first.
    after: VecDeque<Vec<Done>>,
    tick: usize,
}

impl<'a> Order<'a> {
    fn new(reads: &'a [Vec<usize>], streams: &'a [usize]) -> Self {
        let mut readers = vec![Vec::new(); reads.len()];
        for (task, reads) in reads.iter().enumerate() {
            reads.iter().for_each(|read| readers[*read].push(task));
        }
        let count = streams.iter().max().map_or(0, |last| last + 1);
        let mut on_stream = vec![0; count];
        let place = |stream: &usize| {
            on_stream[*stream] += 1;
            on_stream[*stream]
        };
        let place = streams.iter().map(place).collect();
        let next = vec![vec![0; count]; count];
        Self { reads, streams, readers, on_stream, place, next, after: VecDeque::new(), tick: 0 }
    }

    /// The tasks that a task must come after, the latest first.
    fn needs(&self, task: usize) -> Vec<Run> {
        let mut needs: Vec<Run> = self.reads[task].iter().map(|read| (self.tick, *read)).collect();
        if let Some(before) = self.tick.checked_sub(SLOTS) {
            needs.extend(self.readers[task].iter().map(|reader| (before, *reader)));
        }
        needs.sort_unstable_by(|a, b| b.cmp(a));
        needs
    }

    fn is_done(&self, done: &Done, (tick, task): Run) -> bool {
        let stream = self.streams[task];
        done[stream] >= tick * self.on_stream[stream] + self.place[task]
    }

    fn begin_tick(&mut self) {
        self.after.truncate(SLOTS);
        self.after.push_front(Vec::new());
    }

    /// Orders the next task of a stream after another one.
    fn wait(&mut self, stream: usize, (tick, task): Run) {
        let after = &self.after[self.tick - tick][task];
        for (own, other) in self.next[stream].iter_mut().zip(after) {
            *own = (*own).max(*other);
        }
    }

    fn finish(&mut self, task: usize) {
        let stream = self.streams[task];
        self.next[stream][stream] = self.tick * self.on_stream[stream] + self.place[task];
        self.after[0].push(self.next[stream].clone());
    }
}

impl Plan {
    /// The fewest waits: the latest come first, since no earlier one implies a later one.
    pub fn new(reads: &[Vec<usize>], streams: Vec<usize>) -> Self {
        let mut order = Order::new(reads, &streams);
        let mut waits = Vec::new();
        for tick in 0..TICKS {
            order.tick = tick;
            order.begin_tick();
            waits = vec![Vec::new(); reads.len()];
            for (task, waits) in waits.iter_mut().enumerate() {
                let stream = streams[task];
                for need in order.needs(task) {
                    if !order.is_done(&order.next[stream], need) {
                        order.wait(stream, need);
                        waits.push(need.1);
                    }
                }
                order.finish(task);
            }
        }
        let mut records = vec![false; reads.len()];
        waits.iter().flatten().for_each(|task| records[*task] = true);
        Self { streams, waits, records }
    }

    /// The number of streams.
    pub fn stream_count(&self) -> usize {
        self.streams.iter().max().map_or(0, |last| last + 1)
    }

    /// Returns a task that the plan does not order after all its predecessors, if there is one. This check of a plan
    /// goes by other rules than those that made the plan.
    pub fn unordered(&self, reads: &[Vec<usize>]) -> Option<usize> {
        let mut order = Order::new(reads, &self.streams);
        for tick in 0..TICKS {
            order.tick = tick;
            order.begin_tick();
            for task in 0..reads.len() {
                let stream = self.streams[task];
                for &other in &self.waits[task] {
                    match (other < task, tick.checked_sub(SLOTS)) {
                        (true, _) => order.wait(stream, (tick, other)),
                        (false, Some(before)) => order.wait(stream, (before, other)),
                        // The other task's event was never recorded, and CUDA does not wait for such an event.
                        (false, None) => {}
                    }
                }
                let needs = order.needs(task);
                if needs.into_iter().any(|need| !order.is_done(&order.next[stream], need)) {
                    return Some(task);
                }
                order.finish(task);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::patterns::PATTERNS;
    use super::super::tasks::{Layout, TaskGraph};
    use super::*;

    const LAYOUTS: [Layout; 3] = [Layout::ByTask, Layout::ByColumn, Layout::OneStream];

    fn graphs() -> Vec<TaskGraph> {
        let mut graphs = vec![TaskGraph::chain(16), TaskGraph::fan(64)];
        graphs.extend(PATTERNS.map(TaskGraph::pattern));
        graphs
    }

    #[test]
    fn a_plan_orders_all_that_must_be() {
        for graph in graphs() {
            for layout in LAYOUTS {
                let plan = Plan::new(&graph.reads, graph.streams(layout));
                assert_eq!(plan.unordered(&graph.reads), None, "{layout:?} {graph:?}");
            }
        }
    }

    #[test]
    fn each_wait_is_needed() {
        for graph in graphs() {
            for layout in LAYOUTS {
                let plan = Plan::new(&graph.reads, graph.streams(layout));
                // A sample: each one takes seconds.
                for task in (0..graph.len()).step_by(7) {
                    for wait in 0..plan.waits[task].len() {
                        let mut wrong = plan.clone();
                        wrong.waits[task].remove(wait);
                        let found = wrong.unordered(&graph.reads);
                        assert!(
                            found.is_some(),
                            "wait {wait} of task {task}, {layout:?} {graph:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn one_stream_needs_no_wait() {
        for graph in graphs() {
            let plan = Plan::new(&graph.reads, graph.streams(Layout::OneStream));
            assert!(plan.waits.iter().all(Vec::is_empty), "{graph:?}");
        }
    }
}
