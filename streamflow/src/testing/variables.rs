//! The environment variables of explorations.

use std::env;
use std::ffi::OsStr;
use std::num::NonZero;

use super::choices::Choices;
use crate::error::{Error, Result};

/// The variable with the one seed to run.
pub(super) const SEED: &str = "STREAMFLOW_TEST_SEED";
/// The variable with the number of seeds to run, for tests that do not set their number.
pub(super) const SEEDS: &str = "STREAMFLOW_TEST_SEEDS";
/// The variable with the one run of an exhaustive exploration to repeat.
pub(super) const SCHEDULE: &str = "STREAMFLOW_TEST_SCHEDULE";

/// Reads the variable [`SEED`].
///
/// # Errors
/// [`Error::Variable`] if the value is not a number.
pub(super) fn seed() -> Result<Option<u64>> {
    value(SEED, |text| text.trim().parse().ok(), "set it to a whole number that is not negative")
}

/// Reads the variable [`SEEDS`].
///
/// # Errors
/// As for [`seed`], and for 0 seeds, with which every test would pass.
pub(super) fn seeds() -> Result<Option<NonZero<u64>>> {
    value(SEEDS, |text| text.trim().parse().ok(), "set it to a whole number that is at least 1")
}

/// Reads the variable [`SCHEDULE`].
///
/// # Errors
/// As for [`seed`].
pub(super) fn schedule() -> Result<Option<Choices>> {
    let expected = "set it to what a failed exploration has printed, as 3:1,7:2";
    value(SCHEDULE, |text| Choices::parse(text.trim()), expected)
}

fn value<T>(
    name: &'static str,
    parse: impl Fn(&str) -> Option<T>,
    expected: &'static str,
) -> Result<Option<T>> {
    read(name, env::var_os(name).as_deref(), parse, expected)
}

fn read<T>(
    name: &'static str,
    value: Option<&OsStr>,
    parse: impl Fn(&str) -> Option<T>,
    expected: &'static str,
) -> Result<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    let refused = || Error::Variable { name, value: value.to_string_lossy().into(), expected };
    value.to_str().and_then(parse).map(Some).ok_or_else(refused)
}
