//! What operators saw, tick by tick, for the test to look at.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::prelude::*;
use streamflow_examples::deliver::Report;

/// A list that operators add to; its clones are one list.
pub type Seen<T> = Arc<Mutex<Vec<T>>>;

/// Adds to it.
pub fn note<T>(seen: &Seen<T>, what: T) {
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(what);
}

/// All of it.
pub fn all<T: Clone>(seen: &Seen<T>) -> Vec<T> {
    seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// All of it, and nothing is left.
pub fn take<T>(seen: &Seen<T>) -> Vec<T> {
    std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What a graph of the examples reports: each tick, and its elements.
pub fn report<E: Element>() -> (Seen<(u64, Vec<E>)>, Report<E>) {
    let seen = Seen::default();
    let noted = seen.clone();
    let report = Box::new(move |tick, values: &[E]| {
        note(&noted, (tick, values.to_vec()));
        Ok(())
    });
    (seen, report)
}
