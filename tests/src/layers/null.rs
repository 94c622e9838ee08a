//! A layer that can be switched off, so that no call reaches the driver below.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::{
    CopyOp, DriverResult, Launch, Layer, Libraries, LibraryCall, LibraryCalls, MemoryRange,
    Observer, RawEvent, RawGraph,
};

/// A layer that can be off: then the calls of a warm pipeline succeed without doing anything. The remaining time is the
/// cost of the code above. Results are then wrong.
///
/// Switch it off when no work is in flight, and on again before making, reading or dropping anything that needs the
/// driver.
#[derive(Debug)]
pub struct Null {
    below: Arc<dyn Driver>,
    off: AtomicBool,
}

impl Null {
    /// Creates the layer above a driver. It is on.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, off: AtomicBool::new(false) }
    }

    /// Calls `run` while the layer is off.
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
    ($([$($unsafety:tt)*] fn $method:ident($($arg:ident: $ty:ty),*) -> $ret:ty = $value:expr;)*) => {
        // SAFETY: while off, this layer reports success for work that was never queued. The layer is for measuring the
        // host's side of programs that do not read their data.
        unsafe impl Layer for Null {
            fn below(&self) -> &dyn Driver {
                &*self.below
            }

            fn libraries(&self) -> &dyn Libraries {
                self
            }

            fn observer(&self) -> &dyn Observer {
                self
            }

            $(
                $($unsafety)* fn $method(&self, $($arg: $ty),*) -> DriverResult<$ret> {
                    if self.is_off() {
                        return Ok($value);
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
    [unsafe] fn wait_for_device(stream: RawStream) -> () = ();
    [unsafe] fn copy(stream: RawStream, copy: &CopyOp) -> () = ();
    [unsafe] fn launch(stream: RawStream, launch: &Launch<'_>) -> () = ();
    [unsafe] fn launch_graph(graph: RawGraph, stream: RawStream) -> () = ();
    [unsafe] fn set_graph_kernel(graph: RawGraph, node: u32, launch: &Launch<'_>) -> () = ();
}

// SAFETY: while off, this layer reports success for calls that were never made.
unsafe impl Libraries for Null {
    // Library calls are made as on CUDA's driver.
    fn library_calls(&self) -> LibraryCalls {
        if self.is_off() { LibraryCalls::Body } else { self.below.libraries().library_calls() }
    }

    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        if self.is_off() {
            return Ok(());
        }
        pass!([unsafe] self.below.libraries().call_library(stream, call))
    }
}

impl Observer for Null {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.below.observer())
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        if self.is_off() {
            return Ok(());
        }
        pass!([unsafe] self.below.observer().recycle(stream, range))
    }

    unsafe fn adopt(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        if self.is_off() {
            return Ok(());
        }
        pass!([unsafe] self.below.observer().adopt(device, range))
    }

    unsafe fn disown(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        if self.is_off() {
            return Ok(());
        }
        pass!([unsafe] self.below.observer().disown(stream, range))
    }
}
