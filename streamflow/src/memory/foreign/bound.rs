//! Values of other code that are dropped with their device current.

use std::sync::Arc;

use crate::memory::border::Owner;
use crate::stream::Timeline;

/// An owner of a value whose drop may call CUDA, for example a library's handle or a slice of cudarc. The thread that drops
/// the value has no current device, and libraries often don't report that such a call has failed. So the drop of a `Bound`
/// binds the device, and then drops the value.
pub(super) struct Bound<V> {
    /// The value. The value is dropped after `drop` has bound the device, and before the timeline, by the order of the fields.
    /// The timeline may be the last owner of the driver, and the driver's drop makes other devices current.
    #[allow(dead_code, reason = "it is there to be dropped")]
    value: V,
    timeline: Arc<Timeline>,
}

impl<V: Send + 'static> Bound<V> {
    /// Creates an owner of a value that belongs to the device of the stream `timeline`.
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

    /// A value whose drop stores the number of owners that the driver has at that time.
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
