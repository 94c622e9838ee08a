//! Memory and streams that pass between streamflow and cudarc in both directions, after slow work on the device.
//! Each program has a control without the order. cudarc has no device on the simulator, so all of these tests
//! need a GPU.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use streamflow::cudarc::driver::sys::CUresult;
use streamflow::cudarc::driver::{CudaContext, CudaSlice, CudaStream as Theirs, DriverError};
use streamflow::memory::{DeviceSlice, MemoryLimits, foreign_counts};
use streamflow::prelude::*;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_tests::border::{PROGRAMS, cudarc, given_back};
use streamflow_tests::foreign::{
    adopted_at_once, adopted_without_owner, external, for_cudarc, unseen, used_by_cudarc,
};
use streamflow_tests::kernels::{add_one, fill, slow_copy, slow_fill};
use streamflow_tests::layers::DropWaits;
use streamflow_tests::{Failed, Suite, check, check_equal};

const LEN: usize = 1003;
const SLOW: u64 = 100_000_000;

/// A program that runs with its order if the second argument is true. It returns whether its data was right.
type Border = fn(&World<'_>, bool) -> Result<bool, Failed>;

const ORDERED: &[(&str, Border)] = &[
    ("a_view_comes_after_the_writer", read_after_write),
    ("a_writer_comes_after_a_view", write_after_read),
    ("a_writer_comes_after_a_view_that_another_stream_of_cudarc_reads", write_after_another),
    ("a_writer_comes_after_a_view_on_the_default_stream_of_the_thread", write_after_the_threads),
    ("a_writer_comes_after_a_view_whose_wait_cudarc_has_lost", write_after_lost_wait),
    ("a_writer_comes_after_a_view_whose_claim_panicked", write_after_panic),
    ("a_reader_comes_after_a_view_that_is_written", read_after_their_write),
    ("another_stream_of_cudarc_comes_after_the_writer", read_on_another),
    ("a_view_on_the_default_stream_of_the_thread_comes_after_the_writer", read_on_the_threads),
    ("an_adopted_slice_comes_after_its_writer", adopted),
    ("an_adopted_slice_is_freed_after_its_last_use", freed_elsewhere),
    ("a_slice_that_is_lent_comes_after_the_writer", lent),
];

pub(crate) fn suite() -> Suite {
    let suite =
        PROGRAMS.iter().fold(Suite::new(), |suite, &(name, program)| suite.cuda(name, program));
    ORDERED
        .iter()
        .fold(suite, |suite, &(name, program)| {
            suite
                .cuda(name, move |on| {
                    check(program(&World::new(on)?, true)?, || "the data is wrong".into())
                })
                .cuda(&format!("{name}_control"), move |on| {
                    let right = program(&World::new(on)?, false)?;
                    check(!right, || "the data is right without the order".into())
                })
        })
        .cuda("a_lent_slice_is_dropped_on_another_thread_while_its_work_is_queued", lent_elsewhere)
        .cuda("control_a_lent_slice_comes_back_without_a_wait_for_its_work", lent_at_once)
        .cuda("a_stream_for_cudarc_is_in_order_and_outlives_its_loan", our_stream)
        .cuda("a_stream_of_cudarc_is_an_external_stream", their_stream)
        .cuda("a_thousand_round_trips_leave_nothing", round_trips)
        .cuda("another_context_or_device_is_refused", refused)
}

/// The platform and stream of streamflow, and the context and stream of cudarc, that a program uses.
struct World<'a> {
    platform: &'a Platform,
    ours: CudaStream,
    context: Arc<CudaContext>,
    theirs: Arc<Theirs>,
}

