//! Tests memory that crosses the border to other code, in both directions. It is ordered by streams and events, stays
//! allocated until its last use, and is given back while no lock is held.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::memory::dlpack::{Abi, Consumer};
use streamflow::memory::{After, DeviceSlice};
use streamflow::prelude::*;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_tests::foreign::{
    ForeignEvent, ForeignStream, Outside, VALUE, fill_outside, from_outside, is_current,
    make_none_current, order_outside, read_outside, use_shared, write_outside,
};
use streamflow_tests::kernels::{add_one, fill, slow_copy, slow_fill};
use streamflow_tests::ordered::{self, Program, without_waits};
use streamflow_tests::{Failed, Suite, check, check_equal};

const LEN: usize = 1003;
const SLOW: u64 = 20_000_000;

/// Programs whose data is right only because of a wait, as in `Suite::ordered`. The controls of the last two programs
/// also need fast threads that give memory back, so fewer seeds must show wrong data.
const PROGRAMS: &[(&str, Program, usize)] = &[
    ("adopted_memory_comes_after_a_stream", after_stream, 30),
    ("adopted_memory_comes_after_an_event", after_event, 30),
    ("adopted_memory_is_ordered_as_any_other", two_streams, 30),
    ("an_export_comes_after_its_writer", exported, 30),
    ("adopted_memory_goes_back_after_its_last_use", dropped_while_read, 1),
    ("memory_is_reused_after_a_use_that_was_moved", moved_and_dropped, 1),
    ("lent_memory_is_reused_after_the_work_of_other_code", reused, 10),
];

pub(crate) fn suite() -> Suite {
    let suite = PROGRAMS.iter().fold(Suite::new(), |suite, &(name, program, shown)| {
        suite.both(name, move |on| ordered::right(program, on)).control_on(
            &format!("{name}_control"),
            1,
            shown,
            move |driver| without_waits(program, driver),
        )
    });
    suite
        .contrasted("a_use_moves_behind_what_other_code_has_queued_since", moved_use, unmoved_use)
        .contrasted("a_stream_comes_after_a_tensor_that_it_gets_later", ordered_early, not_ordered)
        .both("an_owner_may_need_a_lock_that_a_thread_holds_while_it_waits_for_us", lock_is_held)
        .both("an_owner_may_call_streamflow", owner_calls)
        .both("an_owner_finds_the_device_of_its_memory_current", owner_is_bound)
        .both("an_owner_that_panics_is_not_the_end", owner_panics)
        .both("memory_that_is_not_adopted_goes_back", not_adopted)
        .seeded("an_exchange_there_and_back_is_ordered", |seed| {
            there_and_back(Arc::new(HostDriver::builder().seed(seed).build()))
        })
        .cuda("an_exchange_there_and_back_is_ordered", |_| {
            there_and_back(Arc::new(CudaDriver::new()?))
        })
}

/// Lends a tensor to other code, which writes it on a stream of its own and gives it back for another stream of ours. The
/// other code orders the two streams itself, so the race checker sees only the orders that streamflow makes.
fn there_and_back(below: Arc<dyn Driver>) -> Result<(), Failed> {
    let platform = Platform::builder().race_check(true).driver(below.clone())?;
    let foreign = ForeignStream::create(&platform, device(0))?;
    let (first, second) = (ours(&platform)?, ours(&platform)?);
    let theirs = foreign.borrow(&platform)?;
    let mut tensor = platform.tensor::<u32>([LEN], &first)?;
    first.fill_bytes(&mut tensor, 1)?;
    let managed = tensor.into_dlpack(Abi::Versioned, Consumer::QueuesOn(&theirs))?;
    fill_outside(&*below, theirs.raw(), &managed, 2)?;
    order_outside(&*below, theirs.raw(), second.raw())?;
    let given = from_outside(managed)?;
    let back = platform.import_dlpack::<u32>(given, After::QueuedOn(&second))?;
    let mut back = back.into_writable()?;
    check_equal(second.download_blocking(&back)?, vec![0x0202_0202; LEN])?;
    second.fill_bytes(&mut back, 3)?;
    check_equal(second.download_blocking(&back)?, vec![0x0303_0303; LEN])?;
    let races = platform.take_races();
    check(races.is_empty(), || races.to_string())
}

/// Other code gets an address and then queues slow work on the stream. After that, streamflow uses the tensor.
fn moved_use(platform: &Platform) -> Result<bool> {
    use_after_other_code(platform, true)
}

/// The control: the use counts from the moment at which the other code got the address.
fn unmoved_use(platform: &Platform) -> Result<bool> {
    use_after_other_code(platform, false)
}

