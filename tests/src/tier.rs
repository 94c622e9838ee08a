//! How many cases the tests try. `cargo test` runs the fast tier: all suites, with fewer random cases and fewer faults.
//! `STREAMFLOW_TESTS=full` selects the full tier.

use std::env;

use crate::Failed;

const VARIABLE: &str = "STREAMFLOW_TESTS";

/// By which factor the full tier tries more random cases than the fast tier.
const MORE: u64 = 8;

/// How much of all that the tests can try is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// All suites with few cases, which takes minutes.
    Fast,
    /// All cases that a change must pass.
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

    /// Returns how many of `full` random cases are tried, at least one.
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
