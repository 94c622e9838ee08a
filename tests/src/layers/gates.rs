//! A layer in which the device executes nothing until the host waits for it.

mod flags;
mod held;
mod layer;
mod run;
mod watch;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::{DriverResult, LoadedKernel, RawModule};

use self::flags::{Flags, Loaded, PATIENCE};
use self::held::{Held, Point};
use self::run::Run;
use self::watch::{Last, Opens, Quiet};

/// A layer that holds each piece of work back behind a *gate*, which opens when the host waits for this work, or for
/// later work that depends on it. So if a stream waits for another one on the device, all work of the other stream is
/// done before. If it should wait and does not, none is done: a missing wait makes wrong data, however fast the device
/// is.
///
/// On a GPU a gate is a kernel that waits for a flag in page-locked memory, queued before the work. On the simulator a
/// gate is a host function that checks that the gate is open: under [`Lazy`](streamflow::driver::host::Policy::Lazy) the
/// simulator executes in the same order by itself. Work behind a gate is never replayed.
///
/// New memory is filled with NaNs, as on the simulator.
#[derive(Debug)]
pub struct Gates {
    below: Arc<dyn Driver>,
    devices: Vec<Flags>,
    held: Mutex<Held>,
    kernels: Loaded<LoadedKernel>,
    modules: Loaded<RawModule>,
    /// Whether work is being held back.
    is_holding: AtomicBool,
    /// The latest driver call made while work was held back.
    last: Mutex<Last>,
    /// The first wait of the host that has opened all gates, as a text.
    waited: Mutex<Option<String>>,
}

/// How often the watching thread looks at the latest call.
const LOOKS: Duration = Duration::from_millis(200);

/// How a run has ended, and how gates have opened other than by the waits of the host that [`Gates`] sees.
#[derive(Debug)]
pub struct Ended<T> {
    /// The value that the run returned.
    pub with: T,
    /// Whether a gate has opened by itself: the host has waited for work behind the gate in a way that [`Gates`] does not
    /// see.
    pub by_itself: bool,
    /// The first wait of the host, in a driver call or outside of the driver, that has opened all gates.
    pub waited: Option<String>,
    /// Whether nothing of the run uses its driver any more.
    pub is_over: bool,
}

impl Gates {
    /// Creates the layer above `below`. It holds work back only during [`behind`](Self::behind).
    ///
    /// # Errors
    /// Those of the driver.
    pub fn new(below: Arc<dyn Driver>) -> DriverResult<Self> {
        let mut held = Held::default();
        let mut devices = Vec::new();
        for index in 0..below.device_count() {
            let device = streamflow::device(index as u32);
            held.add_default(below.default_stream(device));
            devices.push(Flags::new(&*below, device)?);
        }
        // Restores the device that was bound before: the caller has bound none, or the first one.
        if let Some(first) = (below.device_count() > 1).then(|| streamflow::device(0)) {
            below.bind(first)?;
        }
        Ok(Self {
            below,
            devices,
            held: Mutex::new(held),
            kernels: Mutex::default(),
            modules: Mutex::default(),
            is_holding: AtomicBool::new(false),
            last: Mutex::default(),
            waited: Mutex::default(),
        })
    }