fn use_after_other_code(platform: &Platform, moves: bool) -> Result<bool> {
    let (work, ours) = (ours(platform)?, ours(platform)?);
    let (mut slow, mut copy) = (filled(platform, &work, 0.0)?, filled(platform, &ours, 0.0)?);
    let shared = Shared::new(filled_tensor(platform, &ours)?);
    let address = use_shared(&shared, &work)?;
    // The record was made when the address was requested, so it does not cover the work queued later.
    ours.wait(work.record()?)?;
    work.launch::<slow_fill>(LEN, (&mut slow, 1.0, SLOW))?;
    write_outside(platform, work.raw(), address, LEN)?;
    if moves {
        use_shared(&shared, &work)?;
    }
    ours.launch::<slow_copy>(LEN, (&mut copy, &shared, 0))?;
    let right = holds(&ours, &copy, VALUE)?;
    work.synchronize_blocking()?;
    Ok(right)
}

/// Other code orders its stream first, and requests the address after that.
fn ordered_early(platform: &Platform) -> Result<bool> {
    address_after_stream(platform, true)
}

/// The control of `ordered_early`: the other code's stream is not ordered.
fn not_ordered(platform: &Platform) -> Result<bool> {
    address_after_stream(platform, false)
}

fn address_after_stream(platform: &Platform, orders: bool) -> Result<bool> {
    let (work, ours) = (ours(platform)?, ours(platform)?);
    let mut copy = filled(platform, &work, 0.0)?;
    let mut tensor = filled_tensor(platform, &ours)?;
    let mut address = 0;
    work.write_raw(&mut tensor, |found| address = found)?;
    ours.launch::<slow_fill>(LEN, (&mut tensor, 6.0, SLOW))?;
    let shared = Shared::new(tensor);
    if orders {
        shared.order_before(&work)?;
    }
    read_outside(platform, &work, address, &mut copy)?;
    let right = holds(&work, &copy, 6.0)?;
    ours.synchronize_blocking()?;
    Ok(right)
}

/// The tensor is dropped while other code's work on it is queued.
fn moved_and_dropped(platform: &Platform) -> Result<bool> {
    let (work, ours) = (ours(platform)?, ours(platform)?);
    let (mut slow, mut copy) = (filled(platform, &work, 0.0)?, filled(platform, &work, 0.0)?);
    let shared = Shared::new(filled_tensor(platform, &ours)?);
    let address = use_shared(&shared, &work)?;
    ours.wait(work.record()?)?;
    work.launch::<slow_fill>(LEN, (&mut slow, 1.0, SLOW))?;
    read_outside(platform, &work, address, &mut copy)?;
    use_shared(&shared, &work)?;
    drop(shared);
    let mut next = platform.buffer::<f32>(LEN, &ours)?;
    ours.launch::<fill>(LEN, (&mut next, 9.0))?;
    Ok(holds(&ours, &next, 9.0)? & holds(&work, &copy, 7.0)?)
}

/// Returns a tensor full of 7, with its work complete.
fn filled_tensor(platform: &Platform, stream: &CudaStream) -> Result<Tensor<f32>> {
    let mut tensor = platform.tensor([LEN], stream)?;
    stream.launch::<fill>(LEN, (&mut tensor, 7.0))?;
    stream.synchronize_blocking()?;
    Ok(tensor)
}

fn ours(platform: &Platform) -> Result<CudaStream> {
    Ok(platform.stream_pool("OURS", &CudaStreamPool::new())?.allocate("ours")?)
}

/// Returns a buffer full of `value`, with its work complete and all kernels loaded.
fn filled(platform: &Platform, stream: &CudaStream, value: f32) -> Result<Buffer<f32>> {
    let (mut one, mut other) = (platform.buffer(1, stream)?, platform.buffer(1, stream)?);
    stream.launch::<slow_fill>(1, (&mut one, 0.0, 0))?;
    stream.launch::<add_one>(1, (&mut one,))?;
    stream.launch::<slow_copy>(1, (&mut other, &one, 0))?;
    let mut buffer = platform.buffer(LEN, stream)?;
    stream.launch::<fill>(LEN, (&mut buffer, value))?;
    stream.synchronize_blocking()?;
    Ok(buffer)
}

fn holds(stream: &CudaStream, data: &DeviceSlice<f32>, value: f32) -> Result<bool> {
    Ok(stream.download_blocking(data)?.iter().all(|&found| found == value))
}

