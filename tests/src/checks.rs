//! Functions that check a condition in a test and return an error that says why it failed.

use std::fmt;

use streamflow::prelude::*;
use streamflow::schedule::Report;

/// Why a test body failed. `?` converts any error to it.
pub use streamflow::Failure as Failed;

/// Returns an error with the message unless the condition holds.
///
/// # Errors
/// The message.
pub fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(Failed::msg(message())) }
}

/// Returns an error unless two values are equal.
///
/// # Errors
/// Both values.
pub fn check_equal<T: PartialEq + fmt::Debug>(found: T, wanted: T) -> Result<(), Failed> {
    check(found == wanted, || format!("{found:?}, not {wanted:?}"))
}

/// Fails at the first value that differs from the expected one by more than `tolerance(expected)`, or that is a NaN.
///
/// # Errors
/// The index of the value, and both values.
pub fn check_close<T: Copy + Into<f64> + fmt::Debug>(
    found: &[T],
    expected: &[f64],
    tolerance: impl Fn(f64) -> f64,
) -> Result<(), Failed> {
    let (len, expected_len) = (found.len(), expected.len());
    check(len == expected_len, || format!("{len} values, not {expected_len}"))?;
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let off = (found.into() - expected).abs();
        check(off <= tolerance(expected), || {
            format!("value {i} is {found:?}, not {expected:?}: off by {off:e}")
        })?;
    }
    Ok(())
}

/// Checks that a call failed, with an error that `is_right` accepts.
///
/// Returns the error's text.
///
/// # Errors
/// The value that the call returned, or another error.
pub fn check_error<T: fmt::Debug>(
    what: &str,
    result: Result<T, impl Into<Error>>,
    is_right: impl Fn(&Error) -> bool,
) -> Result<String, Failed> {
    match result.map_err(Into::into) {
        Err(error) if is_right(&error) => Ok(error.to_string()),
        Err(error) => Err(Failed::msg(format!("{what}: another error: {error:?}"))),
        Ok(value) => Err(Failed::msg(format!("{what}: no error, but {value:?}"))),
    }
}

/// Returns the error text of a run that has stalled.
///
/// # Errors
/// Any other error of the run, or that the run has ended well.
pub fn stalled(run: Result<Report, Error>) -> Result<String> {
    match run {
        Err(error @ Error::Stalled { .. }) => Ok(error.to_string()),
        Err(error) => Err(error.into()),
        Ok(report) => Err(Failure::msg(format!("the run has not stalled: {report}"))),
    }
}

/// Checks that a text contains all of these parts.
///
/// # Errors
/// The first missing part, and the text.
pub fn check_text(text: &str, parts: &[&str]) -> Result<(), Failed> {
    let missing = parts.iter().find(|part| !text.contains(*part));
    missing.map_or(Ok(()), |part| Err(Failed::msg(format!("no {part:?} in: {text}"))))
}

/// Checks that the race checker has found no races since the last call.
///
/// # Errors
/// The races.
pub fn check_races(platform: &Platform) -> Result<(), Failed> {
    let races = platform.take_races();
    check(races.is_empty(), || races.to_string())
}
