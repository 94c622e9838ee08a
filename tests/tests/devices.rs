//! Graphs over several devices: the data that may cross, and the devices that a platform must have.

use std::sync::Arc;

use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::platform::DeviceId;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::kernels::{fill, slow_fill};
use streamflow_tests::layers::Bound;
use streamflow_tests::seen::{self, Seen, push_seen};
use streamflow_tests::stereo::{Camera, Cast, Show};
use streamflow_tests::tensors::{LEN, SLOW, Sink, Tx};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .seeded("host_data_may_cross_devices", |seed| host_data(&devices(seed, 2)?))
        .seeded("a_graph_with_a_missing_device_is_an_error", |seed| {
            graph_with_a_missing_device(&devices(seed, 1)?)
        })
        .seeded("device_data_that_reaches_another_device_is_an_error", |seed| {
            through_an_adopting_node(&devices(seed, 2)?)
        })
        .devices("an_adopting_node_works_on_the_default_stream_of_its_message", 2, on_far_default)
        .devices("the_default_stream_is_of_the_adopted_streams_device", 2, default_after_adopting)
        .devices(
            "a_hooks_record_is_on_its_own_device_after_a_library_binds_another",
            2,
            default_stream_record_after_a_library,
        )
        .devices("receiving_makes_the_device_current", 2, receive_binds)
        .devices("reading_a_far_download_leaves_the_device_current", 2, download_keeps_binding)
        .devices("the_first_hook_of_a_thread_keeps_its_device", 2, first_hook_of_a_thread)
        .devices(
            "ordering_is_right_when_a_library_switches_devices",
            2,
            order_after_a_library_switches_devices,
        )
        .seeded("a_hook_may_end_without_a_context", without_a_context)
}

fn devices(seed: u64, count: usize) -> Result<Platform> {
    Ok(Platform::host().seed(seed).devices(count).build()?)
}

/// Copies device data to the host.
#[operator]
struct Fetch {
    #[input]
    image: &Tensor<f32>,
    #[output]
    values: Download<f32>,
    seen_on: Option<DeviceId>,
}

impl Compute for Fetch {
    fn compute(&mut self, io: FetchIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        self.seen_on = Some(stream.device());
        io.values.emit(cx.download(image, &stream)?)
    }
}

/// Copies host data to the device.
#[operator(streams(upload))]
struct Upload {
    #[input]
    values: &Download<f32>,
    #[output]
    image: Tensor<f32>,
    seen_on: Option<DeviceId>,
}

