//! Values of other code that are dropped with their device current.

use std::sync::Arc;

use crate::memory::border::Owner;
use crate::stream::Timeline;

/// A value whose drop may call CUDA, for example a library's handle or a slice of cudarc. The thread that drops it has no
/// current device, and the failure of such a call is often not reported. So the drop of a `Bound` binds the device first.
pub(super) struct Bound<V> {
    /// The value. It is dropped after `drop` has bound the device, and before the timeline: the timeline may be the last
    /// owner of the driver, and the driver's drop makes other devices current.
    #[allow(dead_code, reason = "it is there to be dropped")]
    value: V,
    timeline: Arc<Timeline>,
}

impl<V: Send + 'static> Bound<V> {
    /// Makes an owner of a value that belongs to the device of a stream.
    pub(super) fn owner(value: V, timeline: &Arc<Timeline>) -> Owner {
        Owner::new(Self { timeline: timeline.clone(), value })
    }
}

impl<V> Drop for Bound<V> {
    fn drop(&mut self) {
        // If binding fails, the CUDA calls of the value's drop fail, too. This code can handle neither failure.
        let _bound = self.timeline.bind();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Weak;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::driver::host::HostDriver;
    use crate::driver::{DeviceId, Driver};
    use crate::stream::StreamTable;

    /// A value whose drop notes how many owners the driver has at that time.
    struct Counts(Weak<dyn Driver>, Arc<AtomicUsize>);

    impl Drop for Counts {
        fn drop(&mut self) {
            self.1.store(self.0.strong_count(), Ordering::Relaxed);
        }
    }

    #[test]
    fn a_value_is_dropped_before_the_last_owner_of_the_driver() {
        let driver: Arc<dyn Driver> = Arc::new(HostDriver::builder().build());
        let (weak, owners) = (Arc::downgrade(&driver), Arc::new(AtomicUsize::new(0)));
        let table = StreamTable::new(driver).unwrap();
        let timeline = table.take_for_memory(DeviceId(0)).unwrap();
        let owner = Bound::owner(Counts(weak.clone(), owners.clone()), &timeline);
        drop((timeline, table));
        drop(owner);
        assert!(owners.load(Ordering::Relaxed) > 0, "the driver is dropped before the value");
        assert_eq!(weak.strong_count(), 0);
    }
}
