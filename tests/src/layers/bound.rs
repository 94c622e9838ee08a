//! A layer that checks which device is bound on the calling thread.

use std::cell::Cell;
use std::sync::Arc;

use streamflow::driver::{Driver, DriverError, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::{
    CopyOp, DriverResult, Launch, Layer, Libraries, LibraryCall, MemoryRange, MemorySource,
    RawEvent,
};

thread_local! {
    static BOUND: Cell<Option<DeviceId>> = const { Cell::new(None) };
}

/// A layer that rejects each call that would fail on a GPU because of the bound device. A default stream's handle names
/// no device, and an event is made on the bound device: these calls need the right device. Another stream's handle names
/// its device, so its calls need any bound device. A library works on the bound device.
#[derive(Debug)]
pub struct Bound(Arc<dyn Driver>);

impl Bound {
    /// Creates the layer above `below`.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self(below)
    }
}

impl Bound {
    /// Makes a device current on this thread as another library does, without a call of the driver.
    pub fn bind_unseen(device: DeviceId) {
        BOUND.set(Some(device));
    }

    fn check_device(&self, call: &'static str, device: DeviceId) -> DriverResult<()> {
        let bound = BOUND.get();
        if bound == Some(device) { Ok(()) } else { reject(call, device, bound) }
    }

    fn check_stream(&self, call: &'static str, stream: RawStream) -> DriverResult<()> {
        if stream == self.0.default_stream(stream.device()) {
            return self.check_device(call, stream.device());
        }
        let bound = BOUND.get();
        if bound.is_some() { Ok(()) } else { reject(call, stream.device(), bound) }
    }
}

fn reject(call: &'static str, device: DeviceId, bound: Option<DeviceId>) -> DriverResult<()> {
    let name = "CUDA_ERROR_INVALID_CONTEXT".to_owned();
    let message = format!("the bound device is {bound:?}");
    Err(DriverError::Call { call, device, code: 201, name, message })
}

macro_rules! bound {
    ($([$($unsafety:tt)*] fn $method:ident($($arg:ident: $ty:ty),*) -> $ret:ty, $check:ident $subject:expr;)*) => {
        // SAFETY: a call that fails promises nothing, and all other calls are passed to the driver below.
        unsafe impl Layer for Bound {
            fn below(&self) -> &dyn Driver {
                &*self.0
            }

            fn libraries(&self) -> &dyn Libraries {
                self
            }

            fn bind(&self, device: DeviceId) -> DriverResult<()> {
                self.0.bind(device)?;
                BOUND.set(Some(device));
                Ok(())
            }

            $(
                $($unsafety)* fn $method(&self, $($arg: $ty),*) -> DriverResult<$ret> {
                    self.$check(stringify!($method), $subject)?;
                    pass!([$($unsafety)*] self.0.$method($($arg),*))
                }
            )*
        }
    };
}

bound! {
    [] fn create_event(device: DeviceId) -> RawEvent, check_device device;
    [unsafe] fn record_event(event: RawEvent, stream: RawStream) -> (), check_stream stream;
    [unsafe] fn wait_event(stream: RawStream, event: RawEvent) -> (), check_stream stream;
    [unsafe] fn query_stream(stream: RawStream) -> bool, check_stream stream;
    [unsafe] fn synchronize_stream(stream: RawStream) -> (), check_stream stream;
    [unsafe] fn allocate(stream: RawStream, bytes: u64, source: MemorySource) -> MemoryRange, check_stream stream;
    [unsafe] fn wait_for_device(stream: RawStream) -> (), check_stream stream;
    [unsafe] fn free(stream: RawStream, range: MemoryRange) -> (), check_stream stream;
    [unsafe] fn copy(stream: RawStream, copy: &CopyOp) -> (), check_stream stream;
    [unsafe] fn fill(stream: RawStream, range: MemoryRange, byte: u8) -> (), check_stream stream;
    [unsafe] fn launch(stream: RawStream, launch: &Launch<'_>) -> (), check_stream stream;
}

// SAFETY: a call that fails promises nothing, and all other calls are passed to the driver below.
unsafe impl Libraries for Bound {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        self.check_device("call_library", stream.device())?;
        pass!([unsafe] self.0.libraries().call_library(stream, call))
    }
}