    /// Calls `run` with a driver that holds back its work. Then ends the run as [`before`](Self::before) does.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn behind<T>(
        self: &Arc<Self>,
        run: impl FnOnce(Arc<dyn Driver>) -> T,
    ) -> DriverResult<Ended<T>> {
        self.is_holding.store(true, Ordering::Release);
        self.before(|driver| {
            thread::scope(|scope| {
                let (_ends, ended) = channel();
                // No watching thread is needed on the simulator, which executes the work that the host waits for by
                // itself.
                if self.below.observer().works_alone() {
                    scope.spawn(|| self.watch(ended));
                }
                run(driver)
            })
        })
    }

    /// Calls `run` without holding back its work. Then opens all gates, waits for the device, and waits until other
    /// threads have dropped their objects of the run: the thread that destroys plans waits for the device for each plan.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn before<T>(
        self: &Arc<Self>,
        run: impl FnOnce(Arc<dyn Driver>) -> T,
    ) -> DriverResult<Ended<T>> {
        let (driver, ended) = Run::new(self.clone());
        let with = run(Arc::new(driver));
        self.is_holding.store(false, Ordering::Release);
        self.open_all();
        for device in &self.devices {
            device.wait_for_device(&*self.below)?;
        }
        let is_over = ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Disconnected);
        let by_itself = self.devices.iter().any(Flags::is_late);
        self.devices.iter().for_each(Flags::reset);
        Ok(Ended { with, by_itself, waited: lock(&self.waited).take(), is_over })
    }

    fn flags(&self, device: DeviceId) -> &Flags {
        &self.devices[device.index()]
    }

    /// Opens the gates that must be open before a point can be complete.
    fn open_for(&self, point: Point) {
        let opened = lock(&self.held).open(point);
        opened.into_iter().for_each(|gate| self.flags(gate.device).open(gate));
    }

    fn open_all(&self) {
        let opened = lock(&self.held).open_all();
        opened.into_iter().for_each(|gate| self.flags(gate.device).open(gate));
    }

    /// Queues a gate on a stream, before the stream's next work.
    fn hold(&self, stream: RawStream) -> DriverResult<()> {
        if !self.is_holding.load(Ordering::Acquire) {
            return Ok(());
        }
        let gate = lock(&self.held).place(stream);
        self.flags(gate.device).queue(&*self.below, stream, gate)
    }

    /// Makes a call to the driver below, and notes it for the watching thread.
    fn call<T>(
        &self,
        name: &'static str,
        on: Option<Point>,
        call: impl FnOnce(&dyn Driver) -> T,
    ) -> T {
        if !self.is_holding.load(Ordering::Acquire) {
            return call(&*self.below);
        }
        let number = lock(&self.last).begin(name, on);
        let result = call(&*self.below);
        lock(&self.last).end(number);
        result
    }

    /// Watches the calls from a thread of its own, and opens gates when no new call is made: the host may then be
    /// waiting. CUDA and libraries may wait in any call, for the stream that the call is about, or for the device.
    /// Outside of the driver, a library waits while it makes or destroys a plan.
    fn watch(&self, ended: Receiver<()>) {
        let mut quiet = Quiet::default();
        while ended.recv_timeout(LOOKS) == Err(RecvTimeoutError::Timeout) {
            let last = *lock(&self.last);
            // This is a statement of its own, so that the lock is released before gates are opened, which takes the lock
            // again.
            let opens = quiet.look(&last, lock(&self.held).is_any_closed());
            match opens {
                None => {}
                Some(Opens::For(point)) => self.open_for(point),
                Some(Opens::All) => {
                    lock(&self.waited).get_or_insert_with(|| last.to_string());
                    self.open_all();
                }
            }
        }
    }

    /// Queues a gate on the stream and then the work.
    fn queue(
        &self,
        name: &'static str,
        stream: RawStream,
        call: impl FnOnce(&dyn Driver) -> DriverResult<()>,
    ) -> DriverResult<()> {
        self.call(name, Some(Point::Stream(stream)), |below| {
            self.hold(stream)?;
            call(below)
        })
    }

    /// Whether to answer a query with "not complete".
    fn finds_closed(&self, point: Point) -> bool {
        let is_closed = lock(&self.held).finds_closed(point);
        if !is_closed {
            self.open_for(point);
        }
        is_closed
    }

    /// Returns code that was loaded before, or loads it: while CUDA loads code, it may wait for the kernels that run.
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

/// Sets CUDA's variable for the number of hardware queues to 32, the maximum, so that 32 streams reach the device without
/// a shared queue. The default is 8: work of two streams that share a queue may wait behind a gate of one of them.
pub(crate) fn spread_streams() {
    const CONNECTIONS: &str = "CUDA_DEVICE_MAX_CONNECTIONS";
    if std::env::var_os(CONNECTIONS).is_none() {
        // SAFETY: `Suite::run` calls this before it starts threads, and before the first call of CUDA reads the
        // variable.
        unsafe { std::env::set_var(CONNECTIONS, "32") };
    }
}

impl Drop for Gates {
    fn drop(&mut self) {
        self.open_all();
        if self.below.sticky_error().is_some() {
            return;
        }
        // After an error, memory is leaked, since work may use it.
        let devices = &self.devices;
        let waited = devices.iter().try_for_each(|flags| flags.wait_for_device(&*self.below));
        let _freed =
            waited.and_then(|()| devices.iter().try_for_each(|flags| flags.free(&*self.below)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
