//! Lists to which operators add the messages that they receive, for the test to check.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::prelude::*;
use streamflow_examples::deliver::Report;

/// A list to which operators add entries. Clones share the list.
pub type Seen<T> = Arc<Mutex<Vec<T>>>;

/// Adds an entry.
pub fn push_seen<T>(seen: &Seen<T>, what: T) {
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(what);
}

/// Returns a copy of all entries.
pub fn all<T: Clone>(seen: &Seen<T>) -> Vec<T> {
    seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Removes and returns all entries.
pub fn take<T>(seen: &Seen<T>) -> Vec<T> {
    std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns a report callback for a graph of the examples, and the list that it fills: each tick with its elements.
pub fn report<E: Element>() -> (Seen<(u64, Vec<E>)>, Report<E>) {
    let seen = Seen::default();
    let noted = seen.clone();
    let report = Box::new(move |tick, values: &[E]| {
        push_seen(&noted, (tick, values.to_vec()));
        Ok(())
    });
    (seen, report)
}