impl Compute for Upload {
    fn compute(&mut self, io: UploadIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let values = io.values.receive().into_data().wait_blocking()?;
        let stream = cx.allocate_cuda_stream(io.upload)?;
        self.seen_on = Some(stream.device());
        let mut image = cx.tensor([values.len()], &stream)?;
        // An element that is not overwritten is visible.
        stream.launch::<fill>(image.len(), (&mut image, -1.0))?;
        stream.upload_blocking(values, &mut image)?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

graph! {
    /// Each edge of device data stays on one device: its nodes have pools of that device, or adopt the message's stream.
    struct Across(count: u64) {
        const NEAR: CudaStreamPool = CudaStreamPool::new().max_size(2);
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(2);
        const ALSO_FAR: CudaStreamPool = FAR.max_size(1);

        #[streams(FAR)] #[when(count(count))]
        let camera: Camera = Camera::new(50, 3);
        #[streams(ALSO_FAR)]
        let cast: Cast = Cast::new();
        #[streams(FAR)]
        let fetch: Fetch = Fetch::new(None);
        #[streams(none)]
        let far_show: Show = Show::new(Vec::new());
        #[streams(NEAR)]
        let upload: Upload = Upload::new(None);
        let near_show: Show = Show::new(Vec::new());

        camera.frame >> cast.src;
        cast.dst >> (fetch.image, far_show.image);
        fetch.values >> upload.values;
        upload.image >> near_show.image;
    }
}

fn host_data(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Across::new(platform, 3)?;
    graph.run()?;
    for show in [graph.near_show(), graph.far_show()] {
        let seen: Vec<f32> = show.seen().iter().map(|(value, _)| *value).collect();
        check(seen == [3.0, 4.0, 5.0], || format!("{seen:?}"))?;
    }
    let seen_on = (graph.fetch().seen_on, graph.upload().seen_on);
    check(seen_on == (Some(device(1)), Some(device(0))), || format!("{seen_on:?}"))
}

fn graph_with_a_missing_device(platform: &Platform) -> Result<(), Failed> {
    let made = Across::new(platform, 3).map(drop);
    let is_right = |error: &Error| matches!(error, Error::NoSuchDevice { .. });
    let text = check_error("new", made, is_right)?;
    check_text(&text, &["`FAR`", "device 1", "1 device(s)"])
}

graph! {
    /// A mistake that `graph!` can't see: the node in the middle adopts its message's stream, and so works on the
    /// message's device.
    struct ThroughAdoptingNode {
        const NEAR: CudaStreamPool = CudaStreamPool::new();
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));

        #[streams(FAR)] #[when(count(1))]
        let camera: Camera = Camera::new(50, 3);
        #[streams(none)]
        let between: Cast = Cast::new();
        #[streams(NEAR)]
        let show: Show = Show::new(Vec::new());

        camera.frame >> between.src;
        between.dst >> show.image;
    }
}

fn through_an_adopting_node(platform: &Platform) -> Result<(), Failed> {
    let is_right = |error: &Error| match error {
        Error::Operator { node, cause, .. } => {
            node == "show" && matches!(cause.downcast_ref(), Some(Error::WrongDevice { .. }))
        }
        _ => false,
    };
    let text = check_error("run", ThroughAdoptingNode::new(platform)?.run(), is_right)?;
    check_text(&text, &["device 1", "stream is on device 0", "`#[transfer]`"])
}

graph! {
    /// A node with `#[streams(none)]` adopts its messages' stream, which is the default stream of device 1.
    struct FarDefault(seen: Seen<bool>) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));

        #[streams(FAR)] #[when(count(3))]
        // The argument `false` makes the source work on the default stream.
        let tx: Tx = Tx::new(0.0, false, SLOW);
        #[streams(none)]
        let sink: Sink = Sink::new(false, seen);

        tx.image >> sink.image;
    }
}

fn on_far_default(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(Arc::new(Bound::new(on.driver().clone())))?;
    let seen = Seen::default();
    FarDefault::new(&platform, seen.clone())?.run()?;
    check(seen::all(&seen) == [true; 3], || format!("{seen:?}"))
}

/// Calls `default_stream` before the hook has a stream, and again after.
#[operator]
struct CallsDefaultStream {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<(DeviceId, DeviceId)>,
}

impl Compute for CallsDefaultStream {
    fn compute(&mut self, io: CallsDefaultStreamIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let before = cx.default_stream()?.device();
        let (_, stream) = io.image.receive().sync_to_default().receive_cuda_stream(cx)?;
        let after = cx.default_stream()?;
        push_seen(&self.seen, (before, after.device()));
        // The default stream has waited for the data's stream, so it can read the data.
        check_same(stream.device(), after.device())
    }
}

fn check_same(a: DeviceId, b: DeviceId) -> Result<()> {
    if a == b { Ok(()) } else { Err(Failure::msg(format!("{a} and {b}"))) }
}

graph! {
    struct Adopting(seen: Seen<(DeviceId, DeviceId)>) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));

        #[streams(FAR)] #[when(count(2))]
        let tx: Tx = Tx::new(0.0, true, SLOW);
        #[streams(none)]
        let caller: CallsDefaultStream = CallsDefaultStream::new(seen);

        tx.image >> caller.image;
    }
}

