//! Metadata: the values that travel with a message in addition to its data.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::stamp::{Mark, Origin, Stamp};
use super::value::Value;
use crate::time::Timestamp;

/// The acquisition time of a message's data, its sequence number, and named values that operators add to it.
///
/// The data of a message begins at a source: the source's messages get the moment of the first `emit` of the tick as their
/// acquisition time, and the number of the tick as their sequence number. The same holds for any tick of `compute` that has
/// received no message with an acquisition time. In any other tick, an emitted message gets the metadata of the messages
/// that were received in the same tick:
/// - the earliest acquisition time, and the sequence number of the message with that time. Of messages with equal times, the
///   message with the smallest number counts.
/// - all values. Of two values with the same name, the value that was received last counts.
///
/// A message over a `#[feedback]` edge is the state of an earlier tick. The values of such a message count, but neither
/// its time nor its number. If they counted, the time of the first tick would be the time of all later ticks. An operator
/// that receives only such messages is the source of its messages.
///
/// A tick of [`flush`](crate::Flush) begins with the metadata of the tick before it, as if it had received the messages
/// of that tick. So a message that `flush` emits without an input has the number of the last messages that `compute`
/// received.
///
/// If an operator [discards](crate::port::In::discard) or leaves a message, emitted messages don't get its metadata.
///
/// An operator sets named values where it emits a message, by [`emit_with`](crate::port::Out::emit_with), and reads them at
/// an input that it has received, by [`In::metadata`](crate::port::In::metadata). A name is compared with the few names that
/// the message has: no name is hashed, and a name or text that is `'static` allocates nothing. A value that every
/// message has belongs into the message's type, as a field of a struct with `#[derive(Message)]`, and not into its
/// metadata.
///
/// ```
/// use streamflow::prelude::*;
///
/// #[operator]
/// struct Camera {
///     #[output] frame: u64,
/// }
///
/// impl Compute for Camera {
///     fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         io.frame.emit_with(cx.tick(), |metadata| metadata.set("gain", 0.5))
///     }
/// }
///
/// #[operator]
/// struct Show {
///     #[input] frame: u64,
///     gain: Option<f64>,
/// }
///
/// impl Compute for Show {
///     fn compute(&mut self, io: ShowIo<'_>, _: &ExecutionContext) -> Result<()> {
///         let frame = io.frame.receive();
///         self.gain = frame.metadata().and_then(|metadata| metadata.get("gain")?.as_float());
///         println!("frame {}, gain {:?}", frame.into_data(), self.gain);
///         Ok(())
///     }
/// }
///
/// graph! {
///     struct Recording {
///         #[when(count(1))] let camera: Camera = Camera::new();
///         let show: Show = Show::new(None);
///         camera.frame >> show.frame;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let mut graph = Recording::new(&Platform::builder().host()?)?;
/// graph.run()?;
/// assert_eq!(graph.show().gain, Some(0.5));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Default)]
pub struct Metadata {
    pub(super) stamp: Stamp,
    pub(super) values: Values,
}

/// A named value of a message: the name and the value.
type Entry = (Cow<'static, str>, Value);

/// The storage of the named values of one message.
type Storage = Box<Vec<Entry>>;

/// The named values of a message, in the order in which they were first set. `None` if no value was set, as in most
/// messages. The values are behind a pointer, because a message should be small to move. The storage is reused, so that the
/// steady state allocates nothing.
#[derive(Default)]
pub(super) struct Values(Option<Storage>);

/// The storages that no message uses: at most as many as were in use at the same time, and at most [`MAX_FREE`]. Each has
/// room for at most [`MAX_ENTRIES`] values.
static FREE: Mutex<Vec<Storage>> = Mutex::new(Vec::new());

/// The most unused storages that are kept. Further ones are freed.
const MAX_FREE: usize = 1024;

/// The most values for which an unused storage may have room. A larger storage is freed.
const MAX_ENTRIES: usize = 256;

fn free_storage() -> MutexGuard<'static, Vec<Storage>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Values {
    fn push(&mut self, entry: Entry) {
        self.0.get_or_insert_with(|| free_storage().pop().unwrap_or_default()).push(entry);
    }

    /// Removes all values, and keeps the storage.
    pub(super) fn clear(&mut self) {
        if let Some(entries) = &mut self.0 {
            entries.clear();
        }
    }

    /// Sets the value called `name`, and replaces an earlier value with this name.
    pub(super) fn set(&mut self, name: Cow<'static, str>, value: Value) {
        match self.get_mut(&name) {
            Some(old) => *old = value,
            None => self.push((name, value)),
        }
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let found = self.0.as_mut()?.iter_mut().find(|(found, _)| found == name);
        found.map(|(_, value)| value)
    }

    #[inline(never)]
    fn copied(&self) -> Self {
        let mut copy = Self::default();
        self.iter().for_each(|entry| copy.push(entry.clone()));
        copy
    }

    #[cold]
    fn recycle(mut unused: Storage) {
        // The storage is cleared before the lock of `FREE` is taken, because clearing drops values.
        unused.clear();
        if unused.capacity() > MAX_ENTRIES {
            return;
        }
        let mut free = free_storage();
        if free.len() < MAX_FREE {
            free.push(unused);
        }
    }
}