impl<'a> World<'a> {
    fn new(platform: &'a Platform) -> Result<Self, Failed> {
        let pool = platform.stream_pool("OURS", &CudaStreamPool::new().max_size(2))?;
        let (ours, other) = (pool.allocate("ours")?, pool.allocate("other")?);
        let context = cudarc(CudaContext::new(0))?;
        let theirs = cudarc(context.new_stream())?;
        // Every kernel is launched once and so loaded, before a program depends on timing.
        let (mut a, mut b) = (platform.buffer(1, &other)?, platform.buffer(1, &other)?);
        other.launch::<slow_fill>(1, (&mut a, 0.0, 0))?;
        other.launch::<fill>(1, (&mut a, 0.0))?;
        other.launch::<add_one>(1, (&mut a,))?;
        other.launch::<slow_copy>(1, (&mut b, &a, 0))?;
        other.synchronize_blocking()?;
        Ok(Self { platform, ours, context, theirs })
    }

    /// Returns a tensor full of `value`, with all work on it complete.
    fn tensor(&self, value: f32) -> Result<Tensor<f32>> {
        let mut tensor = self.platform.tensor([LEN], &self.ours)?;
        self.ours.launch::<fill>(LEN, (&mut tensor, value))?;
        self.ours.synchronize_blocking()?;
        Ok(tensor)
    }

    /// Returns a slice of cudarc full of `value`, with all work on it complete.
    fn slice(&self, value: f32) -> Result<CudaSlice<f32>, Failed> {
        let slice = cudarc(self.theirs.clone_htod(&[value; LEN]))?;
        cudarc(self.theirs.synchronize())?;
        Ok(slice)
    }

    /// Queues slow work on cudarc's stream.
    fn slow(&self) -> Result<(), Failed> {
        self.slow_on(&self.theirs)
    }

    fn slow_on(&self, theirs: &Arc<Theirs>) -> Result<(), Failed> {
        let external = external(self.platform, theirs)?;
        let mut other = self.platform.buffer(1, &external)?;
        Ok(external.launch::<slow_fill>(1, (&mut other, 0.0, SLOW))?)
    }

    fn holds(&self, data: &DeviceSlice<f32>, value: f32) -> Result<bool> {
        Ok(self.ours.download_blocking(data)?.iter().all(|&found| found == value))
    }

    fn has(&self, slice: &CudaSlice<f32>, value: f32) -> Result<bool, Failed> {
        let found = cudarc(self.theirs.clone_dtoh(slice))?;
        cudarc(self.theirs.synchronize())?;
        Ok(found.iter().all(|&found| found == value))
    }

    /// Overwrites the tensor `x`, which `reader` has copied to `copy`, and ends the program. Returns whether `copy`
    /// has the content from before the write.
    fn overwritten(
        &self,
        x: &mut Tensor<f32>,
        reader: &Theirs,
        copy: &CudaSlice<f32>,
    ) -> Result<bool, Failed> {
        self.ours.launch::<fill>(LEN, (x, 9.0))?;
        self.ours.synchronize_blocking()?;
        cudarc(reader.synchronize())?;
        self.end(self.has(copy, 7.0)?)
    }

    /// Ends a program: checks that cudarc has no error, and that all work is complete. Returns `right`.
    fn end(&self, right: bool) -> Result<bool, Failed> {
        cudarc(self.theirs.synchronize())?;
        self.ours.synchronize_blocking()?;
        cudarc(self.context.check_err())?;
        Ok(right)
    }
}

fn read_after_write(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (mut x, mut copy) = (on.tensor(1.0)?, on.slice(0.0)?);
    let early = unseen(&on.ours, &x, &on.theirs)?;
    on.ours.launch::<slow_fill>(LEN, (&mut x, 7.0, SLOW))?;
    if ordered {
        cudarc(
            on.ours.read_cudarc(&x, &on.theirs, |view| on.theirs.memcpy_dtod(&view, &mut copy))?,
        )?;
    } else {
        cudarc(on.theirs.memcpy_dtod(early.deref(), &mut copy))?;
    }
    on.end(on.has(&copy, 7.0)?)
}

