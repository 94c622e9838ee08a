//! Values of other code that are dropped with their device current.

use std::sync::Arc;

use crate::memory::border::Owner;
use crate::stream::Timeline;

/// A value whose drop may call CUDA, as a library's handle or a slice of cudarc. No device is current on the thread that drops
/// it, and the failure of such a call is often not reported.
pub(super) struct Bound<V> {
    timeline: Arc<Timeline>,
    /// Dropped after `drop` has bound the device.
    #[allow(dead_code, reason = "it is there to be dropped")]
    value: V,
}

impl<V: Send + 'static> Bound<V> {
    /// A value of the device of a stream.
    pub(super) fn owner(value: V, timeline: &Arc<Timeline>) -> Owner {
        Owner::new(Self { timeline: timeline.clone(), value })
    }
}

impl<V> Drop for Bound<V> {
    fn drop(&mut self) {
        // Without its device a function fails, and its status can't be acted on either.
        let _bound = self.timeline.bind();
    }
}
