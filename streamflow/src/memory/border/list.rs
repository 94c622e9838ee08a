//! A list to which any thread may add entries without waiting for another thread.

use std::ptr::{self, NonNull};

use crate::sync::{AtomicPtr, Ordering, UnsafeCell, const_fn};

/// An entry of a list, with the pointer to the next entry. Adding an entry to a list allocates nothing.
pub(crate) struct Node<T> {
    next: UnsafeCell<*mut Node<T>>,
    pub(crate) value: T,
}

// SAFETY: only one thread uses `next`: the owner of the node, or the owner of the chain that contains the node.
unsafe impl<T: Send> Send for Node<T> {}

impl<T> Node<T> {
    pub(crate) fn new(value: T) -> Box<Self> {
        Box::new(Self { next: UnsafeCell::new(ptr::null_mut()), value })
    }
}

/// A list of entries. A thread adds an entry by a compare-and-swap, and takes all entries at once.
pub(crate) struct List<T> {
    /// The pointer to the latest entry. Null if the list is empty, and [`closed`] after the list was closed.
    head: AtomicPtr<Node<T>>,
}

// SAFETY: a list only passes entries from one thread to another.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: a list only passes entries from one thread to another, by atomic operations.
unsafe impl<T: Send> Sync for List<T> {}

/// The pointer that is the head of a closed list. No node has this address.
fn closed<T>() -> *mut Node<T> {
    ptr::without_provenance_mut(1)
}

impl<T> List<T> {
    const_fn! {
        pub(crate) fn new() -> Self {
            Self { head: AtomicPtr::new(ptr::null_mut()) }
        }
    }

    /// Adds an entry without waiting. After another thread can see the entry, this function does not use the list any more,
    /// because the entry may own the list, and the other thread may drop the entry and so the list.
    ///
    /// # Errors
    /// The entry, if the list is closed.
    pub(crate) fn add(&self, node: Box<Node<T>>) -> Result<(), Box<Node<T>>> {
        let node = NonNull::from(Box::leak(node));
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head == closed() {
                // SAFETY: the node was leaked above, and is in no list.
                return Err(unsafe { Box::from_raw(node.as_ptr()) });
            }
            // SAFETY: the node was leaked above, and is in no list yet.
            unsafe { *(*node.as_ptr()).next.to_write() = head };
            let swapped = self.head.compare_exchange_weak(
                head,
                node.as_ptr(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            match swapped {
                Ok(_) => return Ok(()),
                Err(other) => head = other,
            }
        }
    }

    /// Whether the list has no entry.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        let head = self.head.load(Ordering::Relaxed);
        head.is_null() || head == closed()
    }

    /// Takes all entries, the oldest first.
    pub(crate) fn take_all(&self) -> Vec<T> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut head = self.head.load(Ordering::Relaxed);
        while head != closed() {
            let null = ptr::null_mut();
            let taken =
                self.head.compare_exchange_weak(head, null, Ordering::Acquire, Ordering::Relaxed);
            match taken {
                Ok(_) => return collect(head),
                Err(other) => head = other,
            }
        }
        Vec::new()
    }

    /// Takes all entries, the oldest first. No entry can be added from now on.
    pub(crate) fn close(&self) -> Vec<T> {
        let head = self.head.swap(closed(), Ordering::Acquire);
        if head == closed() { Vec::new() } else { collect(head) }
    }
}

/// Returns the values of a chain of entries in reverse order, and frees the entries.
fn collect<T>(mut head: *mut Node<T>) -> Vec<T> {
    let mut values = Vec::new();
    while !head.is_null() {
        // SAFETY: each node of the chain came from a box, and this thread has taken the chain out of its list.
        let node = *unsafe { Box::from_raw(head) };
        head = node.next.into_inner();
        values.push(node.value);
    }
    values.reverse();
    values
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        drop(self.close());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;
    use std::thread;

    use super::*;

    fn values(taken: Vec<Arc<u32>>) -> Vec<u32> {
        taken.into_iter().map(|value| *value).collect()
    }

    #[test]
    fn entries_are_taken_once_and_in_order() {
        let list = List::new();
        assert!(list.is_empty() && list.take_all().is_empty());
        for value in 0..3 {
            assert!(list.add(Node::new(Arc::new(value))).is_ok());
        }
        assert!(!list.is_empty());
        assert_eq!(values(list.take_all()), [0, 1, 2]);
        assert!(list.is_empty());
    }

    #[test]
    fn a_closed_list_returns_the_entry() {
        let list = List::new();
        list.add(Node::new(Arc::new(1))).unwrap_or_else(|_| unreachable!());
        assert_eq!(values(list.close()), [1]);
        let refused = list.add(Node::new(Arc::new(2))).err().unwrap();
        assert_eq!((*refused.value, list.close().len(), list.take_all().len()), (2, 0, 0));
    }

    #[test]
    fn a_list_drops_what_it_has() {
        let value = Arc::new(7);
        let list = List::new();
        assert!(list.add(Node::new(value.clone())).is_ok());
        drop(list);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn threads_add_while_another_one_takes() {
        const EACH: u32 = 1000;
        let list = Arc::new(List::new());
        let adders: Vec<_> = (0..4)
            .map(|thread| {
                let list = list.clone();
                thread::spawn(move || {
                    for value in 0..EACH {
                        assert!(list.add(Node::new(Arc::new(thread * EACH + value))).is_ok());
                    }
                })
            })
            .collect();
        let mut all = Vec::new();
        while all.len() < 4 * EACH as usize {
            all.extend(values(list.take_all()));
        }
        adders.into_iter().for_each(|thread| thread.join().unwrap());
        // The entries that one thread has added are in the order in which it added them.
        for thread in 0..4 {
            let own = all.iter().filter(|value| **value / EACH == thread);
            assert!(own.is_sorted());
        }
        all.sort_unstable();
        assert_eq!(all, (0..4 * EACH).collect::<Vec<_>>());
    }
}
