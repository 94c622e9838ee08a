//! The seeds of the host simulator under which a test runs.

use std::env;
use std::ops::Range;

/// How many seeds most tests have.
pub(crate) const DEFAULT: u64 = 8;

/// The environment variable with the number of seeds.
const COUNT: &str = "STREAMFLOW_TEST_SEEDS";

/// The environment variable with the only seed to run.
pub(crate) const ONE: &str = "STREAMFLOW_TEST_SEED";

/// Returns the seeds that the environment selects, or the first `default` ones.
///
/// # Errors
/// A text about a variable that is not valid.
pub fn from_env(default: u64) -> Result<Range<u64>, String> {
    seeds(variable(ONE)?, variable(COUNT)?, default)
}

fn seeds(one: Option<u64>, count: Option<u64>, default: u64) -> Result<Range<u64>, String> {
    match (one, count) {
        (Some(u64::MAX), _) => Err(format!("{ONE} is too large; set it to less than {}", u64::MAX)),
        (Some(seed), _) => Ok(seed..seed + 1),
        // No seeds is an error, since every test would pass.
        (None, Some(0)) => {
            Err(format!("{COUNT} is 0, so that no test would run; set it to at least 1"))
        }
        (None, count) => Ok(0..count.unwrap_or(default)),
    }
}

/// Returns the whole number that a variable has, if it is set.
pub(crate) fn variable(name: &str) -> Result<Option<u64>, String> {
    let Some(value) = env::var_os(name) else { return Ok(None) };
    let number = value.to_str().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| format!("{name} is {value:?}; set it to a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_seed_overrides_a_number_of_seeds() {
        assert_eq!(seeds(None, None, 2), Ok(0..2));
        assert_eq!(seeds(None, Some(3), 2), Ok(0..3));
        assert_eq!(seeds(Some(7), Some(3), 2), Ok(7..8));
    }

    #[test]
    fn no_seeds_and_too_large_a_seed_are_errors() {
        assert!(seeds(None, Some(0), 2).is_err());
        assert!(seeds(Some(u64::MAX), None, 2).is_err());
    }
}