fn write_after_read(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (mut x, mut copy) = (on.tensor(7.0)?, on.slice(0.0)?);
    let early = unseen(&on.ours, &x, &on.theirs)?;
    on.slow()?;
    if ordered {
        cudarc(
            on.ours.read_cudarc(&x, &on.theirs, |view| on.theirs.memcpy_dtod(&view, &mut copy))?,
        )?;
    } else {
        cudarc(on.theirs.memcpy_dtod(early.deref(), &mut copy))?;
    }
    on.overwritten(&mut x, &on.theirs, &copy)
}

/// The view is made for one stream of cudarc, and another stream reads it late. In the control, the other stream
/// comes after the writer, but no write waits for the other stream.
fn write_after_another(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let another = cudarc(on.context.new_stream())?;
    on.slow_on(&another)?;
    write_after(on, &on.theirs, &another, ordered)
}

/// cudarc works on the default stream of the thread, as with `Device::new_cuda` of candle.
fn write_after_the_threads(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (threads, late) = (on.context.per_thread_stream(), cudarc(on.context.new_stream())?);
    on.slow_on(&late)?;
    cudarc(threads.join(&late))?;
    write_after(on, &threads, &threads, ordered)
}

fn write_after(
    on: &World<'_>,
    theirs: &Arc<Theirs>,
    reader: &Arc<Theirs>,
    ordered: bool,
) -> Result<bool, Failed> {
    let (mut x, mut copy) = (on.tensor(7.0)?, on.slice(0.0)?);
    let early = unseen(&on.ours, &x, theirs)?;
    if ordered {
        cudarc(on.ours.read_cudarc(&x, theirs, |view| reader.memcpy_dtod(&view, &mut copy))?)?;
    } else {
        on.ours.before_cudarc(reader)?;
        cudarc(reader.memcpy_dtod(early.deref(), &mut copy))?;
    }
    on.overwritten(&mut x, reader, &copy)
}

/// cudarc has recorded an error while the view was read. So it queues no wait for the stream that has read the
/// view.
fn write_after_lost_wait(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (mut x, mut copy) = (on.tensor(7.0)?, on.slice(0.0)?);
    let another = cudarc(on.context.new_stream())?;
    let early = unseen(&on.ours, &x, &another)?;
    on.slow_on(&another)?;
    if ordered {
        let read = on.ours.read_cudarc(&x, &on.theirs, |view| {
            let copied = another.memcpy_dtod(&view, &mut copy);
            on.context.record_err::<()>(Err(DriverError(CUresult::CUDA_ERROR_NOT_PERMITTED)));
            copied
        });
        check(read.is_err(), || "the error is lost".into())?;
    } else {
        cudarc(another.memcpy_dtod(early.deref(), &mut copy))?;
    }
    on.overwritten(&mut x, &another, &copy)
}

fn write_after_panic(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (mut x, mut copy) = (on.tensor(7.0)?, on.slice(0.0)?);
    let early = unseen(&on.ours, &x, &on.theirs)?;
    on.slow()?;
    if ordered {
        let read = catch_unwind(AssertUnwindSafe(|| {
            on.ours.read_cudarc(&x, &on.theirs, |view| {
                let copied = on.theirs.memcpy_dtod(&view, &mut copy);
                resume_unwind(Box::new(copied.is_ok()))
            })
        }));
        let copied = read.map(|_: Result<(), Error>| ()).map_err(|panic| panic.downcast::<bool>());
        check(matches!(copied, Err(Ok(copied)) if *copied), || "another panic".into())?;
    } else {
        cudarc(on.theirs.memcpy_dtod(early.deref(), &mut copy))?;
    }
    on.overwritten(&mut x, &on.theirs, &copy)
}

