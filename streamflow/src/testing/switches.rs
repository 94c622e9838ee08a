//! The decision which thread has the turn next, made as a choice of an exhaustive exploration.

use std::sync::{Arc, OnceLock, Weak};

use crate::driver::host::HostDriver;
use crate::turns::Order;

/// Decides the order of a run's threads, with a limited number of preemptions. A preemption is a switch away from a thread that
/// could go on; switches from a thread that rests, waits or has ended are free.
#[derive(Debug, Clone)]
pub(super) struct Switches {
    /// How many preemptions this run may still make.
    left: u32,
    /// The simulator, which has the state of the run and calls the chooser.
    driver: Arc<OnceLock<Weak<HostDriver>>>,
}

impl Switches {
    pub(super) fn new(preemptions: u32) -> Self {
        Self { left: preemptions, driver: Arc::default() }
    }

    /// Sets the simulator. Called once, before a second thread exists. `new` can't take the simulator, because it is made
    /// later.
    pub(super) fn choose_with(&self, driver: &Arc<HostDriver>) {
        // `set` can't fail, since it is called once.
        let _ = self.driver.set(Arc::downgrade(driver));
    }
}

impl Order for Switches {
    fn next(&mut self, current: Option<usize>, ready: &[usize]) -> usize {
        // The current thread is option 0, so a run with only options 0 has no preemptions.
        let mut options: Vec<_> = current.into_iter().collect();
        if current.is_none() || self.left > 0 {
            options.extend(ready.iter().filter(|thread| Some(**thread) != current));
        }
        let driver = self.driver.get().and_then(Weak::upgrade);
        let next = driver.map_or(options[0], |driver| driver.choose_turn(&options));
        if current.is_some_and(|current| current != next) {
            self.left -= 1;
        }
        next
    }

    /// Does nothing: the number of preemptions is a limit for the whole run, and is not reset.
    fn begin(&mut self) {}
}