fn default_after_adopting(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    Adopting::new(platform, seen.clone())?.run()?;
    let (near, far) = (device(0), device(1));
    check(seen::all(&seen) == [(near, far), (far, far)], || format!("{seen:?}"))
}

/// Works on the default stream. Then lets a library leave another device bound on the thread.
#[operator(streams(other))]
struct LeavesOtherDeviceBound {
    #[output]
    image: Tensor<f32>,
}

impl Compute for LeavesOtherDeviceBound {
    fn compute(&mut self, io: LeavesOtherDeviceBoundIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.allocate_cuda_stream(io.other)?;
        let stream = cx.default_stream()?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut image, cx.tick() as f32))?;
        io.image.set_cuda_stream(&stream).emit(image)?;
        Ok(cx.platform().driver().bind(device(1))?)
    }
}

graph! {
    struct LeavesBound(seen: Seen<bool>) {
        #[when(count(3))]
        let library: LeavesOtherDeviceBound = LeavesOtherDeviceBound::new();
        let sink: Sink = Sink::new(false, seen);

        library.image >> sink.image;
    }
}

/// The handles of two default streams are equal: only the bound device distinguishes them. So the runtime binds the
/// device before it records the end of a hook's work.
fn default_stream_record_after_a_library(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(Arc::new(Bound::new(on.driver().clone())))?;
    let seen = Seen::default();
    LeavesBound::new(&platform, seen.clone())?.run()?;
    check(seen::all(&seen) == [true; 3], || format!("{seen:?}"))
}

/// Receives after a library has bound another device.
#[operator]
struct Receives {
    #[input]
    image: &Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for Receives {
    fn compute(&mut self, io: ReceivesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let driver = cx.platform().driver();
        let image = io.image.receive();
        driver.bind(device(1))?;
        let (_, stream) = image.receive_cuda_stream(cx)?;
        // The event is made on the current device, and the call fails if that is not the stream's device.
        let made = driver.create_event(stream.device());
        push_seen(&self.seen, made.is_ok());
        Ok(())
    }
}

graph! {
    struct Receiving(seen: Seen<bool>) {
        #[when(count(2))]
        let tx: Tx = Tx::new(0.0, true, 0);
        let rx: Receives = Receives::new(seen);

        tx.image >> rx.image;
    }
}

fn receive_binds(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(Arc::new(Bound::new(on.driver().clone())))?;
    let seen = Seen::default();
    Receiving::new(&platform, seen.clone())?.run()?;
    check(seen::all(&seen) == [true; 2], || format!("{seen:?}"))
}

/// Reads data that another device has sent to the host.
#[operator]
struct ReadsFar {
    #[input]
    values: &Download<f32>,
    blocking: bool,
    seen: Seen<bool>,
}

impl Compute for ReadsFar {
    fn compute(&mut self, io: ReadsFarIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let values = io.values.receive().into_data();
        let stream = cx.default_stream()?;
        if self.blocking {
            values.wait_blocking()?;
        } else {
            values.try_get()?;
        }
        // Making an event shows which device is bound: it fails unless that is the stream's device.
        let made = cx.platform().driver().create_event(stream.device());
        push_seen(&self.seen, made.is_ok());
        Ok(())
    }
}

graph! {
    struct FarDownload(blocking: bool, seen: Seen<bool>) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(2);

        #[streams(FAR)] #[when(count(3))]
        let tx: Tx = Tx::new(0.0, true, 0);
        #[streams(FAR)]
        let fetch: Fetch = Fetch::new(None);
        let reads: ReadsFar = ReadsFar::new(blocking, seen);

        tx.image >> fetch.image;
        fetch.values >> reads.values;
    }
}

fn download_keeps_binding(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(Arc::new(Bound::new(on.driver().clone())))?;
    for blocking in [true, false] {
        let seen = Seen::default();
        FarDownload::new(&platform, blocking, seen.clone())?.run()?;
        check(seen::all(&seen) == [true; 3], || format!("blocking: {blocking}, {seen:?}"))?;
    }
    Ok(())
}