fn read_after_their_write(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (mut x, mut copy, source) = (on.tensor(1.0)?, on.tensor(0.0)?, on.slice(7.0)?);
    let mut early = unseen(&on.ours, &x, &on.theirs)?;
    on.slow()?;
    if ordered {
        cudarc(on.ours.write_cudarc(&mut x, &on.theirs, |mut view| {
            on.theirs.memcpy_dtod(&source, &mut view)
        })?)?;
    } else {
        cudarc(on.theirs.memcpy_dtod(&source, &mut *early))?;
    }
    on.ours.launch::<slow_copy>(LEN, (&mut copy, &x, 0))?;
    let right = on.holds(&copy, 7.0)?;
    on.end(right)
}

/// The view is made for one stream of cudarc, and is read on another stream.
fn read_on_another(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (mut x, mut copy) = (on.tensor(1.0)?, on.slice(0.0)?);
    let another = cudarc(on.context.new_stream())?;
    let early = unseen(&on.ours, &x, &on.theirs)?;
    on.ours.launch::<slow_fill>(LEN, (&mut x, 7.0, SLOW))?;
    if ordered {
        cudarc(on.ours.read_cudarc(&x, &on.theirs, |view| another.memcpy_dtod(&view, &mut copy))?)?;
        on.ours.launch::<fill>(LEN, (&mut x, 9.0))?;
    } else {
        cudarc(another.memcpy_dtod(early.deref(), &mut copy))?;
    }
    cudarc(another.synchronize())?;
    on.end(on.has(&copy, 7.0)?)
}

/// cudarc works on the default stream of the thread, as with `Device::new_cuda` of candle.
fn read_on_the_threads(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (mut x, mut copy) = (on.tensor(1.0)?, on.slice(0.0)?);
    let threads = on.context.per_thread_stream();
    let early = unseen(&on.ours, &x, &threads)?;
    on.ours.launch::<slow_fill>(LEN, (&mut x, 7.0, SLOW))?;
    if ordered {
        cudarc(on.ours.read_cudarc(&x, &threads, |view| threads.memcpy_dtod(&view, &mut copy))?)?;
        on.ours.launch::<fill>(LEN, (&mut x, 9.0))?;
    } else {
        cudarc(threads.memcpy_dtod(early.deref(), &mut copy))?;
    }
    cudarc(threads.synchronize())?;
    on.end(on.has(&copy, 7.0)?)
}

fn adopted(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (mut slice, source, mut copy) = (on.slice(1.0)?, on.slice(7.0)?, on.tensor(0.0)?);
    on.slow()?;
    cudarc(on.theirs.memcpy_dtod(&source, &mut slice))?;
    let tensor = if ordered {
        on.platform.adopt_cudarc(slice, [LEN])?
    } else {
        adopted_at_once(on.platform, slice)?
    };
    on.ours.launch::<slow_copy>(LEN, (&mut copy, &tensor, 0))?;
    let right = on.holds(&copy, 7.0)?;
    on.end(right)
}

fn lent(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let (mut x, mut copy) = (on.tensor(1.0)?, on.slice(0.0)?);
    let early = unseen(&on.ours, &x, &on.theirs)?;
    on.ours.launch::<slow_fill>(LEN, (&mut x, 7.0, SLOW))?;
    if ordered {
        let slice = x.into_cudarc(&on.ours, &on.theirs)?;
        cudarc(on.theirs.memcpy_dtod(&*slice, &mut copy))?;
    } else {
        cudarc(on.theirs.memcpy_dtod(early.deref(), &mut copy))?;
    }
    on.end(on.has(&copy, 7.0)?)
}

/// An adopted slice is dropped on another thread while work on it is queued. cudarc hands out the memory of a
/// dropped slice again at once, so that a new owner's write could overtake the read.
fn freed_elsewhere(on: &World<'_>, ordered: bool) -> Result<bool, Failed> {
    let before = foreign_counts();
    let (mut copy, slice) = (on.tensor(0.0)?, on.slice(7.0)?);
    let (tensor, free): (_, Box<dyn Send>) = if ordered {
        (on.platform.adopt_cudarc(slice, [LEN])?, Box::new(()))
    } else {
        (adopted_without_owner(on.platform, &slice)?, Box::new(slice))
    };
    on.ours.launch::<slow_copy>(LEN, (&mut copy, &tensor, SLOW))?;
    let context = on.context.clone();
    let dropped = thread::spawn(move || {
        let bound = context.bind_to_thread();
        drop((tensor, free));
        bound
    });
    cudarc(dropped.join().map_err(|_| Failed::msg("the drop panicked"))?)?;
    let others: Vec<_> = (0..64).map(|_| on.slice(9.0)).collect::<Result<_, _>>()?;
    let right = on.holds(&copy, 7.0)?;
    drop(others);
    given_back(before)?;
    on.end(right)
}

