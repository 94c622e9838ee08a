//! Errors of two workers, whose causes are found at the same time.

use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, Barrier};

use streamflow::prelude::*;
use streamflow_tests::{Failed, check, check_error};

/// An error whose first call of `source` blocks until the other error's `source` is called.
struct Waits {
    both: Arc<Barrier>,
    has_waited: std::sync::Once,
}

impl fmt::Debug for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waits")
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it waits for the other error")
    }
}

impl StdError for Waits {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.has_waited.call_once(|| {
            self.both.wait();
        });
        None
    }
}

/// An operator that fails at the same time as the other one.
#[operator]
struct Fails {
    #[output]
    number: u64,
    at_once: Arc<Barrier>,
    both: Arc<Barrier>,
}

impl Compute for Fails {
    fn compute(&mut self, _: FailsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.at_once.wait();
        let (both, has_waited) = (self.both.clone(), std::sync::Once::new());
        Err(Waits { both, has_waited }.into())
    }
}

graph! {
    struct Both(at_once: Arc<Barrier>, both: Arc<Barrier>) {
        #[when(count(1))] let a: Fails = Fails::new(at_once.clone(), both.clone());
        #[when(count(1))] let b: Fails = Fails::new(at_once.clone(), both.clone());
        a.number >> _;
        b.number >> _;
    }
}

pub(crate) fn errors() -> Result<(), Failed> {
    let [at_once, both] = [(), ()].map(|()| Arc::new(Barrier::new(2)));
    let mut graph = Both::new(&Platform::host().build()?, at_once, both)?;
    graph.workers(2)?;
    let text = check_error("the run", graph.run(), |error| matches!(error, Error::Run { .. }))?;
    check(text.contains("the other error"), || text)
}
