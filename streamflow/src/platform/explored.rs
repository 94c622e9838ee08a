//! Checks of the platforms that an explored test uses. Only platforms on the simulator of the test belong to it: their
//! orders of execution are those of the exploration.

use super::Platform;
use crate::error::{Error, Result};
use crate::turns::{self, Thread};

/// The mistake of a test that makes a platform on another driver than the test's simulator.
const MADE: &str = "it makes a platform of its own, whose orders of execution are not those of the exploration; use the \
                    platform that the test is given, and make any other one, as for expected values, before the \
                    exploration";

/// The mistake of a test that uses a graph or an operator of another platform.
const OTHER: &str = "it runs a graph or an operator of a platform that was made outside of the test; make the graph on the \
                     platform that the test is given";

/// The mistake of a test that does not use its platform.
const UNUSED: &str = "it has not used the platform that it is given; make its graph, its operator or its streams on that \
                      platform";

/// The state before a platform is made: the calling thread's part in an explored test, and the number of calls of the
/// test's simulator so far.
pub(super) struct Explored(Option<(Thread, u64)>);

impl Explored {
    pub(super) fn begin() -> Self {
        Self(turns::current().map(|test| {
            let before = test.turns().uses();
            (test, before)
        }))
    }

    /// The number of the run that the new platform belongs to; 0 outside of explored tests. Making a platform calls its
    /// driver: if the test's simulator was not called meanwhile, the driver is not a layer over it.
    ///
    /// # Errors
    /// [`Error::Unexplored`].
    pub(super) fn run_of_the_new(self) -> Result<u64> {
        match self.0 {
            None => Ok(0),
            Some((test, before)) if test.turns().uses() > before => Ok(test.turns().number()),
            Some(_) => Err(Error::Unexplored { problem: MADE }),
        }
    }
}

impl Platform {
    /// Checks that a graph or an operator of this platform may begin to run.
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

    /// Ends a test that has returned: executes its queued work, and reports the errors and races that it has not asked for.
    ///
    /// # Errors
    /// [`Error::Unexplored`] if the test has not used the platform (`has_used`); errors of the device; [`Error::Races`]
    /// that the test has not taken.
    pub(crate) fn end_explored(&self, has_used: bool) -> Result<()> {
        if !has_used {
            return Err(Error::Unexplored { problem: UNUSED });
        }
        // A sticky error was returned to the test already.
        if self.driver().sticky_error().is_none() {
            self.0.table.finish()?;
        }
        let races = self.take_races();
        if races.is_empty() { Ok(()) } else { Err(Error::Races(races)) }
    }
}