fn after_stream(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let (ours, theirs) = (ours(platform)?, foreign.borrow(platform)?);
    let (mut slow, mut copy) = (filled(platform, &theirs, 0.0)?, filled(platform, &ours, 0.0)?);
    let mut memory = Outside::new(platform, LEN)?;
    theirs.launch::<slow_fill>(LEN, (&mut slow, 1.0, SLOW))?;
    memory.write(theirs.raw())?;
    let tensor = memory.adopt(platform, After::QueuedOn(&theirs))?;
    ours.launch::<slow_copy>(LEN, (&mut copy, &tensor, 0))?;
    holds(&ours, &copy, VALUE)
}

/// Only the event orders the memory: streamflow does not know the other code's stream.
fn after_event(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let (ours, theirs) = (ours(platform)?, foreign.borrow(platform)?);
    let (mut slow, mut copy) = (filled(platform, &theirs, 0.0)?, filled(platform, &ours, 0.0)?);
    let mut memory = Outside::new(platform, LEN)?;
    theirs.launch::<slow_fill>(LEN, (&mut slow, 1.0, SLOW))?;
    memory.write(theirs.raw())?;
    let event = ForeignEvent::recorded(platform, theirs.raw())?;
    let tensor = memory.adopt(platform, After::Event(event.borrow()))?;
    drop(event);
    ours.launch::<slow_copy>(LEN, (&mut copy, &tensor, 0))?;
    holds(&ours, &copy, VALUE)
}

/// Adopted memory is written and read on several streams.
fn two_streams(platform: &Platform) -> Result<bool> {
    let (a, b) = (ours(platform)?, ours(platform)?);
    let mut copy = filled(platform, &b, 0.0)?;
    let mut tensor = Outside::new(platform, LEN)?.adopt(platform, After::Complete)?;
    a.launch::<slow_fill>(LEN, (&mut tensor, 7.0, SLOW))?;
    b.launch::<slow_copy>(LEN, (&mut copy, &tensor, SLOW))?;
    a.launch::<fill>(LEN, (&mut tensor, 9.0))?;
    Ok(holds(&b, &copy, 7.0)? & holds(&b, &tensor, 9.0)?)
}

fn exported(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let (ours, theirs) = (ours(platform)?, foreign.borrow(platform)?);
    let mut result = filled(platform, &theirs, 0.0)?;
    let mut tensor = platform.tensor([LEN], &ours)?;
    ours.launch::<slow_fill>(LEN, (&mut tensor, 7.0, SLOW))?;
    let managed = tensor.into_dlpack(Abi::Versioned, Consumer::QueuesOn(&theirs))?;
    read_outside(platform, &theirs, managed.address(), &mut result)?;
    let right = holds(&theirs, &result, 7.0)?;
    drop(managed);
    Ok(right)
}

/// The adopted tensor is dropped while a kernel reads it. The owner poisons its memory when it gets it back.
fn dropped_while_read(platform: &Platform) -> Result<bool> {
    let platform = ordered::platform(platform.driver().clone())?;
    let ours = ours(&platform)?;
    let mut copy = filled(&platform, &ours, 0.0)?;
    let memory = Outside::new(&platform, LEN)?;
    let returned = memory.returned();
    let tensor = memory.adopt(&platform, After::Complete)?;
    ours.launch::<slow_copy>(LEN, (&mut copy, &tensor, SLOW))?;
    drop(tensor);
    // On the simulator, dropping the platform waits for memory that goes back.
    drop(platform);
    // In the control the memory goes back while the kernel still reads.
    while !returned.is_back() && !ours.is_complete()? {
        thread::sleep(Duration::from_millis(1));
    }
    holds(&ours, &copy, 0.0)
}

/// Other code has given a tensor back, while its slow read on a stream of its own is still queued. Then the memory is
/// reused.
fn reused(platform: &Platform) -> Result<bool> {
    let foreign = ForeignStream::create(platform, device(0))?;
    let (ours, theirs) = (ours(platform)?, foreign.borrow(platform)?);
    let mut result = filled(platform, &theirs, 0.0)?;
    let mut tensor = platform.tensor([LEN], &ours)?;
    ours.launch::<fill>(LEN, (&mut tensor, 7.0))?;
    ours.synchronize_blocking()?;
    let managed = tensor.into_dlpack(Abi::Versioned, Consumer::QueuesOn(&theirs))?;
    let address = managed.address();
    theirs.launch::<slow_fill>(LEN, (&mut result, -1.0, SLOW))?;
    read_outside(platform, &theirs, address, &mut result)?;
    drop(managed);
    // On a GPU another thread takes the memory back, without waiting for the kernel.
    let end = Instant::now() + Duration::from_secs(2);
    let mut others = Vec::new();
    loop {
        let mut next = platform.tensor([LEN], &ours)?;
        ours.launch::<fill>(LEN, (&mut next, 9.0))?;
        let is_same = ours.read_raw(&next, |found| found == address)?;
        others.push(next);
        if is_same || Instant::now() > end || others.len() > 1000 {
            break;
        }
    }
    ours.synchronize_blocking()?;
    holds(&theirs, &result, 7.0)
}

