//! Tests of which errors a failure contains, and of comparing failures.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::io;
use std::num::ParseIntError;

use super::*;
use crate::driver::{DeviceId, DriverError};

#[derive(Debug, thiserror::Error)]
#[error("the lens is dirty")]
struct Dirty(#[source] io::Error);

fn dirty(because: &str) -> Failure {
    Dirty(io::Error::other(because.to_owned())).into()
}

fn look(how: u8) -> Result<()> {
    match how {
        0 => Err(Dirty(io::Error::other("dust")))?,
        1 => Err(Error::CapacityZero { edge: "a.x >> b.y" })?,
        2 => Err(Error::Other(Failure::msg("a text")))?,
        _ => Err(Failure::from_boxed("a box".into())),
    }
}

#[test]
fn a_failure_keeps_the_type_and_the_causes() {
    let failure = look(0).unwrap_err();
    assert_eq!(failure.downcast_ref::<Dirty>().unwrap().0.to_string(), "dust");
    assert_eq!(failure.source().unwrap().to_string(), "dust");
    assert!(failure.downcast_ref::<io::Error>().is_none());
    let error = look(1).unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&Error::CapacityZero { edge: "a.x >> b.y" }));
    assert_eq!(look(3).unwrap_err().to_string(), "a box");
}

#[test]
fn the_way_to_an_error_and_back_changes_nothing() {
    let failure = Failure::from(Error::from(look(0).unwrap_err()));
    assert!(failure.downcast_ref::<Dirty>().is_some());
    let error = Error::from(look(1).unwrap_err());
    assert_eq!(error, Error::CapacityZero { edge: "a.x >> b.y" });
    let text = look(2).unwrap_err();
    assert!(text.downcast_ref::<Error>().is_none());
    assert_eq!((text.to_string(), format!("{text:?}")), ("a text".into(), "a text".into()));
    let boxed = Box::<dyn StdError>::from(look(0).unwrap_err());
    assert!(boxed.downcast_ref::<Error>().unwrap().find_cause::<Dirty>().is_some());
}

#[test]
fn the_causes_of_an_error_are_found_by_their_type() {
    let (node, hook, tick) = ("rx".to_owned(), "compute", 3);
    let driver = DriverError::OutOfMemory { device: DeviceId(0), requested: 7 };
    let cause = Failure::from(Error::from(driver.clone()));
    let operator = Error::Operator { node, hook, tick, cause };
    let followed = vec![Error::from(look(0).unwrap_err())];
    let run = Error::Run { cause: Box::new(operator), followed };
    assert_eq!(run.find_cause(), Some(&driver));
    assert_eq!(run.find_cause::<Error>(), Some(&run));
    assert!(run.find_cause::<Dirty>().is_none(), "it followed, and is no cause");
}

#[test]
fn failures_are_compared_by_what_they_say() {
    assert_eq!(dirty("dust"), dirty("dust"));
    assert_ne!(dirty("dust"), dirty("fog"));
    let (zero, text) = (Error::CapacityZero { edge: "e" }, Failure::msg("the lens is dirty"));
    assert_eq!(Failure::from(zero.clone()), Failure::from(zero.clone()));
    assert_ne!(Failure::msg(&zero), Failure::from(zero));
    assert_ne!(text, dirty("dust"));
}

#[test]
fn the_result_of_a_hook_is_two_words() {
    assert_eq!(size_of::<Result<()>>(), 2 * size_of::<usize>());
}

fn number(text: &str) -> Result<i32, Failure> {
    text.parse().map_err(Failure::context(format_args!("the line `{text}`")))
}

#[test]
fn a_context_precedes_the_text_and_hides_no_type() {
    assert_eq!(number("7").unwrap(), 7);
    // `map_err` with a context also takes a `Failure` as its error.
    let failure = number("x").map_err(Failure::context("reading the table")).unwrap_err();
    let text = "reading the table: the line `x`: invalid digit found in string";
    assert_eq!((failure.to_string(), format!("{failure:?}")), (text.into(), text.into()));
    assert!(failure.downcast_ref::<ParseIntError>().is_some());
    assert!(failure.downcast_ref::<io::Error>().is_none());
    let error = Error::from(failure);
    assert!(error.find_cause::<ParseIntError>().is_some());
    assert_eq!(error.to_string(), text);
}

/// A failure with a context is not replaced by streamflow's error in it, because the context would be lost.
#[test]
fn a_context_of_an_error_of_streamflow_is_kept() {
    let zero = Error::CapacityZero { edge: "a.x >> b.y" };
    let failed: Result<(), _> = Err(zero.clone());
    let failure = failed.map_err(Failure::context("making the graph")).unwrap_err();
    assert_eq!(failure.downcast_ref(), Some(&zero));
    assert_ne!(failure, Failure::from(zero.clone()));
    let error = Error::from(failure);
    assert!(error.to_string().starts_with("making the graph: the capacity of"), "{error}");
    assert_ne!(error, zero);
    assert!(Failure::from(error).to_string().starts_with("making the graph: "));
}
