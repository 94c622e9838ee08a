//! A driver that can be told to do nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use streamflow::driver::{
    CopyOp, DeviceId, Driver, DriverResult, Launch, Layer, MemoryRange, RawEvent, RawStream,
};

/// While it is switched off, the calls of a pipeline that is warm are answered with success and nothing
/// is done: what is left is what the layers above cost. Results are wrong then.
///
/// Switch it off when nothing is in flight, and on again before anything is made, read or dropped that
/// needs the driver.
#[derive(Debug)]
pub struct Null {
    below: Arc<dyn Driver>,
    off: AtomicBool,
}

impl Null {
    /// Passes everything on, for now.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, off: AtomicBool::new(false) }
    }

    /// Runs something while nothing is passed on.
    pub fn off<T>(&self, run: impl FnOnce() -> T) -> T {
        self.off.store(true, Ordering::Relaxed);
        let value = run();
        self.off.store(false, Ordering::Relaxed);
        value
    }

    fn is_off(&self) -> bool {
        self.off.load(Ordering::Relaxed)
    }
}

macro_rules! nothing {
    ($([$($unsafety:tt)*] fn $method:ident($($arg:ident: $ty:ty),*) -> $ret:ty = $answer:expr;)*) => {
        // SAFETY: while it is off it answers for work that was never queued; it is for measuring the
        // host's side of programs whose data nobody reads.
        unsafe impl Layer for Null {
            fn below(&self) -> &dyn Driver {
                &*self.below
            }

            $(
                $($unsafety)* fn $method(&self, $($arg: $ty),*) -> DriverResult<$ret> {
                    if self.is_off() {
                        return Ok($answer);
                    }
                    pass!([$($unsafety)*] self.below.$method($($arg),*))
                }
            )*
        }
    };
}

nothing! {
    [] fn bind(device: DeviceId) -> () = ();
    [unsafe] fn record_event(event: RawEvent, stream: RawStream) -> () = ();
    [unsafe] fn wait_event(stream: RawStream, event: RawEvent) -> () = ();
    [unsafe] fn query_event(event: RawEvent) -> bool = true;
    [unsafe] fn query_stream(stream: RawStream) -> bool = true;
    [unsafe] fn synchronize_event(event: RawEvent) -> () = ();
    [unsafe] fn synchronize_stream(stream: RawStream) -> () = ();
    [unsafe] fn recycle(stream: RawStream, range: MemoryRange) -> () = ();
    [unsafe] fn copy(stream: RawStream, copy: &CopyOp) -> () = ();
    [unsafe] fn launch(stream: RawStream, launch: &Launch<'_>) -> () = ();
}