fn lent_elsewhere(on: &Platform) -> Result<(), Failed> {
    check(lent_again(on)?, || "the memory was used again before cudarc's work".into())
}

/// The control of [`lent_elsewhere`]: the driver drops the wait for the device when the memory comes back.
fn lent_at_once(on: &Platform) -> Result<(), Failed> {
    let hasty = Arc::new(DropWaits::of_device(on.driver().clone()));
    let platform = Platform::builder().driver(hasty.clone())?;
    check(!lent_again(&platform)?, || "the data is right without the order".into())?;
    check(hasty.dropped() > 0, || "no wait was dropped".into())
}

/// Drops a lent slice on another thread behind slow work, and allocates its memory again: the allocator has room
/// for one tensor. Returns whether cudarc has read the slice's own content.
fn lent_again(on: &Platform) -> Result<bool, Failed> {
    const LEN: usize = 1 << 20;
    let on = World::new(on)?;
    let limits = MemoryLimits::stream_ordered().max_size(4 * LEN as u64);
    let allocator = on.platform.allocator("ONE", device(0), limits)?;
    let mut x = allocator.tensor::<f32>([LEN], &on.ours)?;
    on.ours.launch::<fill>(LEN, (&mut x, 7.0))?;
    let mut copy = cudarc(on.theirs.alloc_zeros::<f32>(LEN))?;
    on.ours.synchronize_blocking()?;
    let address = on.ours.read_raw(&x, |address| address)?;
    let before = foreign_counts();
    let slice = x.into_cudarc(&on.ours, &on.theirs)?;
    on.slow()?;
    cudarc(on.theirs.memcpy_dtod(&*slice, &mut copy))?;
    let dropped = thread::spawn(move || drop(slice)).join();
    check(dropped.is_ok(), || "the drop panicked".into())?;
    given_back(before)?;
    let mut next = allocator.tensor::<f32>([LEN], &on.ours)?;
    on.ours.launch::<fill>(LEN, (&mut next, 9.0))?;
    check_equal(on.ours.read_raw(&next, |address| address)?, address)?;
    on.ours.synchronize_blocking()?;
    let right = on.has(&copy, 7.0)?;
    on.end(right)
}

fn our_stream(on: &Platform) -> Result<(), Failed> {
    let on = World::new(on)?;
    let pool = on.platform.stream_pool("LENT", &CudaStreamPool::new().max_size(1))?;
    let stream = pool.allocate("lent")?;
    let mut x = on.tensor(1.0)?;
    let slice = {
        let lent = for_cudarc(&stream, &on.context)?;
        check_equal(lent.cu_stream() as u64, stream.raw().handle())?;
        stream.launch::<slow_fill>(LEN, (&mut x, 7.0, SLOW))?;
        let mut slice = cudarc(lent.alloc_zeros::<f32>(LEN))?;
        cudarc(stream.read_cudarc(&x, &lent, |view| lent.memcpy_dtod(&view, &mut slice))?)?;
        slice
    };
    drop((stream, pool));
    let found = cudarc(slice.stream().clone_dtoh(&slice))?;
    check_equal(found, vec![7.0; LEN])?;
    drop(slice);
    check(on.end(true)?, String::new)
}

