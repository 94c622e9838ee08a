//! A layer that makes one driver call fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::{Driver, DriverError, RawStream};
use streamflow::platform::DeviceId;
use streamflow::stream::Coscheduling;
use streamflow_driver::driver::graph::GraphNode;
use streamflow_driver::driver::{
    CopyOp, DriverResult, HostFunction, KernelSource, Launch, Layer, Libraries, LibraryCall,
    LoadedKernel, MemoryRange, MemorySource, Observer, RawEvent, RawGraph, RawModule,
    StreamOptions,
};
use streamflow_driver::driver::{GreenContext, Image};

/// A layer that makes the n-th call of one kind fail, and passes all other calls to the driver below.
#[derive(Debug)]
pub struct FailNth {
    below: Arc<dyn Driver>,
    kind: CallKind,
    /// How many calls of this kind are passed on before one fails.
    left: AtomicU64,
    failed: AtomicU64,
}

impl FailNth {
    /// Creates a layer in which the `nth` call of `kind` fails, counted from 0.
    pub fn new(below: Arc<dyn Driver>, kind: CallKind, nth: u64) -> Self {
        Self { below, kind, left: AtomicU64::new(nth), failed: AtomicU64::new(0) }
    }

    /// Makes the next call of the kind fail, whatever the count is.
    pub fn fail_next(&self) {
        self.fail_nth(0);
    }

    /// Makes the `nth` call of the kind from now on fail, counted from 0.
    pub fn fail_nth(&self, nth: u64) {
        self.left.store(nth, Ordering::Relaxed);
    }

    /// Whether a call has failed.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed) > 0
    }

    /// Returns an error if this is the n-th call of the kind.
    fn check(&self, kind: CallKind, device: DeviceId) -> DriverResult<()> {
        if kind != self.kind {
            return Ok(());
        }
        // Below zero the counter wraps to the largest number. No test makes so many calls that it reaches zero again.
        if self.left.fetch_sub(1, Ordering::Relaxed) != 0 {
            return Ok(());
        }
        self.failed.fetch_add(1, Ordering::Relaxed);
        Err(DriverError::Call {
            call: kind.name(),
            device,
            code: 999,
            name: "INJECTED".into(),
            message: "injected by a test".into(),
        })
    }
}

/// Defines the kinds of calls, and the layer's methods, which check each call before they pass it on.
macro_rules! calls {
    ({$(
        $kind:ident [$($unsafety:tt)*] fn $method:ident($($arg:ident: $ty:ty),*) -> $ret:ty,
            on $device:expr;
    )*} observer {$(
        $told:ident fn $tell:ident($($it:ident: $its:ty),*), on $of:expr;
    )*}) => {
        /// A call of the driver, of its observer or of a library that can be made to fail.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum CallKind {
            $(#[doc = concat!("[`Driver::", stringify!($method), "`].")] $kind,)*
            $(#[doc = concat!("[`Observer::", stringify!($tell), "`].")] $told,)*
            /// A call of [`Libraries::call_library`].
            CallLibrary,
        }

        impl CallKind {
            /// All kinds of calls.
            pub const ALL: &[Self] = &[$(Self::$kind,)* $(Self::$told,)* Self::CallLibrary];

            /// The method's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($method),)*
                    $(Self::$told => stringify!($tell),)*
                    Self::CallLibrary => "call_library",
                }
            }
        }

        impl Observer for FailNth {
            fn next(&self) -> Option<&dyn Observer> {
                Some(self.below.observer())
            }

            $(
                unsafe fn $tell(&self, $($it: $its),*) -> DriverResult<()> {
                    self.check(CallKind::$told, $of)?;
                    pass!([unsafe] self.below.observer().$tell($($it),*))
                }
            )*
        }

        // SAFETY: a call that fails promises nothing, and all other calls are passed to the driver below.
        unsafe impl Layer for FailNth {
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
                    self.check(CallKind::$kind, $device)?;
                    pass!([$($unsafety)*] self.below.$method($($arg),*))
                }
            )*
        }
    };
}

