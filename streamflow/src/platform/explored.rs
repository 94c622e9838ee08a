//! Checks of the platforms that an explored test uses. Such a test may use only platforms on the simulator that the exploration
//! gives it, since the exploration decides that simulator's orders of execution.

use super::Platform;
use crate::error::{Error, Result};
use crate::turns::{self, Thread};

/// The error text for a test that makes a platform on another driver than the exploration's simulator.
const MADE: &str = "it makes a platform of its own, whose orders of execution are not those of the exploration; use the \
                    platform that the test is given, and make any other one, as for expected values, before the \
                    exploration";

/// The error text for a test that runs a graph or an operator of another platform.
const OTHER: &str = "it runs a graph or an operator of a platform that was made outside of the test; make the graph on the \
                     platform that the test is given";

/// The error text for a test that does not use the platform that it is given.
const UNUSED: &str = "it has not used the platform that it is given; make its graph, its operator or its streams on that \
                      platform";

/// The state before a platform is made, in an explored test: the calling thread, as the test knows it, and how many calls the test's
/// simulator had got. `None` outside of explored tests.
pub(super) struct Explored(Option<(Thread, u64)>);

impl Explored {
    pub(super) fn begin() -> Self {
        Self(turns::current().map(|test| {
            let before = test.turns().uses();
            (test, before)
        }))
    }

    /// Returns the number of the explored run to which the new platform belongs; 0 outside of explored tests. Making a platform
    /// calls its driver. So if the test's simulator got no call since `begin`, the driver is not the simulator or a layer over
    /// it.
    ///
    /// # Errors
    /// [`Error::Unexplored`] if the platform is not on the test's simulator.
    pub(super) fn run_of_the_new(self) -> Result<u64> {
        match self.0 {
            None => Ok(0),
            Some((test, before)) if test.turns().uses() > before => Ok(test.turns().number()),
            Some(_) => Err(Error::Unexplored { problem: MADE }),
        }
    }
}

impl Platform {
    /// Checks that a graph or an operator of this platform may run in the calling thread's explored test, if there is one.
    ///
    /// # Errors
    /// [`Error::Unexplored`] in an explored test, if the platform does not belong to the test.
    pub(crate) fn begin_use(&self) -> Result<()> {
        match turns::current() {
            Some(test) if test.turns().number() != self.0.explored_in => {
                Err(Error::Unexplored { problem: OTHER })
            }
            Some(test) => {
                test.turns().mark_used();
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Ends an explored test that has returned: executes the work that is still queued, and returns the errors and races that the
    /// test has not read.
    ///
    /// # Errors
    /// [`Error::Unexplored`] if the test has not used the platform (`has_used` is `false`); errors of the device;
    /// [`Error::Races`] with the races that the test has not read.
    pub(crate) fn end_explored(&self, has_used: bool) -> Result<()> {
        if !has_used {
            return Err(Error::Unexplored { problem: UNUSED });
        }
        // A sticky error was returned to the test already, and the device executes no more work.
        if self.driver().sticky_error().is_none() {
            self.0.table.finish()?;
        }
        let races = self.take_races();
        if races.is_empty() { Ok(()) } else { Err(Error::Races(races)) }
    }
}
