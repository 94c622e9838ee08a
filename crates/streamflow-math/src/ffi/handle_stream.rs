//! The stream on which a library's handle works: the handle's own, or a stream that is being captured.

use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::RawStream;
use streamflow::library::LibraryError;

/// The value of `current` while the handle's stream is not known. No stream has this handle.
const UNKNOWN: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct HandleStream {
    own: RawStream,
    /// The stream on which the library's handle works now. [`UNKNOWN`] if a call that sets the stream has failed.
    current: AtomicU64,
}

impl HandleStream {
    /// Creates the state of a library's handle that has no stream yet.
    pub(super) fn new(own: RawStream) -> Self {
        Self { own, current: AtomicU64::new(UNKNOWN) }
    }

    /// Makes the handle work on its own stream. `set` calls the library.
    pub(super) fn set_own(
        &self,
        set: impl Fn(RawStream) -> Result<(), LibraryError>,
    ) -> Result<(), LibraryError> {
        self.set(self.own, &set)
    }

    /// Makes a call with the handle on its own stream, or on a stream that is being captured. After the call the handle
    /// works on its own stream again. If setting a stream fails, the next call sets the stream first, so no call works
    /// on the stream of an earlier capture.
    #[inline(always)]
    pub(super) fn on(
        &self,
        stream: RawStream,
        set: impl Fn(RawStream) -> Result<(), LibraryError>,
        call: impl FnOnce() -> Result<(), LibraryError>,
    ) -> Result<(), LibraryError> {
        if self.current.load(Ordering::Relaxed) != stream.handle() {
            self.set(stream, &set)?;
        }
        let called = call();
        if stream == self.own {
            return called;
        }
        called.and(self.set(self.own, &set))
    }

    #[cold]
    fn set(
        &self,
        stream: RawStream,
        set: &impl Fn(RawStream) -> Result<(), LibraryError>,
    ) -> Result<(), LibraryError> {
        self.current.store(UNKNOWN, Ordering::Relaxed);
        set(stream)?;
        self.current.store(stream.handle(), Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use streamflow::platform::DeviceId;

    use super::*;

    /// If setting a stream fails during a capture, the next call on the handle's own stream sets that stream first.
    #[test]
    fn a_stream_that_could_not_be_set_is_set_before_the_next_call() {
        let [own, captured] = [7, 8].map(|handle| RawStream::new(DeviceId(0), handle));
        for failing in 0..5 {
            let (stream, made) = (HandleStream::new(own), Cell::new(0));
            let (set_to, used) = (Cell::new(None), RefCell::new(Vec::new()));
            let step = || {
                made.set(made.get() + 1);
                let status = i32::from(made.get() == failing + 1);
                LibraryError::check("a library", "call", status, |_| "FAILED")
            };
            let set = |stream| {
                set_to.set(Some(stream));
                step()
            };
            let call = |on| {
                stream.on(on, set, || {
                    used.borrow_mut().push((on, set_to.get()));
                    step()
                })
            };
            let done = [own, captured, own].map(|on| call(on).is_ok());
            assert!(done[2], "call {failing} of the library fails: {done:?}");
            for (on, set) in used.borrow().iter() {
                assert_eq!(*set, Some(*on), "call {failing} of the library fails");
            }
        }
    }
}