calls! {
{
    Bind [] fn bind(device: DeviceId) -> (), on device;
    CreateStream [] fn create_stream(device: DeviceId, options: StreamOptions) -> RawStream, on device;
    CreateGreenContexts [] fn create_green_contexts(device: DeviceId, coscheduling: Coscheduling, sizes: &[u32]) -> Vec<GreenContext>, on device;
    DestroyStream [unsafe] fn destroy_stream(stream: RawStream) -> (), on stream.device();
    QueryStream [unsafe] fn query_stream(stream: RawStream) -> bool, on stream.device();
    SynchronizeStream [unsafe] fn synchronize_stream(stream: RawStream) -> (), on stream.device();
    CreateEvent [] fn create_event(device: DeviceId) -> RawEvent, on device;
    DestroyEvent [unsafe] fn destroy_event(event: RawEvent) -> (), on event.device();
    RecordEvent [unsafe] fn record_event(event: RawEvent, stream: RawStream) -> (), on stream.device();
    WaitEvent [unsafe] fn wait_event(stream: RawStream, event: RawEvent) -> (), on stream.device();
    QueryEvent [unsafe] fn query_event(event: RawEvent) -> bool, on event.device();
    SynchronizeEvent [unsafe] fn synchronize_event(event: RawEvent) -> (), on event.device();
    Allocate [unsafe] fn allocate(stream: RawStream, bytes: u64, source: MemorySource) -> MemoryRange, on stream.device();
    Free [unsafe] fn free(stream: RawStream, range: MemoryRange) -> (), on stream.device();
    WaitForDevice [unsafe] fn wait_for_device(stream: RawStream) -> (), on stream.device();
    Trim [] fn trim(device: DeviceId, keep: u64) -> (), on device;
    AllocatePinned [] fn allocate_pinned(device: DeviceId, bytes: u64) -> MemoryRange, on device;
    FreePinned [unsafe] fn free_pinned(device: DeviceId, range: MemoryRange) -> (), on device;
    Copy [unsafe] fn copy(stream: RawStream, copy: &CopyOp) -> (), on stream.device();
    Fill [unsafe] fn fill(stream: RawStream, range: MemoryRange, byte: u8) -> (), on stream.device();
    LoadModule [unsafe] fn load_module(device: DeviceId, name: &str, image: &Image) -> RawModule, on device;
    LoadKernel [unsafe] fn load_kernel(device: DeviceId, source: &KernelSource<'_>) -> LoadedKernel, on device;
    Launch [unsafe] fn launch(stream: RawStream, launch: &Launch<'_>) -> (), on stream.device();
    CreateGraph [unsafe] fn create_graph(device: DeviceId, nodes: &[GraphNode<'_>]) -> RawGraph, on device;
    LaunchGraph [unsafe] fn launch_graph(graph: RawGraph, stream: RawStream) -> (), on stream.device();
    SetGraphKernel [unsafe] fn set_graph_kernel(graph: RawGraph, node: u32, launch: &Launch<'_>) -> (), on graph.device();
    DestroyGraph [unsafe] fn destroy_graph(graph: RawGraph) -> (), on graph.device();
    LaunchHostFunction [unsafe] fn launch_host_function(stream: RawStream, function: HostFunction) -> (), on stream.device();
} observer {
    Recycle fn recycle(stream: RawStream, range: MemoryRange), on stream.device();
    Adopt fn adopt(device: DeviceId, range: MemoryRange), on device;
    Disown fn disown(stream: RawStream, range: MemoryRange), on stream.device();
}
}

// SAFETY: a call that fails promises nothing, and all other calls are passed to the driver below.
unsafe impl Libraries for FailNth {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        self.check(CallKind::CallLibrary, stream.device())?;
        pass!([unsafe] self.below.libraries().call_library(stream, call))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use streamflow::prelude::*;

    use super::*;

    #[test]
    fn only_the_nth_call_of_the_kind_fails() {
        let below: Arc<dyn Driver> = Platform::host().build().unwrap().driver().clone();
        let device = device(0);
        let failing = FailNth::new(below, CallKind::CreateEvent, 2);
        let events: Vec<_> = (0..5).map(|_| Driver::create_event(&failing, device)).collect();
        let failed: Vec<_> = events.iter().map(Result::is_err).collect();
        assert_eq!(failed, [false, false, true, false, false]);
        assert!(failing.has_failed());
        let text = events[2].as_ref().unwrap_err().to_string();
        assert!(text.contains("create_event") && text.contains("INJECTED"), "{text}");
        // Calls of other kinds succeed.
        assert!((0..5).all(|_| Driver::bind(&failing, device).is_ok()));
    }

    #[test]
    fn a_kind_that_was_not_called_has_not_failed() {
        let below: Arc<dyn Driver> = Platform::host().build().unwrap().driver().clone();
        let failing = FailNth::new(below, CallKind::Trim, 0);
        Driver::bind(&failing, device(0)).unwrap();
        assert!(!failing.has_failed());
    }
}
