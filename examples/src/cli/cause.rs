//! Keeps the failures of callbacks that run inside a graph.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::prelude::*;

use super::Failure;

/// The failure of a callback inside a graph. The graph's error carries only its text; this keeps the failure itself.
#[derive(Debug, Clone, Default)]
pub struct Cause(Arc<Mutex<Option<Failure>>>);

impl Cause {
    /// Keeps the first failure, and converts it to an error for the graph.
    ///
    /// # Errors
    /// An error with the text of the failure.
    pub fn keep<T>(&self, result: Result<T, impl Into<Failure>>) -> Result<T> {
        result.map_err(|error| {
            let failure = error.into();
            let text = match &failure {
                Failure::Usage(message) => Error::other(message),
                Failure::Failed(error) => Error::other(error),
            };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
            text
        })
    }

    /// The result of a run, with the kept failure in place of the graph's error.
    ///
    /// # Errors
    /// The kept failure, if there is one; otherwise the graph's error.
    pub fn of<T>(self, run: Result<T>) -> Result<T, Failure> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (run, kept) {
            (Ok(value), _) => Ok(value),
            (Err(_), Some(failure)) => Err(failure),
            (Err(error), None) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn broken() -> Result<(), io::Error> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    #[test]
    fn the_first_failure_is_kept_as_it_is() {
        let cause = Cause::default();
        let run = cause.keep(broken());
        let _ = cause.keep(Err::<(), _>(io::Error::other("a later one")));
        assert!(cause.of(run).is_err_and(|failure| failure.is_broken_pipe()));
    }

    #[test]
    fn without_a_kept_failure_the_result_is_the_graphs() {
        let failed = Cause::default().of::<()>(Err(Error::other("no memory")));
        assert!(failed.is_err_and(|failure| !failure.is_broken_pipe()));
        assert!(Cause::default().of(Ok(())).is_ok());
    }
}
