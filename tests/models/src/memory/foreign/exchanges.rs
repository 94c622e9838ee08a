//! Models of memory that is lent to other code, or adopted from it, and comes back (invariants 17 to 19 and 22 of
//! `streamflow/src/memory/README.md`).

use std::sync::Arc;

use loom::thread;

use super::adopt::{After, ForeignMemory};
use super::lent::{Returner, lend};
use super::owners::{Drops, Theirs};
use super::reaper;
use crate::driver::device::Device;
use crate::driver::{DeviceId, Driver, MemoryRange, RawStream};
use crate::explore::explore_watched_or_not;
use crate::forever;
use crate::memory::border::foreign_counts;
use crate::memory::{MemoryLimits, MemoryOptions, MemoryPool, PoolHandle, Shape, Tensor};
use crate::stream::{CudaStream, StreamTable};
use crate::sync::yield_now;

const DEVICE: DeviceId = DeviceId(0);
const BYTES: usize = 512;

/// A device with a pool, two streams of streamflow and one of other code.
struct Exchange {
    device: Arc<Device>,
    a: CudaStream,
    b: CudaStream,
    theirs: RawStream,
    pool: PoolHandle<MemoryPool>,
}

impl Exchange {
    fn new(watches: bool) -> Self {
        let device = Device::new(watches);
        let table = StreamTable::new(device.clone()).unwrap();
        let [a, b] = [(); 2].map(|()| CudaStream::new(&table));
        let options =
            MemoryOptions { in_flight: 1, small_in_flight: 1, ..MemoryOptions::default() };
        let limits = MemoryLimits::unbounded();
        let pool = MemoryPool::limited(&table, DEVICE, options, "pool", limits).unwrap();
        // Handle 0x100 is the default stream. Only other code uses it.
        Self { device, a, b, theirs: RawStream::new(DEVICE, 0x100), pool }
    }

    /// Lends a tensor to other code. The stream of the other code waits for the work on the tensor.
    fn lend(&self, tensor: Tensor<u8>) -> Returner {
        // SAFETY: the stream is the default one.
        unsafe { self.device.wait_for_device(self.theirs) }.unwrap();
        lend(tensor).unwrap()
    }

    fn tensor(&self, stream: &CudaStream) -> Tensor<u8> {
        Tensor::new(&self.pool, stream, &Shape::new(&[BYTES]).unwrap()).unwrap()
    }
}

/// The owner of a tensor's memory. Its drop checks that the device no longer uses the memory.
struct Memory {
    device: Arc<Device>,
    range: MemoryRange,
    _theirs: Theirs,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.device.given_back(self.range);
    }
}

/// Runs the model: a tensor in memory of other code is dropped while another thread uses the stream that wrote the
/// tensor.
fn adopt_and_drop(waits_for_calls: bool) {
    explore_watched_or_not(move |watches| {
        reaper::start().unwrap();
        let exchange = Arc::new(Exchange::new(watches));
        if waits_for_calls {
            exchange.device.set_waits_for_calls();
        }
        let drops = Arc::new(Drops::default());
        let range = MemoryRange { address: 0x5000, bytes: BYTES as u64 };
        let device = exchange.device.clone();
        let owner = Memory { device, range, _theirs: Theirs(drops.clone()) };
        // SAFETY: the models' driver touches no memory of a device.
        let memory = unsafe { ForeignMemory::new(DEVICE, range.address, range.bytes, owner) };
        let (shape, after) = (Shape::new(&[BYTES]).unwrap(), After::QueuedOn(&exchange.a));
        let pool = exchange.pool.pool();
        let mut tensor = pool.adopt_tensor::<u8>(memory, &shape, after).unwrap();
        exchange.b.fill_bytes(&mut tensor, 1).unwrap();
        let other = exchange.clone();
        let thread = thread::spawn(move || {
            other.b.record().unwrap();
            other.device.call_host_functions();
        });
        drop(tensor);
        thread.join().unwrap();
        let device = exchange.device.clone();
        if waits_for_calls {
            // The drop of the pool calls the host functions that are still queued.
            drop(exchange);
        } else {
            device.call_host_functions();
        }
        drops.wait(1);
        forever::end();
        assert_eq!(foreign_counts().adopted, 0, "counted as not given back");
        drops.check();
        device.check();
    });
}

#[test]
pub(crate) fn adopted_memory_that_is_dropped() {
    adopt_and_drop(false);
}

#[test]
pub(crate) fn adopted_memory_that_is_dropped_before_its_pool() {
    adopt_and_drop(true);
}

/// Waits until the library has counted the lent memory as returned.
fn wait_for_memory() {
    while foreign_counts().lent > 0 {
        yield_now();
    }
}

/// Other code returns memory that its stream still uses, while another thread allocates memory.
#[test]
pub(crate) fn lent_memory_that_is_needed() {
    explore_watched_or_not(|watches| {
        let exchange = Arc::new(Exchange::new(watches));
        let tensor = exchange.tensor(&exchange.a);
        let range = tensor.block().range();
        let returner = exchange.lend(tensor);
        let other = exchange.clone();
        exchange.device.foreign_work(exchange.theirs, range);
        let thread = thread::spawn(move || other.device.in_deleter(|| returner.give_back()));
        let mine = exchange.tensor(&exchange.b);
        thread.join().unwrap();
        drop(mine);
        wait_for_memory();
        assert_eq!(exchange.pool.used(), 0, "memory is in no count");
        drop(exchange.tensor(&exchange.a));
        forever::end();
        exchange.device.check();
    });
}

/// Other code returns memory while the memory's pool is closed. The driver executes work only in calls.
#[test]
pub(crate) fn lent_memory_that_is_returned_while_its_pool_is_closed() {
    explore_watched_or_not(|watches| {
        let exchange = Exchange::new(watches);
        exchange.device.set_waits_for_calls();
        let tensor = exchange.tensor(&exchange.a);
        let range = tensor.block().range();
        let returner = exchange.lend(tensor);
        let Exchange { device, a, b, theirs, pool } = exchange;
        let (other, open) = (device.clone(), pool.pool().clone());
        device.foreign_work(theirs, range);
        let thread = thread::spawn(move || other.in_deleter(|| returner.give_back()));
        drop(pool);
        thread.join().unwrap();
        wait_for_memory();
        assert_eq!(open.used(), 0, "memory is in no count");
        forever::end();
        assert_eq!(device.allocated(), (0, 0), "memory is not given back");
        drop((open, a, b));
        device.check();
    });
}
