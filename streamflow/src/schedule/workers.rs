//! The description of the threads that run a graph.

use super::thread_settings::{Priority, ThreadSettings};
use crate::error::{Error, Result, did_you_mean};

/// The most shared workers. More of them are a mistake, as a number that was computed wrong: each is a thread with a stack.
const MOST: usize = 1024;

/// The threads that run a graph: their number, their cores and their priorities.
///
/// Two workers share the nodes, on the cores 2 and 3. A third one runs the nodes with `#[worker(disk)]`, on core 1:
///
/// ```
/// use streamflow::schedule::{Worker, Workers};
///
/// let workers = Workers::new(2).cores([2, 3]).worker("disk", Worker::new().core(1));
/// # let _ = workers;
/// ```
///
/// `graph.workers(workers)?` checks them and sets them for the runs of a graph.
///
/// Each worker has its core and priority during a run; at the end the thread that called `run` gets its own settings back.
/// Threads that a hook creates inherit both. Cores and priorities need Linux.
#[must_use = "pass it to `workers` of a graph"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workers {
    /// `None`: the greedy scheduler.
    count: Option<usize>,
    cores: Option<Vec<usize>>,
    priority: Option<Priority>,
    /// The named workers in the order of the calls: a name that is given twice is then found.
    named: Vec<(String, Worker)>,
}

impl Workers {
    /// Workers that share the nodes without `#[worker(…)]`. The first worker is the thread that calls `run`, or that
    /// `spawn` creates. At least 1, and at most 1024.
    pub const fn new(count: usize) -> Self {
        Self { count: Some(count), cores: None, priority: None, named: Vec::new() }
    }

    /// The greedy scheduler: all nodes run on one thread, in their static order, including nodes with `#[worker(…)]`.
    /// Cores, priorities and options of named workers are refused.
    pub const fn none() -> Self {
        Self { count: None, cores: None, priority: None, named: Vec::new() }
    }

    /// The core of each shared worker, in their order: as many cores as workers. Linux numbers the cores
    /// from 0.
    pub fn cores(mut self, cores: impl IntoIterator<Item = usize>) -> Self {
        self.cores = Some(cores.into_iter().collect());
        self
    }

    /// The priority of the shared workers.
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// The options of the worker that nodes name by `#[worker(name)]`.
    pub fn worker(mut self, name: &str, options: Worker) -> Self {
        self.named.push((name.to_owned(), options));
        self
    }

    pub(super) const fn is_none(&self) -> bool {
        self.count.is_none()
    }

    /// The number of workers that share the nodes; 1 for [`Workers::none`].
    pub(super) fn count(&self) -> usize {
        self.count.unwrap_or(1)
    }

    /// The settings of the shared worker with this index, from 0.
    pub(super) fn settings(&self, index: usize) -> ThreadSettings {
        let core = self.cores.as_ref().and_then(|cores| cores.get(index).copied());
        ThreadSettings { core, priority: self.priority }
    }

    /// The settings of the worker with this name.
    pub(super) fn settings_of(&self, name: &str) -> ThreadSettings {
        let named = self.named.iter().find(|(known, _)| known == name);
        named.map_or_else(ThreadSettings::default, |(_, options)| options.0)
    }

    /// Checks this description for a graph with nodes that name these workers.
    ///
    /// # Errors
    /// [`Error::Workers`], also if the system does not tell which cores the process may use.
    pub(super) fn check(&self, named: &[&str]) -> Result<()> {
        let (shared, options) = (self.cores.is_some() || self.priority.is_some(), &self.named);
        match self.count {
            None if shared || !options.is_empty() => {
                return refused(
                    "`Workers::none()` takes no cores, priorities and options of named workers; use \
                     `Workers::new(1)`, or leave them out",
                );
            }
            Some(0) => {
                return refused(
                    "there are 0; give at least 1, or `Workers::none()`, which runs all nodes on one thread",
                );
            }
            Some(count) if count > MOST => {
                return refused(format!(
                    "there are {count}; give at most {MOST}: more than there are cores gain nothing"
                ));
            }
            _ => {}
        }
        if let Some(cores) = self.cores.as_ref().filter(|cores| cores.len() != self.count()) {
            return refused(format!(
                "`cores` has {}, and there are {} workers that share nodes; give each of them one core",
                cores.len(),
                self.count()
            ));
        }
        for (at, (name, _)) in options.iter().enumerate() {
            if !named.contains(&name.as_str()) {
                return refused(format!(
                    "`worker` gives options for `{name}`, but no node has `#[worker({name})]`; write it at a node, \
                     or leave the options out{}",
                    did_you_mean(name, named.iter().copied())
                ));
            }
            if options[..at].iter().any(|(earlier, _)| earlier == name) {
                return refused(format!(
                    "`worker` gives options for `{name}` twice; give them once"
                ));
            }
        }
        // Without cores all shared workers have the same settings, so one check is enough.
        for index in 0..self.cores.as_ref().map_or(1, Vec::len) {
            self.settings(index).check(&index.to_string())?;
        }
        options.iter().try_for_each(|(name, options)| options.0.check(name))
    }
}

fn refused(problem: impl Into<String>) -> Result<()> {
    Err(Error::Workers { problem: problem.into() })
}

impl From<usize> for Workers {
    fn from(count: usize) -> Self {
        Self::new(count)
    }
}

/// The options of a worker that nodes name by `#[worker(…)]`.
///
/// ```
/// use streamflow::schedule::{Priority, Worker};
///
/// let disk = Worker::new().core(3).priority(Priority::Fifo(50));
/// # let _ = disk;
/// ```
#[must_use = "pass it to `Workers::worker`"]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Worker(ThreadSettings);

impl Worker {
    /// A worker on any core, with the priority of the thread that runs the graph.
    pub const fn new() -> Self {
        Self(ThreadSettings { core: None, priority: None })
    }

    /// Sets the worker's core, from 0.
    pub const fn core(mut self, core: usize) -> Self {
        self.0.core = Some(core);
        self
    }

    /// Sets the worker's priority.
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.0.priority = Some(priority);
        self
    }
}

#[cfg(test)]
mod tests;
