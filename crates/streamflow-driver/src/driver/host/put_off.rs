//! Execution that a call has postponed because its caller holds a lock of this library.
//! [`catch_up`](crate::driver::Observer::catch_up) makes up for it, without the lock.

use std::cell::Cell;

use super::HostDriver;
use super::body;
use super::point::Point;

/// The call of a thread after which the simulator executes work by its policy, once the thread's lock is released.
#[derive(Debug, Clone, Copy)]
pub(super) enum PutOff {
    /// A submission to the stream with this index.
    Submission(usize),
    /// A query of this point.
    Query(Point),
}

thread_local! {
    /// The latest call of the thread that has postponed execution, and the number of its simulator.
    static LATEST: Cell<Option<(u64, PutOff)>> = const { Cell::new(None) };
}

impl HostDriver {
    pub(super) fn put_off(&self, what: PutOff) {
        LATEST.set(Some((self.number, what)));
    }

    /// Implements [`Observer::catch_up`](crate::driver::Observer::catch_up).
    pub(super) fn execute_put_off(&self) {
        let Some((simulator, what)) = LATEST.get() else { return };
        LATEST.set(None);
        if simulator != self.number || crate::lock::is_held() || body::running(simulator).is_some()
        {
            return;
        }
        let sim = self.lock();
        drop(match what {
            PutOff::Query(point) if sim.chosen.is_some() => self.before_call(sim, Some(point)),
            PutOff::Query(point) if !sim.reached(point) => self.execute_after_query(sim, point),
            PutOff::Submission(index) if sim.chosen.is_none() => {
                let sim = self.execute_after_submission(sim, index);
                // An error here is a wait that never ends. A later call that waits returns the same error.
                let Ok(sim) = self.wait_for_room(sim, "catch_up", index) else { return };
                sim
            }
            PutOff::Query(_) | PutOff::Submission(_) => return,
        });
    }
}