/// The same record is made on a thread that has used no stream before.
fn first_hook_of_a_thread(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(Arc::new(Bound::new(on.driver().clone())))?;
    for blocking in [true, false] {
        let far = platform.default_stream(device(1))?;
        let mut image = platform.tensor([LEN], &far)?;
        far.launch::<slow_fill>(LEN, (&mut image, 1.0, SLOW))?;
        let seen = Seen::default();
        let mut harness = OperatorHarness::new(&platform, ReadsFar::new(blocking, seen.clone()))?;
        harness.push(|ports| &mut ports.values, platform.download(&image, &far)?)?;
        let ticked = std::thread::scope(|scope| scope.spawn(move || harness.tick()).join());
        check(matches!(ticked, Ok(Ok(true))), || format!("{ticked:?}"))?;
        check(seen::all(&seen) == [true], || format!("blocking: {blocking}, {seen:?}"))?;
    }
    Ok(())
}

/// Orders a stream and the default stream by their data after a library has bound another device. CUDA takes records and
/// waits on a default stream as those of the bound device's default stream.
#[operator(streams(work))]
struct SwitchesDevice {
    #[output]
    image: Tensor<f32>,
}

impl Compute for SwitchesDevice {
    fn compute(&mut self, io: SwitchesDeviceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let driver = cx.platform().driver();
        let work = cx.allocate_cuda_stream(io.work)?;
        let default = cx.default_stream()?;
        let mut image = cx.tensor([LEN], &default)?;
        default.launch::<slow_fill>(LEN, (&mut image, -1.0, SLOW))?;
        driver.bind(device(1))?;
        // This records on the default stream.
        work.launch::<slow_fill>(LEN, (&mut image, cx.tick() as f32, SLOW))?;
        driver.bind(device(1))?;
        // This makes the default stream wait.
        io.image.set_cuda_stream(&default).emit(image)
    }
}

graph! {
    struct Switching(seen: Seen<bool>) {
        #[when(count(3))]
        let switches: SwitchesDevice = SwitchesDevice::new();
        let sink: Sink = Sink::new(false, seen);

        switches.image >> sink.image;
    }
}

fn order_after_a_library_switches_devices(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(Arc::new(Bound::new(on.driver().clone())))?;
    let seen = Seen::default();
    Switching::new(&platform, seen.clone())?.run()?;
    check(seen::all(&seen) == [true; 3], || format!("{seen:?}"))
}

/// Works on a stream, and then lets a library leave no current context on the thread.
#[operator(streams(work))]
struct LeavesNoContext {
    #[output]
    image: Tensor<f32>,
    driver: Arc<HostDriver>,
}

impl Compute for LeavesNoContext {
    fn compute(&mut self, io: LeavesNoContextIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut image, cx.tick() as f32))?;
        io.image.set_cuda_stream(&stream).emit(image)?;
        self.driver.unbind();
        Ok(())
    }
}

graph! {
    struct LeavingNoContext(driver: Arc<HostDriver>, seen: Seen<bool>) {
        #[when(count(3))]
        let library: LeavesNoContext = LeavesNoContext::new(driver);
        let sink: Sink = Sink::new(true, seen);

        library.image >> sink.image;
    }
}

/// The record at the hook's end, and all later work, must bind the device again.
fn without_a_context(seed: u64) -> Result<(), Failed> {
    let driver = Arc::new(HostDriver::builder().seed(seed).build());
    let platform = Platform::builder().driver(Arc::new(Replaying::over(driver.clone())))?;
    let seen = Seen::default();
    LeavingNoContext::new(&platform, driver, seen.clone())?.run()?;
    check(seen::all(&seen) == [true; 3], || format!("{seen:?}"))
}
