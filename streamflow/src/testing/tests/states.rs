//! The states that an exhaustive exploration distinguishes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{BYTES, DEVICE, first_byte};
use crate::Platform;
use crate::driver::{
    Code, Driver, HostArgs, HostFunction, KernelSource, Launch, MemoryRange, MemorySource, Param,
    RawEvent, RawStream, StreamOptions,
};
use crate::testing::Explorer;

/// Queues a closure as a host function. The closure is leaked if the simulator never calls it.
fn queue<F: FnOnce() + Send>(driver: &dyn Driver, stream: RawStream, run: F) {
    unsafe extern "C" fn call<F: FnOnce()>(data: *mut c_void) {
        let run = unsafe { Box::from_raw(data.cast::<F>()) };
        run();
    }
    let data = Box::into_raw(Box::new(run)).cast();
    unsafe { driver.launch_host_function(stream, HostFunction { call: call::<F>, data }).unwrap() };
}

/// Returns all results that a program has in an exhaustive exploration.
fn outcomes<T: Ord>(program: impl Fn(&dyn Driver) -> T) -> BTreeSet<T> {
    let outcomes = RefCell::new(BTreeSet::new());
    // The programs race on purpose, so the race checker is off.
    let explorer = Explorer::new().race_check(false);
    let found = explorer.run_exhaustively(|platform: &Platform| {
        outcomes.borrow_mut().insert(program(&**platform.driver()));
        Ok(())
    });
    assert_eq!(found.unwrap().check(), Ok(()));
    outcomes.into_inner()
}

fn stream(driver: &dyn Driver) -> RawStream {
    driver.create_stream(DEVICE, StreamOptions::default()).unwrap()
}

fn fill(driver: &dyn Driver, stream: RawStream, range: MemoryRange, byte: u8) {
    unsafe { driver.fill(stream, range, byte).unwrap() };
}

#[test]
fn the_effect_of_a_host_function_is_combined_with_later_orders() {
    let seen = outcomes(|driver| {
        let (a, b, c) = (stream(driver), stream(driver), stream(driver));
        let data = unsafe { driver.allocate(a, BYTES, MemorySource::Unused) }.unwrap();
        unsafe { driver.synchronize_stream(a) }.unwrap();
        let called = Arc::new(AtomicU32::new(0));
        let caller = called.clone();
        queue(driver, c, move || caller.store(1, Ordering::Relaxed));
        fill(driver, a, data, 1);
        // The flag is read without a call of the driver, so that only the order of execution decides its value.
        let early = called.load(Ordering::Relaxed);
        unsafe { driver.synchronize_stream(c) }.unwrap();
        fill(driver, b, data, 2);
        unsafe { driver.synchronize_stream(a) }.unwrap();
        unsafe { driver.synchronize_stream(b) }.unwrap();
        (early, first_byte(driver, a, data))
    });
    assert_eq!(seen, [(0, 1), (0, 2), (1, 1), (1, 2)].into());
}

#[test]
fn the_choice_of_a_reused_block_is_combined_with_later_orders() {
    let seen = outcomes(|driver| {
        let (a, b, c) = (stream(driver), stream(driver), stream(driver));
        let allocate =
            |stream| unsafe { driver.allocate(stream, BYTES, MemorySource::Unused) }.unwrap();
        let wait = |stream: &RawStream| unsafe { driver.synchronize_stream(*stream) }.unwrap();
        let blocks = [allocate(a), allocate(b), allocate(c)];
        [a, b, c].iter().for_each(wait);
        unsafe { driver.free(a, blocks[0]) }.unwrap();
        unsafe { driver.free(b, blocks[1]) }.unwrap();
        let block = allocate(c);
        // The new block is not written, and all blocks have the same poison: only the address tells the host which block it is.
        unsafe { driver.free(c, block) }.unwrap();
        [a, b, c].iter().for_each(wait);
        fill(driver, a, blocks[2], 1);
        fill(driver, b, blocks[2], 2);
        [a, b].iter().for_each(wait);
        let which = blocks.iter().position(|it| it.address == block.address);
        (which, first_byte(driver, c, blocks[2]))
    });
    let expected = [Some(0), Some(1), None].map(|which| [(which, 1), (which, 2)]);
    assert_eq!(seen, expected.into_iter().flatten().collect());
}

#[test]
fn the_order_of_completion_is_combined_with_later_orders() {
    let seen = outcomes(|driver| {
        let (a, b) = (stream(driver), stream(driver));
        let wait = |stream: &RawStream| unsafe { driver.synchronize_stream(*stream) }.unwrap();
        let data = unsafe { driver.allocate(a, BYTES, MemorySource::Unused) }.unwrap();
        wait(&a);
        let events = [a, b].map(|stream| {
            let event = driver.create_event(DEVICE).unwrap();
            unsafe { driver.record_event(event, stream) }.unwrap();
            event
        });
        let is_done = |event: &RawEvent| unsafe { driver.query_event(*event) }.unwrap();
        let none_at_first = !events.iter().any(is_done);
        let first = loop {
            if let Some(first) = events.iter().position(is_done) {
                break first;
            }
        };
        [a, b].iter().for_each(wait);
        fill(driver, a, data, 1);
        fill(driver, b, data, 2);
        [a, b].iter().for_each(wait);
        none_at_first.then(|| (first, first_byte(driver, a, data)))
    });
    let expected = [(0, 1), (0, 2), (1, 1), (1, 2)].map(Some);
    assert_eq!(seen, [None].into_iter().chain(expected).collect());
}

#[test]
fn a_kernel_that_fails_in_one_order_is_seen() {
    unsafe fn demand(args: HostArgs<'_>) {
        let address: u64 = args.params[0].get();
        let found = unsafe { *std::ptr::with_exposed_provenance::<u32>(address as usize) };
        if found != 0x0101_0101 {
            // The panic is raised without the panic hook, so that the test's output has no message of it.
            std::panic::resume_unwind(Box::new("it was not there"));
        }
    }
    let seen = outcomes(|driver| {
        let (a, b) = (stream(driver), stream(driver));
        let data = unsafe { driver.allocate(a, BYTES, MemorySource::Unused) }.unwrap();
        let image = |_| unreachable!("the simulator uses no image");
        let code = Code::Image(&image);
        let source = KernelSource { name: "demand", entry: "demand", host: Some(demand), code };
        let kernel = unsafe { driver.load_kernel(DEVICE, &source) }.unwrap();
        fill(driver, a, data, 1);
        let launch = Launch {
            function: kernel.function,
            name: "demand",
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            params: &[Param::new(data.address)],
            accesses: &[],
            rows: &[],
        };
        unsafe { driver.launch(b, &launch) }.unwrap();
        unsafe { driver.synchronize_stream(b) }.is_ok()
    });
    assert_eq!(seen, [false, true].into());
}

#[test]
fn a_query_has_both_answers_only_until_its_record_is_complete() {
    let seen = outcomes(|driver| {
        let a = stream(driver);
        let event = driver.create_event(DEVICE).unwrap();
        let query = || unsafe { driver.query_event(event) }.unwrap();
        let never_recorded = query();
        unsafe { driver.record_event(event, a) }.unwrap();
        let first = query();
        let second = query();
        unsafe { driver.synchronize_event(event) }.unwrap();
        (never_recorded, first, second, query())
    });
    // The second query is always answered "complete": if the first one was answered "not yet", the next thing that can happen is
    // that the record is executed.
    assert_eq!(seen, [(true, false, true, true), (true, true, true, true)].into());
}
