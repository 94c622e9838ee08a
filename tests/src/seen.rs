//! What operators saw, tick by tick, for the test to look at.

use std::sync::{Arc, Mutex, PoisonError};

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
