//! Whose turn it is, as a choice of an exhaustive exploration.

use std::sync::{Arc, OnceLock, Weak};

use crate::driver::host::HostDriver;
use crate::turns::Order;

/// Each order of a run's threads that has no more preemptions than it is allowed: switches away from a thread
/// that could go on. Switches from one that rests, waits or has ended are free.
#[derive(Debug, Clone)]
pub(super) struct Switches {
    /// How many preemptions are left.
    left: u32,
    /// Who knows the state, and asks the chooser.
    driver: Arc<OnceLock<Weak<HostDriver>>>,
}

impl Switches {
    pub(super) fn new(preemptions: u32) -> Self {
        Self { left: preemptions, driver: Arc::default() }
    }

    /// To be called once, before there is a second thread: the driver is made after the order.
    pub(super) fn choose_with(&self, driver: &Arc<HostDriver>) {
        // It is called once.
        let _ = self.driver.set(Arc::downgrade(driver));
    }
}

impl Order for Switches {
    fn next(&mut self, current: Option<usize>, ready: &[usize]) -> usize {
        // To go on is the first choice, so that a run without choices has no preemptions.
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

    /// Preemptions are counted through the whole run.
    fn begin(&mut self) {}
}
