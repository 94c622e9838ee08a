//! Task graphs as lists: for each task, the tasks that it reads. Also the values that each task must make.

use super::kernels::{ELEMENTS, absorb_on_host, begin_on_host, take_on_host};
use super::patterns::{self, STEPS};
use crate::kernels::mixing::step;

/// Which stream each task of a program by hand uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Each task has its own stream, as an operator does.
    ByTask,
    /// All tasks of a column share a stream.
    ByColumn,
    /// All tasks share one stream.
    OneStream,
}

/// The tasks of a tick, producers before consumers.
#[derive(Debug, Clone, Default)]
pub struct TaskGraph {
    /// For each task, the tasks whose output it reads, in the order of its inputs.
    pub reads: Vec<Vec<usize>>,
    /// The column of each task.
    pub columns: Vec<usize>,
    /// The task that only passes on its inputs, without a kernel; `None` if each task has kernels.
    pub sink: Option<usize>,
    /// The tasks whose numbers are compared, in the order of their downloads.
    pub results: Vec<usize>,
}

/// Returns the tag of a task: a number by which its results differ from those of other tasks.
pub fn tag(task: usize) -> u32 {
    step(0x9e37_79b9, task as u32 + 1)
}

impl TaskGraph {
    /// Makes a chain: a task that reads nothing, tasks that each read the task before, and a sink.
    pub fn chain(tasks: usize) -> Self {
        let reads = (0..tasks).map(|task| task.checked_sub(1).into_iter().collect()).collect();
        Self::new(reads, vec![0; tasks], Some(tasks - 1))
    }

    /// Makes a fan: one task, and `ends` tasks that read its numbers.
    pub fn fan(ends: usize) -> Self {
        let reads = [vec![]].into_iter().chain((0..ends).map(|_| vec![0])).collect();
        Self::new(reads, (0..=ends).collect(), None)
    }

    /// Makes a pattern of Task Bench. The sink reads the last step. In a pattern where no step reads another, the sink
    /// reads all tasks.
    pub fn pattern(name: &str) -> Self {
        let (mut reads, mut columns) = (Vec::<Vec<usize>>::new(), Vec::new());
        let mut before = 0;
        for step in 0..STEPS {
            let first = reads.len();
            for column in 0..patterns::width(name, step) {
                let read = patterns::dependencies(name, step, column);
                reads.push(read.into_iter().map(|column| before + column).collect());
                columns.push(column);
            }
            before = first;
        }
        let last = if name == "trivial" { 0 } else { before };
        let sink = reads.len();
        reads.push((last..sink).collect());
        columns.push(patterns::COLUMNS);
        Self::new(reads, columns, Some(sink))
    }

    fn new(reads: Vec<Vec<usize>>, columns: Vec<usize>, sink: Option<usize>) -> Self {
        let results = match sink {
            Some(sink) => reads[sink].clone(),
            None => (1..reads.len()).collect(),
        };
        Self { reads, columns, sink, results }
    }

    /// Returns the same tasks, each reading only its first input. The sink still reads all its inputs.
    pub fn of_first_reads(&self) -> Self {
        let mut graph = self.clone();
        for (task, reads) in graph.reads.iter_mut().enumerate() {
            if self.sink != Some(task) {
                reads.truncate(1);
            }
        }
        graph
    }

    /// Returns how many tasks there are.
    pub fn len(&self) -> usize {
        self.reads.len()
    }

    /// Whether there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// Returns the stream of each task.
    pub fn streams(&self, layout: Layout) -> Vec<usize> {
        match layout {
            Layout::ByTask => (0..self.len()).collect(),
            Layout::ByColumn => self.columns.clone(),
            Layout::OneStream => vec![0; self.len()],
        }
    }

    /// Returns the expected numbers of each result in a tick. `salt` is the number that tasks without inputs combine with
    /// their tags by `^`.
    pub fn expected(&self, salt: u32) -> Vec<[u32; ELEMENTS]> {
        let mut made: Vec<[u32; ELEMENTS]> = Vec::new();
        for (task, reads) in self.reads.iter().enumerate() {
            let mut out = [0; ELEMENTS];
            match reads.split_first() {
                _ if self.sink == Some(task) => {}
                None => begin_on_host(&mut out, tag(task) ^ salt),
                Some((first, others)) => {
                    take_on_host(&mut out, &made[*first], tag(task));
                    others
                        .iter()
                        .for_each(|other| absorb_on_host(&mut out, &made[*other], tag(task)));
                }
            }
            made.push(out);
        }
        self.results.iter().map(|task| made[*task]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::patterns::{COLUMNS, PATTERNS};
    use super::*;

    #[test]
    fn patterns_have_their_tasks() {
        let sizes = PATTERNS.map(|name| TaskGraph::pattern(name).len());
        let full = COLUMNS * STEPS + 1;
        assert_eq!(sizes, [full, 1 + 2 + 4 + 8 + 12 * COLUMNS + 1, full, full, full, full]);
        for name in PATTERNS {
            let graph = TaskGraph::pattern(name);
            for (task, reads) in graph.reads.iter().enumerate() {
                assert!(reads.iter().all(|read| *read < task), "{name} {task}");
                let mut once = reads.clone();
                once.sort_unstable();
                once.dedup();
                assert_eq!(once.len(), reads.len(), "{name} {task} reads a task twice");
            }
        }
        assert_eq!(TaskGraph::chain(3).reads, [vec![], vec![0], vec![1]]);
        assert_eq!(TaskGraph::fan(2).reads, [vec![], vec![0], vec![0]]);
    }

    #[test]
    fn each_result_differs_by_tick_and_by_what_was_read() {
        for name in PATTERNS {
            let graph = TaskGraph::pattern(name);
            let (one, other) = (graph.expected(1), graph.expected(2));
            assert!(
                one.iter()
                    .zip(&other)
                    .all(|(one, other)| one.iter().zip(other).all(|(a, b)| a != b)),
                "{name}"
            );
            let mut wrong = graph.clone();
            let reader = wrong.reads.iter().position(|reads| !reads.is_empty()).unwrap_or(0);
            if wrong.sink != Some(reader) {
                wrong.reads[reader].clear();
                assert_ne!(wrong.expected(1), one, "{name}");
            }
        }
    }
}
