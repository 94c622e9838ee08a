//! Which index a driver's handle has here.

/// A map from handles to small numbers, for a lookup in each call: open addressing, one multiplication
/// and as a rule one comparison. It allocates only when it grows.
#[derive(Debug)]
pub(super) struct Handles<K> {
    /// A power of two of places, at most half of them taken.
    places: Vec<Option<(K, u32)>>,
    taken: usize,
}

/// A handle's bits, for spreading.
pub(super) trait Handle: Copy + Eq {
    fn bits(self) -> u64;
}

impl Handle for crate::driver::RawStream {
    fn bits(self) -> u64 {
        self.handle() ^ ((self.device().index() as u64) << 56)
    }
}

impl Handle for crate::driver::RawEvent {
    fn bits(self) -> u64 {
        self.handle() ^ ((self.device().index() as u64) << 56)
    }
}

impl<K: Handle> Handles<K> {
    pub(super) fn new() -> Self {
        Self { places: vec![None; 64], taken: 0 }
    }

    #[inline]
    pub(super) fn get(&self, key: K) -> Option<u32> {
        let mut place = self.home(key);
        // There is always a free place, where the search ends.
        while let Some((found, index)) = self.places[place] {
            if found == key {
                return Some(index);
            }
            place = self.next(place);
        }
        None
    }

    pub(super) fn insert(&mut self, key: K, index: u32) {
        if self.taken * 2 >= self.places.len() {
            let larger = vec![None; self.places.len() * 2];
            let old = std::mem::replace(&mut self.places, larger);
            self.taken = 0;
            old.into_iter().flatten().for_each(|(key, index)| self.insert(key, index));
        }
        let mut place = self.home(key);
        while let Some((found, _)) = self.places[place]
            && found != key
        {
            place = self.next(place);
        }
        self.taken += usize::from(self.places[place].is_none());
        self.places[place] = Some((key, index));
    }

    pub(super) fn remove(&mut self, key: K) -> Option<u32> {
        let mut place = self.home(key);
        let index = loop {
            match self.places[place] {
                None => return None,
                Some((found, index)) if found == key => break index,
                Some(_) => place = self.next(place),
            }
        };
        self.places[place] = None;
        self.taken -= 1;
        // What follows may have been pushed here by the one that is gone.
        let mut after = self.next(place);
        while let Some((key, index)) = self.places[after].take() {
            self.taken -= 1;
            self.insert(key, index);
            after = self.next(after);
        }
        Some(index)
    }

    /// The high bits of a product depend on all bits of the handle (Knuth, *Sorting and Searching*,
    /// 6.4: Fibonacci hashing).
    #[inline]
    fn home(&self, key: K) -> usize {
        let spread = key.bits().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> (64 - self.places.len().trailing_zeros())) as usize
    }

    #[inline]
    fn next(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{DeviceId, RawEvent};

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
