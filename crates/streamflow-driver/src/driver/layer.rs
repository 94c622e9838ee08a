//! Layers: drivers that wrap another driver.

use std::fmt;

use super::graph::GraphNode;
use super::{
    CopyOp, Coscheduling, DeviceId, DeviceInfo, Driver, DriverResult, GreenContext, HostFunction,
    Image, KernelSource, Launch, Libraries, LoadedKernel, MemoryRange, MemorySource, Observer,
    RawEvent, RawGraph, RawModule, RawStream, SmSizes, Sticky, StreamOptions,
};

/// Defines [`Layer`] with the methods of [`Driver`], each forwarding to the driver below, and makes every
/// [`Layer`] a [`Driver`].
macro_rules! forward {
    ($(
        $(#[$attribute:meta])*
        [$($unsafety:tt)*] fn $method:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?;
    )*) => {
        /// A driver that wraps another: implement [`below`](Layer::below), and override the methods that
        /// should differ. Every layer is a [`Driver`].
        ///
        /// A layer that is an [`Observer`] returns itself from [`observer`](Layer::observer), and a layer that handles the calls
        /// of libraries returns itself from [`libraries`](Layer::libraries).
        ///
        /// The `unsafe` methods have the contracts of [`Driver`]'s.
        ///
        /// # Safety
        /// The driver below answers the calls that are not overridden. The overridden calls keep the promises of
        /// [`Driver`]. A layer that makes calls fail keeps the promises: a failed call promises nothing. A layer that
        /// drops waits breaks them, and its programs race. Such a layer is only for tests of ordering with kernels that
        /// compute plain numbers: then wrong numbers are the only consequence.
        #[allow(clippy::missing_safety_doc, reason = "the trait's text names the contracts")]
        pub unsafe trait Layer: Send + Sync + fmt::Debug {
            /// The driver that is wrapped.
            fn below(&self) -> &dyn Driver;

            $(
                #[doc = concat!("As [`Driver::", stringify!($method), "`].")]
                $($unsafety)* fn $method(&self, $($arg: $ty),*) $(-> $ret)? {
                    forward!(@call [$($unsafety)*] self.below().$method($($arg),*))
                }
            )*
        }

        // SAFETY: every method calls the layer's method of the same name, and a layer makes the promises of a driver.
        unsafe impl<L: Layer> Driver for L {
            $(
                $($unsafety)* fn $method(&self, $($arg: $ty),*) $(-> $ret)? {
                    forward!(@call [$($unsafety)*] Layer::$method(self, $($arg),*))
                }
            )*
        }
    };
    (@call [unsafe] $($call:tt)*) => {
        // SAFETY: the caller keeps the same contract of the same method.
        unsafe { $($call)* }
    };
    (@call [] $($call:tt)*) => { $($call)* };
}

forward! {
    [] fn name() -> &str;
    [] fn device_count() -> usize;
    [] fn device_info(device: DeviceId) -> DriverResult<DeviceInfo>;
    [] fn bind(device: DeviceId) -> DriverResult<()>;
    [] fn sticky_error() -> Option<Sticky>;
    [] fn default_stream(device: DeviceId) -> RawStream;
    [unsafe] fn device_of_stream(handle: u64) -> DriverResult<DeviceId>;
    [] fn create_stream(device: DeviceId, options: StreamOptions) -> DriverResult<RawStream>;
    [] fn sm_sizes(device: DeviceId, coscheduling: Coscheduling) -> DriverResult<SmSizes>;
    [] fn create_green_contexts(device: DeviceId, coscheduling: Coscheduling, sizes: &[u32]) -> DriverResult<Vec<GreenContext>>;
    [unsafe] fn destroy_stream(stream: RawStream) -> DriverResult<()>;
    [unsafe] fn query_stream(stream: RawStream) -> DriverResult<bool>;
    [unsafe] fn synchronize_stream(stream: RawStream) -> DriverResult<()>;
    [] fn create_event(device: DeviceId) -> DriverResult<RawEvent>;
    [] fn create_timing_event(device: DeviceId) -> DriverResult<RawEvent>;
    [unsafe] fn elapsed(start: RawEvent, end: RawEvent) -> DriverResult<f64>;
    [unsafe] fn destroy_event(event: RawEvent) -> DriverResult<()>;
    [unsafe] fn record_event(event: RawEvent, stream: RawStream) -> DriverResult<()>;
    [unsafe] fn wait_event(stream: RawStream, event: RawEvent) -> DriverResult<()>;
    [unsafe] fn query_event(event: RawEvent) -> DriverResult<bool>;
    [unsafe] fn synchronize_event(event: RawEvent) -> DriverResult<()>;
    [unsafe] fn allocate(stream: RawStream, bytes: u64, source: MemorySource) -> DriverResult<MemoryRange>;
    [unsafe] fn free(stream: RawStream, range: MemoryRange) -> DriverResult<()>;
    [unsafe] fn wait_for_device(stream: RawStream) -> DriverResult<()>;
    [] fn trim(device: DeviceId, keep: u64) -> DriverResult<()>;
    [] fn allocate_pinned(device: DeviceId, bytes: u64) -> DriverResult<MemoryRange>;
    [unsafe] fn free_pinned(device: DeviceId, range: MemoryRange) -> DriverResult<()>;
    [unsafe] fn copy(stream: RawStream, copy: &CopyOp) -> DriverResult<()>;
    [unsafe] fn fill(stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()>;
    [unsafe] fn load_module(device: DeviceId, name: &str, image: &Image) -> DriverResult<RawModule>;
    [unsafe] fn load_kernel(device: DeviceId, source: &KernelSource<'_>) -> DriverResult<LoadedKernel>;
    [unsafe] fn launch(stream: RawStream, launch: &Launch<'_>) -> DriverResult<()>;
    [unsafe] fn launch_host_function(stream: RawStream, function: HostFunction) -> DriverResult<()>;
    [unsafe] fn create_graph(device: DeviceId, nodes: &[GraphNode<'_>]) -> DriverResult<RawGraph>;
    [unsafe] fn launch_graph(graph: RawGraph, stream: RawStream) -> DriverResult<()>;
    [unsafe] fn set_graph_kernel(graph: RawGraph, node: u32, launch: &Launch<'_>) -> DriverResult<()>;
    [unsafe] fn destroy_graph(graph: RawGraph) -> DriverResult<()>;
    [] fn libraries() -> &dyn Libraries;
    [] fn observer() -> &dyn Observer;
}
