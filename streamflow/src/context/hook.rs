//! The steps before and after each hook: the runner of a node binds the device, and records the streams.

use super::{Activity, ExecutionContext};
use crate::driver::{Asker, DriverResult, Note};
use crate::error::Failure;
use crate::stream::note_bound;

impl ExecutionContext {
    /// Called before a hook. It binds the device, since a library may have bound another one.
    #[inline]
    pub(crate) fn enter(&mut self, hook: &'static str) -> DriverResult<()> {
        if self.platform.is_watched() {
            self.report_enter(hook);
        }
        self.enter_plain()
    }

    /// Called before a tick of `flush`. Its data goes on with the metadata of the tick before it.
    pub(crate) fn enter_flush(&mut self) -> DriverResult<()> {
        let carried = std::mem::take(&mut self.notes.carried);
        let entered = self.enter("flush");
        self.notes.carried = carried;
        self.notes.carried.clear_marks();
        entered
    }

    /// As [`enter`](Self::enter), if the driver uses no notes.
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
        note_bound(self.table().platform(), device);
        Ok(())
    }

    #[cold]
    fn report_enter(&self, hook: &'static str) {
        self.platform.tell(&Note::Enter { node: &self.node, hook, tick: self.tick() });
    }

    /// Called after a hook, also after one that failed. It records an event on each stream that the hook used (law 8),
    /// unless the graph has one stream alone.
    #[inline]
    pub(crate) fn close(&self) -> DriverResult<()> {
        Asker::default().enter();
        self.streams.close()
    }

    /// A call of this hook at a port has failed, and a message is lost by that. The hook fails then, also if the operator drops
    /// the error.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_lost(&self, call: &'static str, port: &'static str, error: Failure) {
        let text = format_args!(
            "a message is lost: `{call}` at `{port}` has failed, and the operator has dropped its error; return it, as \
             with `?`"
        );
        // The first one counts.
        let _later = self.notes.lost.set(Box::new(Failure::context(text)(error)));
    }

    /// Whether a call of this hook has failed with which a message was lost.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        self.notes.lost.get().is_some()
    }

    /// The error of that call, as the error of the hook.
    #[cold]
    pub(crate) fn take_lost(&mut self) -> Option<Failure> {
        self.notes.lost.take().map(|error| *error)
    }

    /// Called after a hook that was [entered](Self::enter), also if entering it failed.
    pub(crate) fn leave(&self) {
        self.platform.tell(&Note::Leave);
    }

    /// A tick has ended, after which the node does this.
    #[inline]
    pub(crate) fn count_tick(&self, then: Activity) {
        self.notes.tick.set(self.notes.tick.get() + 1);
        self.show(then);
    }
}
