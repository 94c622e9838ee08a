//! A map from the handles of streams or events to entries. Each entry has an index, its *place*, that does not change while
//! the object lives.

use rustc_hash::FxHashMap;

/// The entries of all known objects of one kind: streams or events.
// The fields that each call reads come first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Objects<T> {
    list: Vec<T>,
    places: FxHashMap<u64, u32>,
    free: Vec<u32>,
}

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Self { places: FxHashMap::default(), list: Vec::new(), free: Vec::new() }
    }
}

impl<T> Objects<T> {
    /// Returns the place of the object with this handle, if it is known.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        self.places.get(&key).copied()
    }

    pub(super) fn get(&self, key: u64) -> Option<&T> {
        self.at(self.find(key)?)
    }

    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        self.at_mut(self.find(key)?)
    }

    /// Returns the entry at a place. After the object's removal, this is the placeholder that `remove` has put there.
    #[inline]
    pub(super) fn at(&self, place: u32) -> Option<&T> {
        self.list.get(place as usize)
    }

    /// Returns the entries of all objects, and the placeholders of removed ones.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.list.iter_mut()
    }

    #[inline]
    pub(super) fn at_mut(&mut self, place: u32) -> Option<&mut T> {
        self.list.get_mut(place as usize)
    }

    /// Returns the entry of the object with this handle. If there is none, adds the one that `object` makes.
    pub(super) fn get_or_add(&mut self, key: u64, object: impl FnOnce() -> T) -> &mut T {
        let place = self.find(key).unwrap_or_else(|| self.insert(key, object()));
        &mut self.list[place as usize]
    }

    /// Adds an entry, or replaces that of the same handle. Returns its place.
    pub(super) fn insert(&mut self, key: u64, object: T) -> u32 {
        if let Some(place) = self.find(key) {
            self.list[place as usize] = object;
            return place;
        }
        let place = match self.free.pop() {
            Some(place) => {
                self.list[place as usize] = object;
                place
            }
            None => {
                self.list.push(object);
                self.list.len() as u32 - 1
            }
        };
        self.places.insert(key, place);
        place
    }

    /// Removes an object. The placeholder `rest` stays at its place until another object gets the place.
    pub(super) fn remove(&mut self, key: u64, rest: T) {
        if let Some(place) = self.places.remove(&key) {
            self.list[place as usize] = rest;
            self.free.push(place);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again_and_handles_are_not_mixed_up() {
        let mut objects = Objects::default();
        assert_eq!((objects.insert(7, 'a'), objects.insert(8, 'b')), (0, 1));
        assert_eq!(objects.insert(7, 'c'), 0, "the same handle has the same place");
        objects.remove(7, '-');
        assert_eq!((objects.find(7), objects.get(7), objects.at(0)), (None, None, Some(&'-')));
        assert_eq!(objects.insert(9, 'd'), 0);
        assert_eq!((objects.get(9), objects.get(8)), (Some(&'d'), Some(&'b')));
        objects.remove(10, '-');
        assert_eq!(objects.insert(11, 'e'), 2);
    }
}
