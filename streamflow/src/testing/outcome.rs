//! The outcome of a test that needs a GPU or NVRTC.

use std::env;
use std::fmt;

use crate::driver::DriverError;
use crate::error::{Error, Result};

/// The outcome of a test that did not fail: it ran, or it could not run on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a test that was skipped has shown nothing: print the outcome"]
pub enum Outcome {
    /// The test ran. The text says what was tried.
    Passed(String),
    /// The test could not run. The text says what is missing, and what to do.
    Skipped(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(tried) => f.write_str(tried),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
        }
    }
}

impl Outcome {
    /// Returns the outcome of a test for which something is missing, as `missing` says: skipped. If the environment variable
    /// named `require` is 1, or if the error is not [`DriverError::Unavailable`], returns the error.
    pub(super) fn without(missing: Error, require: &str) -> Result<Self> {
        let required = env::var_os(require).is_some_and(|value| value == "1");
        match missing {
            Error::Driver(DriverError::Unavailable { .. }) if !required => {
                Ok(Self::Skipped(missing.to_string()))
            }
            error => Err(error),
        }
    }
}
