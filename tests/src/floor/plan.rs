//! The waits and records of a task graph that is wired by hand.
//!
//! Each task has two buffers, which its ticks use alternately. A task waits for the tasks whose output it reads, and for
//! the tasks that read, two ticks ago, the buffer that it writes now. A wait that another wait implies is left out, as an
//! expert would do.

use std::collections::VecDeque;

/// How many buffers and events each task has. Its ticks use them in rotation.
pub const SLOTS: usize = 2;

/// After this many ticks, the waits of a tick are always the same. The waits of the last of these ticks are the plan.
const TICKS: usize = 8;

/// The waits of each task, and the tasks that must record an event. They are the same in every tick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The stream of each task.
    pub streams: Vec<usize>,
    /// For each task, the tasks whose event it waits for. The event of an earlier task is that of this tick. The event of
    /// a later task was recorded two ticks ago, in the same slot.
    pub waits: Vec<Vec<usize>>,
    /// For each task, whether it records an event.
    pub records: Vec<bool>,
}

/// A task in a tick: the tick's number and the task's number. Later ones compare as greater.
type Run = (usize, usize);

/// For each stream, how many of its tasks are known to be done.
type Done = Vec<usize>;

/// The order of the tasks so far, tick after tick.
struct Order<'a> {
    reads: &'a [Vec<usize>],
    streams: &'a [usize],
    readers: Vec<Vec<usize>>,
    /// For each task, how many tasks of its own stream are done when it is, itself included.
    on_stream: Vec<usize>,
    place: Vec<usize>,
    /// For each stream, the tasks that precede its next task.
    next: Vec<Done>,
    /// For each task of the last ticks, the tasks that are done when it is. The newest tick comes first.
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

    /// Returns the tasks that a task must come after, the latest first.
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

    /// Orders the next task of a stream after another task.
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
    /// Computes the plan with the fewest waits. Each task considers its latest predecessors first, since an earlier wait
    /// never implies a later one.
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

    /// Returns how many streams the plan has.
    pub fn stream_count(&self) -> usize {
        self.streams.iter().max().map_or(0, |last| last + 1)
    }

    /// Returns a task that the plan does not order after all its predecessors, if there is one. This check does not use
    /// the rules by which the plan was made.
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
                        // The other task's event has never been recorded, and CUDA does not wait for such an event.
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
                // Only every seventh task is tried, since each one takes seconds.
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
