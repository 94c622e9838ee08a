//! An operator whose hooks tell the test that they have begun, and go on when the test lets them.

use std::sync::mpsc::{Receiver, Sender, channel};

use streamflow::prelude::*;

/// A hook that has begun, and its tick.
pub(crate) type Entered = (&'static str, u64);

/// The test's end of the channels. Dropping it opens the gate for good. A test moves it behind its run (`let gate
/// = gate`), so that it is dropped first if a check fails, and the drop of the run does not wait for it.
pub(crate) struct Gate {
    pub(crate) entered: Receiver<Entered>,
    go: Sender<()>,
}

impl Gate {
    /// Blocks until this hook has begun. It must be the next hook that begins.
    pub(crate) fn wait(&self, hook: &'static str, tick: u64) -> Result<()> {
        let entered = self.entered.recv().map_err(Failure::msg)?;
        if entered == (hook, tick) {
            return Ok(());
        }
        Err(Failure::msg(format!("{entered:?} has begun, and not {:?}", (hook, tick))))
    }

    /// Lets the waiting hook go on.
    pub(crate) fn open(&self) {
        // The operator may have ended, so the error is ignored.
        let _ = self.go.send(());
    }

    /// Blocks until a hook has begun, and lets it go on.
    pub(crate) fn pass(&self, hook: &'static str, tick: u64) -> Result<()> {
        self.wait(hook, tick)?;
        self.open();
        Ok(())
    }
}

/// The operator's end of the channels.
pub(crate) struct Latch {
    entered: Sender<Entered>,
    go: Receiver<()>,
}

impl Latch {
    fn pass(&self, hook: &'static str, tick: u64) {
        // If the test has dropped its end, both calls return at once.
        let _ = self.entered.send((hook, tick));
        let _ = self.go.recv();
    }
}

pub(crate) fn gate() -> (Gate, Latch) {
    let ((entered, of_test), (go, of_operator)) = (channel(), channel());
    (Gate { entered: of_test, go }, Latch { entered, go: of_operator })
}

/// An operator that sends the numbers of its ticks. Each of its hooks passes the latch.
#[operator]
pub(crate) struct Gated {
    #[output]
    number: u64,
    latch: Latch,
}

impl Compute for Gated {
    fn start(&mut self, _: GatedStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        self.latch.pass("start", cx.tick());
        Ok(())
    }

    fn compute(&mut self, io: GatedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.latch.pass("compute", cx.tick());
        io.number.emit(cx.tick())
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        self.latch.pass("stop", cx.tick());
        Ok(())
    }
}
