//! The description of the workers of a graph.

use super::thread_settings::{Priority, ThreadSettings};
use crate::error::{Error, Result, did_you_mean};

/// The largest number of shared workers. A larger number is a mistake, perhaps a wrong calculation: each worker is a thread with
/// a stack.
const MOST: usize = 1024;

/// Describes the threads that run a graph: their number, their cores and their priorities.
///
/// In this example, two workers on the cores 2 and 3 share the nodes. A third worker on core 1 runs the nodes with
/// `#[worker(disk)]`:
///
/// ```
/// use streamflow::schedule::{Worker, Workers};
///
/// let workers = Workers::new(2).cores([2, 3]).worker("disk", Worker::new().core(1));
/// # let _ = workers;
/// ```
///
/// `graph.workers(workers)?` checks the description and sets it for the runs of a graph.
///
/// Each worker has its core and its priority during a run. At the end of the run, the thread that called `run` gets its own
/// settings back. Threads that a hook creates inherit the worker's core and priority. Both settings need Linux.
#[must_use = "pass it to `workers` of a graph"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workers {
    /// The number of shared workers; `None` for the greedy scheduler.
    count: Option<usize>,
    cores: Option<Vec<usize>>,
    priority: Option<Priority>,
    /// The named workers, in the order of the calls of `worker`. A list keeps a name that was given twice, so that `check` finds
    /// it.
    named: Vec<(String, Worker)>,
}

impl Workers {
    /// Describes workers that share all nodes without `#[worker(…)]`: at least 1, and at most 1024. The first worker is the
    /// thread that calls `run`, or the thread that `spawn` creates.
    pub const fn new(count: usize) -> Self {
        Self { count: Some(count), cores: None, priority: None, named: Vec::new() }
    }

    /// Describes the greedy scheduler: one thread runs all nodes in their static order, also nodes with `#[worker(…)]`. With it,
    /// cores, priorities and options of named workers are a mistake.
    pub const fn none() -> Self {
        Self { count: None, cores: None, priority: None, named: Vec::new() }
    }

    /// Sets the core of each shared worker, in the order of the workers. There must be as many cores as shared workers. Linux
    /// numbers the cores from 0.
    pub fn cores(mut self, cores: impl IntoIterator<Item = usize>) -> Self {
        self.cores = Some(cores.into_iter().collect());
        self
    }

    /// Sets the priority of the shared workers.
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets the options of the worker that nodes name by `#[worker(name)]`.
    pub fn worker(mut self, name: &str, options: Worker) -> Self {
        self.named.push((name.to_owned(), options));
        self
    }

    pub(super) const fn is_none(&self) -> bool {
        self.count.is_none()
    }

    /// The number of workers that share nodes; 1 for [`Workers::none`].
    pub(super) fn count(&self) -> usize {
        self.count.unwrap_or(1)
    }

    /// Returns the settings of the shared worker with this index, from 0.
    pub(super) fn settings(&self, index: usize) -> ThreadSettings {
        let core = self.cores.as_ref().and_then(|cores| cores.get(index).copied());
        ThreadSettings { core, priority: self.priority }
    }

    /// Returns the settings of the worker with this name.
    pub(super) fn settings_of(&self, name: &str) -> ThreadSettings {
        let named = self.named.iter().find(|(known, _)| known == name);
        named.map_or_else(ThreadSettings::default, |(_, options)| options.0)
    }

    /// Checks this description for a graph whose nodes name the workers `named`.
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
        // If no cores are set, all shared workers have the same settings, so one check is enough.
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

/// The options of a worker that nodes name by `#[worker(…)]`: its core and its priority.
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
    /// Describes a worker that may use any core, with the priority of the thread that runs the graph.
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
