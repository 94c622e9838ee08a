//! The core and the real-time priority of a thread. Both are restored after a run, since the thread that called `run` is the
//! user's.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(test)]
mod tests;
#[cfg(any(test, not(target_os = "linux")))]
mod unsupported;

use std::marker::PhantomData;
use std::thread::{self, Builder};
use std::{fmt, io};

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(not(target_os = "linux"))]
use self::unsupported as system;
use crate::error::{Error, Result};

/// A real-time priority of a thread, 1 to 99. A thread with a higher priority runs first. All threads with a real-time priority
/// run before all others, so a hook that never waits can take a whole core. Real-time priorities need Linux, and most systems
/// permit them only if an administrator has allowed them: the error says how to do that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Priority {
    /// `SCHED_FIFO`: a thread runs until it waits, and only then the next thread of the same priority.
    Fifo(u8),
    /// `SCHED_RR`: threads of the same priority run in turn, each for a time slice.
    RoundRobin(u8),
}

impl Priority {
    const fn value(self) -> u8 {
        match self {
            Self::Fifo(value) | Self::RoundRobin(value) => value,
        }
    }

    /// Checks that the priority's value is one that Linux has.
    ///
    /// # Errors
    /// [`Error::Workers`] for a value outside of 1 to 99.
    pub(super) fn check(self, worker: &str) -> Result<()> {
        if (1..=99).contains(&self.value()) {
            return Ok(());
        }
        let problem = format!(
            "worker `{worker}` can't have the priority {self}; real-time priorities are 1 to 99"
        );
        Err(Error::Workers { problem })
    }
}

/// Writes the priority as error texts show it: `SCHED_FIFO 50`.
impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fifo(value) => write!(f, "SCHED_FIFO {value}"),
            Self::RoundRobin(value) => write!(f, "SCHED_RR {value}"),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
pub(super) use self::system::usable_cores;

/// The core and the priority of a thread during a run; `None` for no change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ThreadSettings {
    pub(super) core: Option<usize>,
    pub(super) priority: Option<Priority>,
}

impl ThreadSettings {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that the core exists, and that the priority's value is one that Linux has.
    ///
    /// # Errors
    /// [`Error::Workers`].
    pub(super) fn check(&self, worker: &str) -> Result<()> {
        if let Some(priority) = self.priority {
            priority.check(worker)?;
        }
        let Some(core) = self.core else { return Ok(()) };
        let problem = match system::usable_cores() {
            Ok(cores) if cores.contains(&core) => return Ok(()),
            Ok(cores) => {
                let cores: Vec<_> = cores.iter().map(usize::to_string).collect();
                format!(
                    "worker `{worker}` can't have core {core}: it is not there, or this process may not use it; choose one of \
                     {}",
                    cores.join(", ")
                )
            }
            Err(cause) => {
                format!("worker `{worker}` can't have core {core}: {cause}; leave its core out")
            }
        };
        Err(Error::Workers { problem })
    }

    /// Applies the settings to the calling thread, until the returned guard is dropped.
    ///
    /// # Errors
    /// [`Error::WorkerThread`]. The thread then has the settings that it had before.
    pub(super) fn apply(&self, worker: &str) -> Result<Applied> {
        let mut applied = Applied::default();
        if self.is_empty() {
            return Ok(applied);
        }
        worker.clone_into(&mut applied.worker);
        let refused = |setting, cause: io::Error, remedy| Error::WorkerThread {
            worker: worker.to_owned(),
            setting,
            cause: cause.to_string(),
            remedy,
        };
        if let Some(core) = self.core {
            let before = system::set_core(core);
            let refused =
                |cause| refused(format!("core {core}"), cause, "choose another core".to_owned());
            applied.cores = Some(before.map_err(refused)?);
        }
        if let Some(priority) = self.priority {
            let before = system::set_priority(priority);
            let refused = |cause| {
                refused(format!("the priority {priority}"), cause, system::remedy(priority))
            };
            applied.priority = Some(before.map_err(refused)?);
        }
        Ok(applied)
    }

    /// Checks whether [`apply`](Self::apply) will succeed, by calling it on a short-lived thread. That thread inherits limits and
    /// capabilities from the calling thread, as the threads of the run do.
    ///
    /// # Errors
    /// [`Error::WorkerThread`], also if no thread can be made.
    pub(super) fn probe(&self, worker: &str) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let no_thread = |cause: io::Error| Error::WorkerThread {
            worker: worker.to_owned(),
            setting: "a thread".to_owned(),
            cause: cause.to_string(),
            remedy: "end other threads".to_owned(),
        };
        thread::scope(|scope| {
            let probe = Builder::new().spawn_scoped(scope, || self.apply(worker).map(drop));
            let panicked = |_| no_thread(io::Error::other("it panicked"));
            probe.map_err(no_thread)?.join().unwrap_or_else(|panic| Err(panicked(panic)))
        })
    }
}

/// A guard of settings that were applied to its thread. Dropping the guard restores the earlier settings of the thread.
#[derive(Default)]
#[must_use]
pub(super) struct Applied {
    worker: String,
    cores: Option<system::Cores>,
    priority: Option<system::Policy>,
    /// The type of this field makes the guard `!Send`, so that it stays on its thread.
    thread: PhantomData<*const ()>,
}

impl Drop for Applied {
    fn drop(&mut self) {
        // The settings are restored in reverse order, the cores last, so that the thread does not move to another core while it
        // has a real-time priority.
        let priority = self.priority.take().map_or(Ok(()), system::restore_priority);
        let cores = self.cores.take().map_or(Ok(()), system::restore_cores);
        for (what, result) in [("priority", priority), ("cores", cores)] {
            if let Err(error) = result {
                let worker = &self.worker;
                tracing::error!(
                    %error,
                    "worker `{worker}` ended, but the {what} that its thread had before can't be restored; the thread keeps those \
                     of the worker"
                );
            }
        }
    }
}

impl fmt::Debug for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Applied").field("worker", &self.worker).finish_non_exhaustive()
    }
}
