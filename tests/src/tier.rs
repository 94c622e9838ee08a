//! How much the tests try. `cargo test` is the fast tier: each suite runs, with fewer random cases and fewer faults.
//! `STREAMFLOW_TESTS=full` is the full one.

use std::env;

use crate::Failed;

const VARIABLE: &str = "STREAMFLOW_TESTS";

/// How many times as many random cases the full tier tries.
const MORE: u64 = 8;

/// A part of all that the tests can try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Each suite, in minutes.
    Fast,
    /// The tests that a change must pass.
    Full,
}

impl Tier {
    /// The tier that the environment selects.
    ///
    /// # Errors
    /// A value that is not valid.
    pub fn from_env() -> Result<Self, Failed> {
        match env::var_os(VARIABLE) {
            None => Ok(Self::Fast),
            Some(value) if value == "full" => Ok(Self::Full),
            Some(value) => Err(Failed::msg(format!(
                "{VARIABLE} is {value:?}; set it to `full`, or not at all"
            ))),
        }
    }

    /// How many of so many random cases are tried, at least one.
    #[must_use]
    pub fn cases(self, full: u64) -> u64 {
        match self {
            Self::Fast => (full / MORE).max(1),
            Self::Full => full,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tier_is_without_cases() {
        assert_eq!([0, 5, 8000].map(|full| Tier::Fast.cases(full)), [1, 1, 1000]);
        assert_eq!(Tier::Full.cases(8000), 8000);
    }
}