/// The owner takes a lock when it gets its memory back, as with Python's interpreter lock. The thread that holds this
/// lock drops the tensor, waits for its work, and drops the platform.
fn lock_is_held(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(on.driver().clone())?;
    let ours = ours(&platform)?;
    let lock = Arc::new(Mutex::new(()));
    let held = lock.lock().unwrap_or_else(PoisonError::into_inner);
    let memory = Outside::new(&platform, LEN)?;
    let memory = memory.on_return({
        let lock = lock.clone();
        move || drop(lock.lock())
    });
    let returned = memory.returned();
    let tensor = memory.adopt(&platform, After::Complete)?;
    let copy = ours.download(&tensor)?;
    drop(tensor);
    check_equal(copy.wait_blocking()?, &[0.0; LEN][..])?;
    let more = platform.tensor::<f32>([LEN], &ours)?;
    ours.synchronize_blocking()?;
    drop((more, copy, ours, platform));
    check(!returned.is_back(), || "the owner does not wait for its lock".into())?;
    drop(held);
    check(returned.wait(), || "the memory did not go back".into())?;
    check(returned.thread() != Some(thread::current().id()), || "it goes back in the drop".into())
}

/// streamflow holds no lock while an owner gets its memory back: the owner queues work, waits for it, and drops other
/// memory.
fn owner_calls(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(on.driver().clone())?;
    let stream = ours(&platform)?;
    let (outer, inner) = (Outside::new(&platform, LEN)?, Outside::new(&platform, LEN)?);
    let all_returned = [outer.returned(), inner.returned()];
    let mut inner = inner.adopt(&platform, After::Complete)?;
    let outer = outer.on_return(move || {
        let used = stream.fill_bytes(&mut inner, 0).and_then(|()| stream.download_blocking(&inner));
        assert_eq!(used.map(|values| values.len()), Ok(LEN));
    });
    drop(outer.adopt(&platform, After::Complete)?);
    drop(platform);
    check(all_returned.iter().all(|it| it.wait()), || "the memory did not go back".into())
}

/// The owner frees its memory by CUDA without making a device current, as a slice of cudarc does.
fn owner_is_bound(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(on.driver().clone())?;
    if platform.device_info(device(0))?.ordinal.is_some() {
        // The thread that drops owners may still have a context from an earlier owner.
        let left = Arc::new(Mutex::new(Err(String::new())));
        let leaving = Outside::new(&platform, LEN)?.at_the_end({
            let left = left.clone();
            move || *left.lock().unwrap_or_else(PoisonError::into_inner) = make_none_current()
        });
        let returned = leaving.returned();
        drop(leaving.adopt(&platform, After::Complete)?);
        check(returned.wait(), || "the first memory did not go back".into())?;
        let left = left.lock().unwrap_or_else(PoisonError::into_inner).clone();
        left.map_err(Failed::msg)?;
    }
    let found = Arc::new(Mutex::new(false));
    let memory = Outside::new(&platform, LEN)?.on_return({
        let (driver, found) = (platform.driver().clone(), found.clone());
        move || {
            *found.lock().unwrap_or_else(PoisonError::into_inner) = is_current(&*driver, device(0))
        }
    });
    let returned = memory.returned();
    drop(memory.adopt(&platform, After::Complete)?);
    drop(platform);
    check(returned.wait(), || "the memory did not go back".into())?;
    let found = *found.lock().unwrap_or_else(PoisonError::into_inner);
    check(found, || "the device is not current on the thread of the owner's drop".into())
}

fn owner_panics(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(on.driver().clone())?;
    let first = Outside::new(&platform, LEN)?.on_return(|| resume_unwind(Box::new("on purpose")));
    let second = Outside::new(&platform, LEN)?;
    let returned = second.returned();
    drop(first.adopt(&platform, After::Complete)?);
    drop(second.adopt(&platform, After::Complete)?);
    drop(platform);
    check(returned.wait(), || "after a panic no memory goes back".into())
}

fn not_adopted(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(on.driver().clone())?;
    let elsewhere = Platform::host().build()?;
    let stranger = ours(&elsewhere)?;
    let memory = Outside::new(&platform, LEN)?;
    let returned = memory.returned();
    let refused = memory.adopt(&platform, After::QueuedOn(&stranger));
    check(refused.is_err(), || "a stream of another platform was taken".into())?;
    check(returned.wait(), || "the memory did not go back".into())
}
