//! Which index a driver's handle has here.

use std::marker::PhantomData;

use crate::driver::{DeviceId, RawEvent, RawStream};

/// A map from handles to small numbers, for a lookup in each call: open addressing, one multiplication
/// and as a rule one comparison. It allocates only when it grows.
#[derive(Debug)]
pub(super) struct Handles<K> {
    /// A power of two of places, at most half of them taken.
    places: Box<[Place]>,
    taken: usize,
    _keys: PhantomData<fn(K)>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    handle: u64,
    device: DeviceId,
    index: u32,
}

/// The index of a free place.
const FREE: u32 = u32::MAX;

const EMPTY: Place = Place { handle: 0, device: DeviceId(0), index: FREE };

/// What a driver's handle consists of.
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
        Self { places: vec![EMPTY; 128].into(), taken: 0, _keys: PhantomData }
    }

    #[inline(always)]
    pub(super) fn get(&self, key: K) -> Option<u32> {
        let (device, handle) = key.parts();
        let mut at = self.home(device, handle);
        loop {
            let place = &self.places[at];
            if place.handle == handle && place.device == device {
                // Handle 0 of device 0 is what free places have, too.
                return (place.index != FREE).then_some(place.index);
            }
            // There is always a free place, where the search ends.
            if place.index == FREE {
                return None;
            }
            at = self.next(at);
        }
    }

    pub(super) fn insert(&mut self, key: K, index: u32) {
        self.make_room();
        let (device, handle) = key.parts();
        self.put(Place { handle, device, index });
    }

    fn make_room(&mut self) {
        if self.taken * 2 < self.places.len() {
            return;
        }
        let larger = vec![EMPTY; self.places.len() * 2].into();
        let old = std::mem::replace(&mut self.places, larger);
        self.taken = 0;
        old.iter().filter(|place| place.index != FREE).for_each(|place| self.put(*place));
    }

    fn put(&mut self, new: Place) {
        let mut at = self.home(new.device, new.handle);
        while self.places[at].index != FREE
            && (self.places[at].handle, self.places[at].device) != (new.handle, new.device)
        {
            at = self.next(at);
        }
        self.taken += usize::from(self.places[at].index == FREE);
        self.places[at] = new;
    }

    pub(super) fn remove(&mut self, key: K) -> Option<u32> {
        let (device, handle) = key.parts();
        let index = self.get(key)?;
        let mut at = self.home(device, handle);
        while (self.places[at].handle, self.places[at].device) != (handle, device) {
            at = self.next(at);
        }
        self.places[at] = EMPTY;
        self.taken -= 1;
        // What follows may have been pushed there by the one that is gone.
        let mut after = self.next(at);
        while self.places[after].index != FREE {
            let place = std::mem::replace(&mut self.places[after], EMPTY);
            self.taken -= 1;
            self.put(place);
            after = self.next(after);
        }
        Some(index)
    }

    /// The high bits of a product depend on all bits of the handle (Knuth, *Sorting and Searching*,
    /// 6.4: Fibonacci hashing).
    #[inline(always)]
    fn home(&self, device: DeviceId, handle: u64) -> usize {
        let bits = handle ^ (device.index() as u64) << 56;
        let spread = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        spread as usize & (self.places.len() - 1)
    }

    #[inline(always)]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }
}

#[cfg(test)]
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
    }
}
