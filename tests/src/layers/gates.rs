//! A driver whose device does nothing until the host waits for it.

mod flags;
mod held;
mod layer;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use streamflow::driver::{DeviceId, Driver, DriverResult, LoadedKernel, RawModule, RawStream};

use self::flags::{Flags, Loaded};
use self::held::{Held, Point};

/// Holds each piece of work back behind a *gate*, which opens when the host waits for this work, or for work that comes
/// after it. So a stream that waits for another one on the device finds all of its work done, and a stream that should wait
/// and does not finds none: a missing wait makes wrong data, however fast the device is.
///
/// On a GPU a gate is a kernel that waits for a flag in page-locked memory, queued before the work. On the simulator it is
/// a host function, which checks that its gate is open: under [`Lazy`](streamflow::driver::host::Policy::Lazy) the simulator
/// executes in the same order by itself. Work behind a gate is never replayed.
///
/// New memory has NaNs, as on the simulator.
#[derive(Debug)]
pub struct Gates {
    below: Arc<dyn Driver>,
    devices: Vec<Flags>,
    held: Mutex<Held>,
    kernels: Loaded<LoadedKernel>,
    modules: Loaded<RawModule>,
    /// Whether work is held back.
    is_holding: AtomicBool,
    /// The first call that has waited for the device.
    waited_in: Mutex<Option<&'static str>>,
}

/// A call that takes longer waits for the device.
const WAITS: Duration = Duration::from_millis(200);

/// How the gates of a run have opened, beside the waits of the host.
#[derive(Debug)]
pub struct Opened {
    /// Whether one has opened by itself: the host has waited for work behind it in a way that [`Gates`] does not see.
    pub by_itself: bool,
    /// A call of the driver that has waited for the device, so that all have opened.
    pub within: Option<&'static str>,
}

impl Gates {
    /// Passes all calls to `below`, without gates until the first [`close`](Self::close).
    ///
    /// # Errors
    /// Those of the driver.
    pub fn new(below: Arc<dyn Driver>) -> DriverResult<Self> {
        let mut held = Held::default();
        let mut devices = Vec::new();
        for index in 0..below.device_count() {
            let device = streamflow::platform::device(index as u32);
            held.add_default(below.default_stream(device));
            devices.push(Flags::new(&*below, device)?);
        }
        // As before: the caller has bound none, or the first one.
        if let Some(first) = (below.device_count() > 1).then(|| streamflow::platform::device(0)) {
            below.bind(first)?;
        }
        Ok(Self {
            below,
            devices,
            held: Mutex::new(held),
            kernels: Mutex::default(),
            modules: Mutex::default(),
            is_holding: AtomicBool::new(false),
            waited_in: Mutex::default(),
        })
    }

    /// Holds back all later work.
    pub fn close(&self) {
        self.is_holding.store(true, Ordering::Release);
    }

    /// Opens all gates, holds back no later work, and waits for the device.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn open(&self) -> DriverResult<Opened> {
        self.is_holding.store(false, Ordering::Release);
        self.open_all();
        for device in &self.devices {
            device.wait_for_device(&*self.below)?;
        }
        let by_itself = self.devices.iter().any(Flags::is_late);
        self.devices.iter().for_each(Flags::reset);
        Ok(Opened { by_itself, within: lock(&self.waited_in).take() })
    }

    fn flags(&self, device: DeviceId) -> &Flags {
        &self.devices[device.index()]
    }

    /// Opens the gates that a point is behind.
    fn open_for(&self, point: Point) {
        let opened = lock(&self.held).open(point);
        opened.into_iter().for_each(|gate| self.flags(gate.device).open(gate));
    }

    fn open_all(&self) {
        let opened = lock(&self.held).open_all();
        opened.into_iter().for_each(|gate| self.flags(gate.device).open(gate));
    }

    /// Places a gate before the next work of a stream.
    fn hold(&self, stream: RawStream) -> DriverResult<()> {
        if !self.is_holding.load(Ordering::Acquire) {
            return Ok(());
        }
        let gate = lock(&self.held).place(stream);
        self.flags(gate.device).queue(&*self.below, stream, gate)
    }

    /// Makes a call below. CUDA and libraries may wait in any call: for the stream that the call is about, or for the device.
    /// Then the gates open for it.
    fn call<T>(
        &self,
        name: &'static str,
        on: Option<RawStream>,
        call: impl FnOnce(&dyn Driver) -> T,
    ) -> T {
        let may_wait = self.is_holding.load(Ordering::Acquire) && self.below.works_alone();
        if !may_wait {
            return call(&*self.below);
        }
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                for point in [on.map(Point::Stream), None] {
                    let end = Instant::now() + WAITS;
                    while Instant::now() < end {
                        thread::park_timeout(end.saturating_duration_since(Instant::now()));
                        if is_done.load(Ordering::Acquire) {
                            return;
                        }
                    }
                    match point {
                        Some(point) => self.open_for(point),
                        None => {
                            lock(&self.waited_in).get_or_insert(name);
                            self.open_all();
                        }
                    }
                }
            });
            let result = call(&*self.below);
            is_done.store(true, Ordering::Release);
            watcher.thread().unpark();
            result
        })
    }

    /// Queues work behind a gate.
    fn queue(
        &self,
        name: &'static str,
        stream: RawStream,
        call: impl FnOnce(&dyn Driver) -> DriverResult<()>,
    ) -> DriverResult<()> {
        self.hold(stream)?;
        self.call(name, Some(stream), call)
    }

    /// Whether a query is answered with "not complete".
    fn finds_closed(&self, point: Point) -> bool {
        let is_closed = lock(&self.held).finds_closed(point);
        if !is_closed {
            self.open_for(point);
        }
        is_closed
    }

    /// Takes code that is loaded, or loads it: CUDA may then wait for the kernels that run.
    fn loaded<T: Copy>(
        &self,
        loaded: &Loaded<T>,
        key: (DeviceId, String, Vec<u8>),
        load: impl FnOnce(&dyn Driver) -> DriverResult<T>,
    ) -> DriverResult<T> {
        if let Some(&found) = lock(loaded).get(&key) {
            return Ok(found);
        }
        self.open_all();
        let new = self.call("load", None, load)?;
        lock(loaded).insert(key, new);
        Ok(new)
    }
}

/// Lets 32 streams of this process, the most that CUDA can, reach the device without a queue in common. By default 8 do:
/// work of two streams that share a queue may wait behind a gate of one of them.
pub(crate) fn spread_streams() {
    const CONNECTIONS: &str = "CUDA_DEVICE_MAX_CONNECTIONS";
    if std::env::var_os(CONNECTIONS).is_none() {
        // SAFETY: `Suite::run` calls this before it starts threads, and before the first call of CUDA, which reads it.
        unsafe { std::env::set_var(CONNECTIONS, "32") };
    }
}

impl Drop for Gates {
    fn drop(&mut self) {
        self.open_all();
        if self.below.sticky_error().is_some() {
            return;
        }
        // After an error, memory is not freed: work may use it.
        let devices = &self.devices;
        let waited = devices.iter().try_for_each(|flags| flags.wait_for_device(&*self.below));
        let _freed =
            waited.and_then(|()| devices.iter().try_for_each(|flags| flags.free(&*self.below)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
