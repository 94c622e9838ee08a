//! What the runner of a node does with the context before and after each hook: it makes the device current before, and records
//! the streams after.

use super::{Activity, ExecutionContext};
use crate::driver::{Asker, DriverResult, Note};
use crate::error::Failure;
use crate::stream::set_bound;

impl ExecutionContext {
    /// Prepares a hook: makes the device current on this thread, since a library may have made another device current.
    #[inline]
    pub(crate) fn enter(&mut self, hook: &'static str) -> DriverResult<()> {
        if self.platform.is_watched() {
            self.report_enter(hook);
        }
        self.enter_plain()
    }

    /// Prepares a tick of `flush`. Its messages get the metadata that the preceding tick has collected.
    pub(crate) fn enter_flush(&mut self) -> DriverResult<()> {
        let carried = std::mem::take(&mut self.notes.carried);
        let entered = self.enter("flush");
        self.notes.carried = carried;
        self.notes.carried.clear_marks();
        entered
    }

    /// Prepares a hook as [`enter`](Self::enter) does, but without a note to the driver.
    #[inline]
    pub(crate) fn enter_plain(&mut self) -> DriverResult<()> {
        self.notes.carried.clear_marks();
        if self.notes.carries {
            self.notes.carried.clear();
        }
        self.notes.asker.enter();
        self.streams.on_default.set(None);
        let device = self.device();
        self.driver.bind(device)?;
        set_bound(self.table().platform(), device);
        Ok(())
    }

    #[cold]
    fn report_enter(&self, hook: &'static str) {
        self.platform.observe(&Note::Enter { node: &self.node, hook, tick: self.tick() });
    }

    /// Records an event on each stream that the hook used (law 8), unless the graph has only one stream. The runner calls this
    /// after each hook, even after a failed one.
    #[inline]
    pub(crate) fn close(&self) -> DriverResult<()> {
        Asker::default().enter();
        self.streams.close()
    }

    /// Records that a failed call of this hook at a port has lost a message. The hook then fails with the call's error, even if
    /// the operator ignores that error.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_lost(&self, call: &'static str, port: &'static str, error: Failure) {
        let text = format_args!(
            "a message is lost: `{call}` at `{port}` has failed, and the operator has dropped its error; return it, as \
             with `?`"
        );
        // If there is an earlier error, it stays, and this one is dropped.
        let _later = self.notes.lost.set(Box::new(Failure::context(text)(error)));
    }

    /// Returns whether a failed call of this hook has lost a message.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        self.notes.lost.get().is_some()
    }

    /// Removes and returns the error of the call that has lost a message, with which the hook fails.
    #[cold]
    pub(crate) fn take_lost(&mut self) -> Option<Failure> {
        self.notes.lost.take().map(|error| *error)
    }

    /// Tells the layers of the driver that a hook has ended. The runner calls this after each [`enter`](Self::enter), even after
    /// a failed one.
    pub(crate) fn leave(&self) {
        self.platform.observe(&Note::Leave);
    }

    /// Counts a tick that has ended, and publishes the activity of the node after it.
    #[inline]
    pub(crate) fn count_tick(&self, then: Activity) {
        self.notes.tick.set(self.notes.tick.get() + 1);
        self.show(then);
    }
}