fn their_stream(on: &Platform) -> Result<(), Failed> {
    let on = World::new(on)?;
    let external_stream = external(on.platform, &on.theirs)?;
    let mut x = on.tensor(1.0)?;
    external_stream.launch::<slow_fill>(LEN, (&mut x, 7.0, SLOW))?;
    on.ours.launch::<add_one>(LEN, (&mut x,))?;
    check(on.holds(&x, 8.0)?, || "the data is wrong".into())?;
    for (stream, text) in [
        (on.context.default_stream(), "Platform::default_stream"),
        (on.context.per_thread_stream(), "CudaStream::after_cudarc"),
    ] {
        let error = external(on.platform, &stream).err().map(|error| error.to_string());
        let is_clear = error.as_ref().is_some_and(|error| error.contains(text));
        check(is_clear, || format!("{error:?}"))?;
    }
    check(on.end(true)?, String::new)
}

/// Checks that after many exchanges, neither side has more memory in use than before.
fn round_trips(on: &Platform) -> Result<(), Failed> {
    let on = World::new(on)?;
    let allocator = on.platform.allocator(
        "TRIPS",
        device(0),
        MemoryLimits::stream_ordered().max_size(1 << 20),
    )?;
    cudarc(on.theirs.synchronize())?;
    let (before, used) = (foreign_counts(), cudarc(used_by_cudarc(&on.context))?);
    for turn in 0..1000 {
        let value = turn as f32;
        let mut x = allocator.tensor::<f32>([LEN], &on.ours)?;
        on.ours.launch::<fill>(LEN, (&mut x, value))?;
        let slice =
            cudarc(on.ours.read_cudarc(&x, &on.theirs, |view| on.theirs.clone_dtod(&view))?)?;
        let lent = x.into_cudarc(&on.ours, &on.theirs)?;
        let mut back = on.platform.adopt_cudarc(slice, [LEN])?;
        on.ours.launch::<add_one>(LEN, (&mut back,))?;
        if turn % 100 == 0 {
            check(on.holds(&back, value + 1.0)?, || format!("turn {turn}"))?;
            check(on.has(&lent, value)?, || format!("lent in turn {turn}"))?;
        }
    }
    on.ours.synchronize_blocking()?;
    given_back(before)?;
    cudarc(on.theirs.synchronize())?;
    check_equal(cudarc(used_by_cudarc(&on.context))?, used)?;
    check_equal(allocator.used(), 0)?;
    check(on.end(true)?, String::new)
}

fn refused(on: &Platform) -> Result<(), Failed> {
    let on = World::new(on)?;
    let says = |result: Result<Tensor<f32>, Error>, text: &str| {
        let error = result.err().map(|error| error.to_string()).unwrap_or_default();
        check(error.contains(text), || format!("{text:?} is not in {error:?}"))
    };
    let other = cudarc(CudaContext::new_non_primary(0, 0))?;
    let slice = cudarc(other.default_stream().clone_htod(&[1.0_f32; LEN]))?;
    says(on.platform.adopt_cudarc(slice, [LEN]), "not the primary one of a device")?;
    let host = Platform::host().build()?;
    says(host.adopt_cudarc(on.slice(1.0)?, [LEN]), "it is no CUDA device")?;
    says(on.platform.adopt_cudarc(on.slice(1.0)?, [LEN + 1]), "shape")?;
    let pool = host.stream_pool("HOST", &CudaStreamPool::new())?;
    let stream = pool.allocate("host")?;
    let x = host.tensor::<f32>([LEN], &stream)?;
    says(stream.read_cudarc(&x, &on.theirs, |_| ()).map(|()| x), "it is no CUDA device")?;
    if let Ok(second) = CudaContext::new(1) {
        let slice = cudarc(second.default_stream().clone_htod(&[1.0_f32; LEN]))?;
        let only = Platform::builder().driver(Arc::new(CudaDriver::with_devices(&[0])?))?;
        says(only.adopt_cudarc(slice, [LEN]), "it is of CUDA device 1")?;
    }
    check(on.end(true)?, String::new)
}
