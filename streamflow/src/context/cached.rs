//! `ExecutionContext::cached`: values that a node stores between its ticks because making them is slow, as the plans of stateless
//! library calls.

use std::any::Any;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use super::stream::id_of;
use super::{ExecutionContext, Stream};
use crate::error::Result;
use crate::stream::PlatformNumber;

/// The most values that a node stores. When one more is stored, the least recently used value is dropped.
const MOST: usize = 64;

/// The values that a node stores, in the order of their last use. The most recently used value is at the end.
#[derive(Debug, Default)]
pub(super) struct Cached(RefCell<Vec<Box<dyn Any + Send>>>);

/// A value, and the stream and the key for which it was made.
struct Entry<K, V> {
    stream: (PlatformNumber, u32),
    key: K,
    value: V,
}

impl ExecutionContext {
    /// Returns the node's value for `key` on this stream, as a plan for certain shapes of a stateless library function. If the
    /// node has no such value yet, `make` makes it. When the caller drops the returned `Lent`, the node stores the value for a
    /// later call. Each node stores the 64 most recently used values.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn cached<K: PartialEq + Send + 'static, V: Send + 'static>(
        &self,
        stream: &Stream<'_>,
        key: K,
        make: impl FnOnce(&K) -> Result<V>,
    ) -> Result<Lent<'_, K, V>> {
        let stream = id_of(stream);
        let is_wanted = |entry: &Box<dyn Any + Send>| {
            entry
                .downcast_ref::<Entry<K, V>>()
                .is_some_and(|entry| entry.stream == stream && entry.key == key)
        };
        // Take the list out of the cell while it is searched: comparing keys runs the user's code, which may call `cached`
        // itself.
        let mut list = self.cached.0.take();
        let place = list.iter().rposition(is_wanted);
        let kept = place.map(|place| list.remove(place));
        let mut meanwhile = self.cached.0.replace(list);
        self.cached.0.borrow_mut().append(&mut meanwhile);
        let entry = match kept.and_then(|entry| entry.downcast::<Entry<K, V>>().ok()) {
            Some(entry) => entry,
            None => {
                let value = make(&key)?;
                Box::new(Entry { stream, key, value })
            }
        };
        Ok(Lent { list: &self.cached, entry: Some(entry) })
    }
}

/// A value that the caller uses and then returns to its node by dropping this guard. The value is not passed to a closure, so
/// that the work that it queues has the caller's line in reports (`#[track_caller]`).
pub struct Lent<'c, K: Send + 'static, V: Send + 'static> {
    list: &'c Cached,
    /// The value with its key. `None` only while the guard is dropped.
    entry: Option<Box<Entry<K, V>>>,
}

impl<K: Send + 'static, V: Send + 'static> Deref for Lent<'_, K, V> {
    type Target = V;

    fn deref(&self) -> &V {
        let Some(entry) = &self.entry else { unreachable!("it is not dropped") };
        &entry.value
    }
}

impl<K: Send + 'static, V: Send + 'static> DerefMut for Lent<'_, K, V> {
    fn deref_mut(&mut self) -> &mut V {
        let Some(entry) = &mut self.entry else { unreachable!("it is not dropped") };
        &mut entry.value
    }
}

impl<K: Send + 'static, V: Send + 'static> Drop for Lent<'_, K, V> {
    fn drop(&mut self) {
        let Some(entry) = self.entry.take() else { return };
        let oldest = {
            let mut list = self.list.0.borrow_mut();
            list.push(entry);
            (list.len() > MOST).then(|| list.remove(0))
        };
        drop(oldest);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use crate::prelude::*;
    use crate::testing::OperatorHarness;

    #[operator(streams(a, b))]
    struct Keeps {
        #[output]
        number: u32,
        made: Vec<(u32, bool)>,
    }

    impl Compute for Keeps {
        fn compute(&mut self, io: KeepsIo<'_>, cx: &ExecutionContext) -> crate::Result<()> {
            let made = &mut self.made;
            let mut make = |key: u32, is_a: bool| -> crate::Result<()> {
                let stream = cx.allocate_cuda_stream(if is_a { io.a } else { io.b })?;
                let value = cx.cached(&stream, key, |key| {
                    made.push((*key, is_a));
                    Ok(*key)
                })?;
                assert_eq!(*value, key);
                Ok(())
            };
            make(1, true)?;
            make(2, true)?;
            make(1, false)?;
            make(1, true)?;
            Ok(())
        }
    }

    #[test]
    fn a_value_is_made_once_for_each_key_and_stream() {
        let platform = Platform::host().build().unwrap();
        let mut harness = OperatorHarness::new(&platform, Keeps::new(Vec::new())).unwrap();
        assert!(harness.tick().unwrap() && harness.tick().unwrap());
        assert_eq!(harness.operator().made, [(1, true), (2, true), (1, false)]);
    }
}
