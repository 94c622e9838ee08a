//! Failures of callbacks that run inside of a graph.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::prelude::*;

use super::Failure;

/// What made a callback within a graph fail. Through the graph goes only a text; here the failure stays
/// what it is.
#[derive(Debug, Clone, Default)]
pub struct Cause(Arc<Mutex<Option<Failure>>>);

impl Cause {
    /// Keeps a failure if it is the first, and tells the graph.
    ///
    /// # Errors
    /// The text of the failure.
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

    /// How a run ended: the failure that was kept stands for what the graph says of it.
    ///
    /// # Errors
    /// That failure; else the graph's.
    pub fn of(self, run: Result<()>) -> Result<(), Failure> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (run, kept) {
            (Ok(()), _) => Ok(()),
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
    fn a_graph_may_fail_by_itself_or_not_at_all() {
        let failed = Cause::default().of(Err(Error::other("no memory")));
        assert!(failed.is_err_and(|failure| !failure.is_broken_pipe()));
        assert!(Cause::default().of(Ok(())).is_ok());
    }
}
