//! A map from the driver's handles to the checker's indices.

use std::marker::PhantomData;

use crate::driver::{DeviceId, RawEvent, RawStream};

/// A map from handles to indices that is searched in each call. The table has open addressing and is sparse, so most
/// searches take one multiplication and one comparison. The map allocates only when it grows.
#[derive(Debug)]
pub(super) struct Handles<K> {
    /// The table. Its length is a power of two, and at most a quarter of its slots are occupied.
    slots: Box<[Slot]>,
    /// The length of the table minus one.
    mask: usize,
    occupied: usize,
    _keys: PhantomData<fn(K)>,
}

/// The length of a new table.
const INITIAL_SLOTS: usize = 1024;
/// The least number of slots per handle. With fewer slots the table grows.
const SLOTS_PER_HANDLE: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Slot {
    handle: u64,
    device: DeviceId,
    index: u32,
}

/// The value of `Slot::index` in a free slot.
const FREE: u32 = u32::MAX;

/// A free slot. Its device matches no handle, since devices have smaller numbers.
const EMPTY: Slot = Slot { handle: 0, device: DeviceId(u32::MAX), index: FREE };

impl Slot {
    #[inline(always)]
    fn matches(&self, device: DeviceId, handle: u64) -> bool {
        self.handle == handle && self.device == device
    }
}

/// A driver's handle, as a device and a number.
pub(super) trait Handle: Copy {
    fn parts(self) -> (DeviceId, u64);
}

impl Handle for RawStream {
    fn parts(self) -> (DeviceId, u64) {
        (self.device(), self.handle())
    }
}

impl Handle for RawEvent {
    fn parts(self) -> (DeviceId, u64) {
        (self.device(), self.handle())
    }
}

impl<K: Handle> Handles<K> {
    pub(super) fn new() -> Self {
        let slots = vec![EMPTY; INITIAL_SLOTS].into();
        Self { slots, mask: INITIAL_SLOTS - 1, occupied: 0, _keys: PhantomData }
    }

    /// As [`get`](Self::get), but only the first slot is compared: `None` does not mean that the key is absent.
    #[inline(always)]
    pub(super) fn get_fast(&self, key: K) -> Option<u32> {
        let (device, handle) = key.parts();
        let slot = self.slots.get(self.first_slot(handle))?;
        slot.matches(device, handle).then_some(slot.index)
    }

    pub(super) fn get(&self, key: K) -> Option<u32> {
        let (device, handle) = key.parts();
        let mut at = self.first_slot(handle);
        // The loop ends, because the table always has a free slot.
        while self.slots[at].index != FREE {
            if self.slots[at].matches(device, handle) {
                return Some(self.slots[at].index);
            }
            at = self.next(at);
        }
        None
    }

    pub(super) fn insert(&mut self, key: K, index: u32) {
        self.make_room();
        let (device, handle) = key.parts();
        self.put(Slot { handle, device, index });
    }

    fn make_room(&mut self) {
        if self.occupied * SLOTS_PER_HANDLE < self.slots.len() {
            return;
        }
        let length = self.slots.len() * 2;
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; length].into());
        (self.mask, self.occupied) = (length - 1, 0);
        old.iter().filter(|slot| slot.index != FREE).for_each(|slot| self.put(*slot));
    }

    fn put(&mut self, new: Slot) {
        let mut at = self.first_slot(new.handle);
        while self.slots[at].index != FREE && !self.slots[at].matches(new.device, new.handle) {
            at = self.next(at);
        }
        self.occupied += usize::from(self.slots[at].index == FREE);
        self.slots[at] = new;
    }

    pub(super) fn remove(&mut self, key: K) -> Option<u32> {
        let (device, handle) = key.parts();
        let index = self.get(key)?;
        let mut at = self.first_slot(handle);
        while !self.slots[at].matches(device, handle) {
            at = self.next(at);
        }
        self.slots[at] = EMPTY;
        self.occupied -= 1;
        // A handle after the removed one may not be in its first slot, because the removed one was there. So the following
        // handles are inserted again.
        let mut after = self.next(at);
        while self.slots[after].index != FREE {
            let slot = std::mem::replace(&mut self.slots[after], EMPTY);
            self.occupied -= 1;
            self.put(slot);
            after = self.next(after);
        }
        Some(index)
    }

    /// Returns the slot where the search for a handle begins. The slot is chosen by the high bits of a product, since these
    /// depend on all bits of the handle (Knuth, *Sorting and Searching*, 6.4: Fibonacci hashing). The device is ignored: two
    /// devices seldom have handles with the same number.
    #[inline(always)]
    fn first_slot(&self, handle: u64) -> usize {
        (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & self.mask
    }

    fn next(&self, at: usize) -> usize {
        (at + 1) & self.mask
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn handles_are_found_until_they_are_removed() {
        let event = |number: u64| RawEvent::new(DeviceId((number % 3) as u32), number << 4);
        let mut handles = Handles::new();
        for number in 0..1000 {
            handles.insert(event(number), number as u32);
        }
        for number in (0..1000).step_by(2) {
            assert_eq!(handles.remove(event(number)), Some(number as u32));
        }
        for number in 0..1000 {
            let there = (number % 2 == 1).then_some(number as u32);
            assert_eq!(handles.get(event(number)), there, "{number}");
        }
        assert_eq!(handles.remove(event(2)), None);
        assert_eq!(handles.get(event(999)), Some(999));
        handles.insert(event(999), 5);
        assert_eq!(handles.get(event(999)), Some(5), "a new handle with the same number");
        handles.remove(event(999));
        assert_eq!(handles.get(event(999)), None, "removed as well");
    }
}
