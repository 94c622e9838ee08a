//! Which index a driver's handle has here.

use std::marker::PhantomData;

use crate::driver::{DeviceId, RawEvent, RawStream};

/// A map from handles to small numbers, for a lookup in each call: open addressing in a table that is so
/// empty that one multiplication and one comparison are the rule. It allocates only when it grows.
#[derive(Debug)]
pub(super) struct Handles<K> {
    /// A power of two of places, few of them taken.
    places: Box<[Place]>,
    /// How many there are, less one.
    mask: usize,
    taken: usize,
    _keys: PhantomData<fn(K)>,
}

/// Places at first, and for each handle later.
const FIRST: usize = 1024;
const EACH: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Place {
    handle: u64,
    device: DeviceId,
    index: u32,
}

/// The index of a free place.
const FREE: u32 = u32::MAX;

/// No handle is of this device: their numbers are less than how many there are.
const EMPTY: Place = Place { handle: 0, device: DeviceId(u32::MAX), index: FREE };

impl Place {
    #[inline(always)]
    fn is(&self, device: DeviceId, handle: u64) -> bool {
        self.handle == handle && self.device == device
    }
}

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
        let places = vec![EMPTY; FIRST].into();
        Self { places, mask: FIRST - 1, taken: 0, _keys: PhantomData }
    }

    /// As [`get`](Self::get), if that is easy: else there may be one nevertheless.
    #[inline(always)]
    pub(super) fn get_fast(&self, key: K) -> Option<u32> {
        let (device, handle) = key.parts();
        let place = self.places.get(self.home(handle))?;
        place.is(device, handle).then_some(place.index)
    }

    pub(super) fn get(&self, key: K) -> Option<u32> {
        let (device, handle) = key.parts();
        let mut at = self.home(handle);
        // There is always a free place, where the search ends.
        while self.places[at].index != FREE {
            if self.places[at].is(device, handle) {
                return Some(self.places[at].index);
            }
            at = self.next(at);
        }
        None
    }

    pub(super) fn insert(&mut self, key: K, index: u32) {
        self.make_room();
        let (device, handle) = key.parts();
        self.put(Place { handle, device, index });
    }

    fn make_room(&mut self) {
        if self.taken * EACH < self.places.len() {
            return;
        }
        let places = self.places.len() * 2;
        let old = std::mem::replace(&mut self.places, vec![EMPTY; places].into());
        (self.mask, self.taken) = (places - 1, 0);
        old.iter().filter(|place| place.index != FREE).for_each(|place| self.put(*place));
    }

    fn put(&mut self, new: Place) {
        let mut at = self.home(new.handle);
        while self.places[at].index != FREE && !self.places[at].is(new.device, new.handle) {
            at = self.next(at);
        }
        self.taken += usize::from(self.places[at].index == FREE);
        self.places[at] = new;
    }

    pub(super) fn remove(&mut self, key: K) -> Option<u32> {
        let (device, handle) = key.parts();
        let index = self.get(key)?;
        let mut at = self.home(handle);
        while !self.places[at].is(device, handle) {
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
    /// 6.4: Fibonacci hashing). Devices seldom have the same ones.
    #[inline(always)]
    fn home(&self, handle: u64) -> usize {
        (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & self.mask
    }

    fn next(&self, at: usize) -> usize {
        (at + 1) & self.mask
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
        assert_eq!(handles.get(event(999)), Some(999));
        handles.insert(event(999), 5);
        assert_eq!(handles.get(event(999)), Some(5), "another one of the same number");
        handles.remove(event(999));
        assert_eq!(handles.get(event(999)), None, "nor anyone else");
    }
}