impl Deref for Values {
    type Target = [Entry];

    #[inline]
    fn deref(&self) -> &[Entry] {
        self.0.as_ref().map_or(&[], |entries| entries.as_slice())
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(name, value)| (name, value))).finish()
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Clone for Values {
    #[inline]
    fn clone(&self) -> Self {
        if self.is_empty() { Self(None) } else { self.copied() }
    }
}

impl Drop for Values {
    #[inline]
    fn drop(&mut self) {
        if let Some(unused) = self.0.take() {
            Self::recycle(unused);
        }
    }
}

impl Metadata {
    /// The sequence number and the origin, which tell which messages belong together.
    #[inline]
    pub(crate) fn mark(&self) -> &Mark {
        self.stamp.mark()
    }

    /// When the data was acquired: the moment of the first `emit` of the tick in which the data began, by the platform's
    /// [clock](crate::time::Clock), to the microsecond, unless an operator has set another time by
    /// [`Out::acquired`](crate::port::Out::acquired). So the messages of a source that waits in `compute` for its
    /// device, and then emits, have age 0 when they are emitted.
    ///
    /// `None` for the first message of a feedback edge, and for a message that a test pushed without a time.
    pub fn acquired(&self) -> Option<Timestamp> {
        self.stamp.acquired()
    }

    /// Sets the acquisition time of the data.
    pub fn set_acquired(&mut self, at: Timestamp) {
        self.stamp.set_acquired(at);
    }

    /// Makes the node `origin` the one at which the data began. Sets the acquisition time and the sequence number to these values,
    /// unless they are set.
    pub(crate) fn begin(&mut self, at: Timestamp, number: u64, origin: Option<Origin>) {
        self.stamp.begin(self.acquired().unwrap_or(at), number, origin);
    }

    /// The sequence number of the data, for example of a frame: the [tick](crate::ExecutionContext::tick) in which the
    /// data began, unless an operator has set another number by [`Out::sequence`](crate::port::Out::sequence). The
    /// number stays the same on all paths through the graph.
    ///
    /// `None` for a message whose [`acquired`](Self::acquired) is `None`.
    pub fn sequence(&self) -> Option<u64> {
        self.stamp.sequence()
    }

    /// Sets the sequence number of the data.
    pub fn set_sequence(&mut self, number: u64) {
        self.stamp.set_sequence(number);
    }

    /// The value called `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    /// Sets the value called `name`: a number, `bool`, text, or a [`Value`].
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        self.values.set(name.into(), value.into());
    }

    /// All values, in the order in which they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (&**name, value))
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metadata")
            .field("acquired", &self.acquired())
            .field("sequence", &self.sequence())
            .field("values", &self.values)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storage_of_values_is_reused() {
        let mut first = Metadata::default();
        (0..5).for_each(|i| first.set(format!("value {i}"), Value::Integer(i)));
        let copy = first.clone();
        assert_eq!(copy, first);
        let entries = first.values.as_ptr();
        drop(first);
        // Tests on other threads share the free storages.
        let found =
            free_storage().iter().any(|unused| unused.as_ptr() == entries && unused.is_empty());
        assert!(found || free_storage().len() == MAX_FREE);
        assert_eq!(copy.get("value 4"), Some(&Value::Integer(4)));
    }

    #[test]
    fn the_storage_of_very_many_values_is_not_kept() {
        let mut many = Metadata::default();
        (0..2 * MAX_ENTRIES as i64).for_each(|i| many.set(format!("{i}"), Value::Integer(i)));
        drop(many);
        assert!(free_storage().iter().all(|unused| unused.capacity() <= MAX_ENTRIES));
    }
}
