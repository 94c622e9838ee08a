//! A driver that looks which device is bound.

use std::cell::Cell;
use std::sync::Arc;

use streamflow::driver::{
    Copy, DeviceId, Driver, DriverError, DriverResult, Launch, Layer, MemoryRange, RawEvent,
    RawStream,
};

thread_local! {
    static BOUND: Cell<Option<DeviceId>> = const { Cell::new(None) };
}

/// Refuses a call on a stream, or for an event, of a device that is not bound on the calling thread: on
/// a GPU the default stream's handle names no device, and an event is made on the bound one.
#[derive(Debug)]
pub struct Bound(Arc<dyn Driver>);

impl Bound {
    /// Looks at all calls that go `below`.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self(below)
    }
}

fn check(call: &'static str, device: DeviceId) -> DriverResult<()> {
    let bound = BOUND.get();
    if bound == Some(device) {
        return Ok(());
    }
    let name = "CUDA_ERROR_INVALID_CONTEXT".to_owned();
    let message = format!("bound is {bound:?}");
    Err(DriverError::Call { call, device, code: 201, name, message })
}

macro_rules! bound {
    ($([$($unsafety:tt)*] fn $method:ident($($arg:ident: $ty:ty),*) -> $ret:ty, on $device:expr;)*) => {
        // SAFETY: a call that fails promises nothing; all others are handed on.
        unsafe impl Layer for Bound {
            fn below(&self) -> &dyn Driver {
                &*self.0
            }

            fn bind(&self, device: DeviceId) -> DriverResult<()> {
                self.0.bind(device)?;
                BOUND.set(Some(device));
                Ok(())
            }

            $(
                $($unsafety)* fn $method(&self, $($arg: $ty),*) -> DriverResult<$ret> {
                    check(stringify!($method), $device)?;
                    pass!([$($unsafety)*] self.0.$method($($arg),*))
                }
            )*
        }
    };
}

bound! {
    [] fn create_event(device: DeviceId) -> RawEvent, on device;
    [unsafe] fn record_event(event: RawEvent, stream: RawStream) -> (), on stream.device();
    [unsafe] fn wait_event(stream: RawStream, event: RawEvent) -> (), on stream.device();
    [unsafe] fn query_stream(stream: RawStream) -> bool, on stream.device();
    [unsafe] fn synchronize_stream(stream: RawStream) -> (), on stream.device();
    [unsafe] fn allocate(stream: RawStream, bytes: u64) -> MemoryRange, on stream.device();
    [unsafe] fn free(stream: RawStream, range: MemoryRange) -> (), on stream.device();
    [unsafe] fn copy(stream: RawStream, copy: &Copy) -> (), on stream.device();
    [unsafe] fn fill(stream: RawStream, range: MemoryRange, byte: u8) -> (), on stream.device();
    [unsafe] fn launch(stream: RawStream, launch: &Launch<'_>) -> (), on stream.device();
}
