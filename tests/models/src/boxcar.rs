//! Replaces the crate `boxcar` in models: a table that threads read without a lock. A model adds entries only before its
//! threads start.

use std::ops::Index;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct Vec<T> {
    items: [OnceLock<T>; 8],
    count: AtomicUsize,
}

impl<T> Vec<T> {
    pub(crate) fn new() -> Self {
        Self { items: [const { OnceLock::new() }; 8], count: AtomicUsize::new(0) }
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    pub(crate) fn push(&self, item: T) {
        let index = self.count.fetch_add(1, Ordering::Relaxed);
        assert!(self.items[index].set(item).is_ok());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.items.iter().enumerate().filter_map(|(index, item)| Some((index, item.get()?)))
    }
}

impl<T> Index<usize> for Vec<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        self.items[index].get().unwrap()
    }
}
