//! The platforms that belong to a test that is explored: those above its simulator.

use super::Platform;
use crate::error::{Error, Result};
use crate::turns::{self, Thread};

/// Of a test that makes a platform.
const MADE: &str = "it makes a platform of its own, whose orders of execution are not those of the exploration; use the \
                    platform that the test is given, and make any other one, as for expected values, before the \
                    exploration";

/// Of a test whose graph or operator has another platform.
const OTHER: &str = "it runs a graph or an operator of a platform that was made outside of the test; make the graph on the \
                     platform that the test is given";

/// Of a test that uses no platform.
const UNUSED: &str = "it has not used the platform that it is given; make its graph, its operator or its streams on that \
                      platform";

/// A platform is being made: the calling thread's part in a test that is explored, and how often the test's simulator was
/// called before.
pub(super) struct Explored(Option<(Thread, u64)>);

impl Explored {
    pub(super) fn begin() -> Self {
        Self(turns::current().map(|test| {
            let before = test.turns().uses();
            (test, before)
        }))
    }

    /// The number of the run that the new platform belongs to; 0 outside of tests that are explored. Making a platform
    /// calls its driver, so a driver that is not above the test's simulator has not called that one.
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
    /// A graph or an operator of this platform begins to run.
    ///
    /// # Errors
    /// [`Error::Unexplored`] in a test that is explored, if the platform is none of the test's.
    pub(crate) fn begin_use(&self) -> Result<()> {
        match turns::current() {
            Some(test) if test.turns().number() != self.0.explored_in => {
                Err(Error::Unexplored { problem: OTHER })
            }
            Some(test) => {
                test.turns().note_use();
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Ends a test that has returned: executes what it has queued, and reports what it has not asked for.
    ///
    /// # Errors
    /// [`Error::Unexplored`] if it `has_used` nothing of the exploration; the device's; [`Error::Races`] that the test has
    /// not taken.
    pub(crate) fn end_explored(&self, has_used: bool) -> Result<()> {
        if !has_used {
            return Err(Error::Unexplored { problem: UNUSED });
        }
        // An error that has made the device unusable was returned to the test.
        if self.driver().sticky_error().is_none() {
            self.0.table.finish()?;
        }
        let races = self.take_races();
        if races.is_empty() { Ok(()) } else { Err(Error::Races(races)) }
    }
}
