//! A ring of the last few values.

/// The last `N` values that were pushed, in an array. No heap memory is allocated.
#[derive(Debug)]
pub struct History<T, const N: usize> {
    /// The values as a ring. When the ring is full, `next` is the index of the oldest value.
    values: [Option<T>; N],
    next: usize,
}

impl<T, const N: usize> History<T, N> {
    /// An empty history.
    pub const fn new() -> Self {
        const { assert!(N > 0, "a history needs room for at least one value") };
        Self { values: [const { None }; N], next: 0 }
    }

    /// Adds a value. If the history has `N` values already, the oldest is dropped.
    pub fn push(&mut self, value: T) {
        self.values[self.next] = Some(value);
        self.next = (self.next + 1) % N;
    }

    /// The number of values, at most `N`.
    pub fn len(&self) -> usize {
        self.values.iter().flatten().count()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (newer, older) = self.values.split_at(self.next);
        older.iter().chain(newer).flatten()
    }
}

impl<T, const N: usize> Default for History<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_value_is_dropped_first() {
        let mut history = History::<u32, 3>::new();
        assert!(history.is_empty());
        for (value, expected) in
            [(1, &[1][..]), (2, &[1, 2]), (3, &[1, 2, 3]), (4, &[2, 3, 4]), (5, &[3, 4, 5])]
        {
            history.push(value);
            assert!(history.iter().eq(expected), "{history:?}");
            assert_eq!(history.len(), expected.len());
        }
    }
}
