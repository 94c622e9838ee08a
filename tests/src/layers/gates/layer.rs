//! The driver calls of the layer [`Gates`].

use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow::stream::StreamFlags;
use streamflow_driver::driver::Image;
use streamflow_driver::driver::{
    Code, CopyOp, DriverResult, HostFunction, KernelSource, Launch, Layer, Libraries, LibraryCall,
    LoadedKernel, MemoryRange, MemorySource, Observer, RawEvent, RawModule, StreamOptions, Target,
};

use super::flags::POISON;
use super::held::Point;
use super::{Gates, lock};

// SAFETY: work executes in the order of its stream, only later. "Not complete" promises nothing. Page-locked memory from
// the reserve has one owner, and memory is freed after all work. Loaded code stays loaded.
unsafe impl Layer for Gates {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let stream =
            self.call("create_stream", None, |below| below.create_stream(device, options))?;
        let is_blocking = options.flags == StreamFlags::Blocking && options.green.is_none();
        lock(&self.held).create_stream(stream, is_blocking);
        Ok(stream)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        lock(&self.held).destroy_stream(stream);
        self.call("destroy_stream", None, |below| pass!([unsafe] below.destroy_stream(stream)))
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        if self.finds_closed(Point::Stream(stream)) {
            return Ok(false);
        }
        pass!([unsafe] self.below.query_stream(stream))
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.open_for(Point::Stream(stream));
        let on = Some(Point::Stream(stream));
        self.call(
            "synchronize_stream",
            on,
            |below| pass!([unsafe] below.synchronize_stream(stream)),
        )
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let event = self.call("create_event", None, |below| below.create_event(device))?;
        lock(&self.held).create_event(event);
        Ok(event)
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let event =
            self.call("create_timing_event", None, |below| below.create_timing_event(device))?;
        lock(&self.held).create_event(event);
        Ok(event)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        lock(&self.held).destroy_event(event);
        self.call("destroy_event", None, |below| pass!([unsafe] below.destroy_event(event)))
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        let on = Some(Point::Stream(stream));
        self.call("record_event", on, |below| pass!([unsafe] below.record_event(event, stream)))?;
        lock(&self.held).record(event, stream);
        Ok(())
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        lock(&self.held).wait(stream, event);
        let on = Some(Point::Stream(stream));
        self.call("wait_event", on, |below| pass!([unsafe] below.wait_event(stream, event)))
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        if self.finds_closed(Point::Event(event)) {
            return Ok(false);
        }
        pass!([unsafe] self.below.query_event(event))
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        self.open_for(Point::Event(event));
        let on = Some(Point::Event(event));
        self.call("synchronize_event", on, |below| pass!([unsafe] below.synchronize_event(event)))
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        let range = self.call(
            "allocate",
            None,
            |below| pass!([unsafe] below.allocate(stream, bytes, source)),
        )?;
        // New memory of a device has data that earlier programs left there, so it is poisoned. Not under a race checker, which
        // would not see that the host has waited for the write of the poison.
        if source == MemorySource::Unused
            && self.below.observer().works_alone()
            && !self.below.observer().watches()
        {
            self.flags(stream.device()).poison(&*self.below, range)?;
        }
        Ok(range)
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.call("free", None, |below| pass!([unsafe] below.free(stream, range)))
    }

    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()> {
        lock(&self.held).wait_for_device(stream);
        let on = Some(Point::Stream(stream));
        self.call("wait_for_device", on, |below| pass!([unsafe] below.wait_for_device(stream)))
    }

    fn trim(&self, device: DeviceId, keep: u64) -> DriverResult<()> {
        self.open_all();
        self.call("trim", None, |below| below.trim(device, keep))
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        if lock(&self.held).is_any_closed() {
            if let Some(range) = self.flags(device).take(bytes) {
                return Ok(range);
            }
            self.open_all();
        }
        self.call("allocate_pinned", None, |below| below.allocate_pinned(device, bytes))
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        self.flags(device).give_back(range);
        Ok(())
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        self.queue("copy", stream, |below| {
            if copy.kind.blocks_host() {
                self.open_for(Point::Stream(stream));
            }
            pass!([unsafe] below.copy(stream, copy))
        })
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        self.queue("fill", stream, |below| pass!([unsafe] below.fill(stream, range, byte)))
    }

    unsafe fn load_module(
        &self,
        device: DeviceId,
        name: &str,
        image: &Image,
    ) -> DriverResult<RawModule> {
        let key = (device, name.to_owned(), image.0.clone());
        self.loaded(
            &self.modules,
            key,
            |below| pass!([unsafe] below.load_module(device, name, image)),
        )
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        let name = format!("{} {}", source.name, source.entry);
        match source.code {
            // A kernel without an image: the body for the simulator.
            _ if !self.below.observer().works_alone() => {
                pass!([unsafe] self.below.load_kernel(device, source))
            }
            Code::Image(make) => {
                let compute_capability = self.below.device_info(device)?.compute_capability;
                let image = make(Target { compute_capability })?;
                let key = (device, name, image.0.clone());
                self.loaded(&self.kernels, key, |below| {
                    let given = |_| Ok(image.clone());
                    let source = KernelSource { code: Code::Image(&given), ..*source };
                    pass!([unsafe] below.load_kernel(device, &source))
                })
            }
            // The driver below loads an image of the program once.
            Code::Module(_) | Code::Embedded(_) => {
                let key = match source.code {
                    Code::Module(module) => module.handle().to_ne_bytes().to_vec(),
                    _ => Vec::new(),
                };
                let key = (device, name, key);
                self.loaded(
                    &self.kernels,
                    key,
                    |below| pass!([unsafe] below.load_kernel(device, source)),
                )
            }
        }
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        self.queue("launch", stream, |below| pass!([unsafe] below.launch(stream, launch)))
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        let on = Some(Point::Stream(stream));
        self.call(
            "launch_host_function",
            on,
            |below| pass!([unsafe] below.launch_host_function(stream, function)),
        )?;
        // The function may wake a host thread that waits without a driver call.
        if lock(&self.held).wakes(stream) {
            self.open_for(Point::Stream(stream));
        }
        Ok(())
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }

    fn observer(&self) -> &dyn Observer {
        self
    }
}

// SAFETY: work executes in the order of its stream, only later.
unsafe impl Libraries for Gates {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        self.queue(
            call.function,
            stream,
            |below| pass!([unsafe] below.libraries().call_library(stream, call)),
        )
    }
}

impl Observer for Gates {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.below.observer())
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let on = Some(Point::Stream(stream));
        self.call("recycle", on, |below| pass!([unsafe] below.observer().recycle(stream, range)))?;
        if !self.below.observer().works_alone() || range.bytes == 0 {
            return Ok(());
        }
        self.queue("fill", stream, |below| pass!([unsafe] below.fill(stream, range, POISON)))
    }
}
