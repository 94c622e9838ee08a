//! Chosen orders: the options of a choice, and which states are distinguished.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use super::host_functions::queue;
use super::*;
use crate::Platform;
use crate::testing::Explorer;

/// Takes the choices of a list and then 0, and keeps the number of options of each choice.
#[derive(Debug, Clone, Default)]
struct Listed {
    choices: Vec<usize>,
    offered: Arc<Mutex<Vec<usize>>>,
}

impl Chooser for Listed {
    fn choose(&mut self, _: u64, options: usize) -> usize {
        let mut offered = self.offered.lock().unwrap();
        offered.push(options);
        self.choices.get(offered.len() - 1).copied().unwrap_or(0)
    }

    fn end(&mut self, _: u64) {}
}

/// Sets a buffer to 1 on one stream and to 2 on another, and waits for both. Returns the content, and the number
/// of options of each choice.
fn two_writers(choices: &[usize]) -> (u32, Vec<usize>) {
    let chooser = Listed { choices: choices.to_vec(), ..Listed::default() };
    let driver = HostDriver::builder().build_chosen(Box::new(chooser.clone()));
    let (set, copy) = (load(&driver, "set", set), load(&driver, "copy", copy));
    let bench = Bench { driver, set, copy };
    let (a, b) = (bench.stream(), bench.stream());
    let data = bench.buffer(a);
    bench.wait(a);
    let before = chooser.offered.lock().unwrap().len();
    bench.set(a, data, 1);
    bench.set(b, data, 2);
    bench.wait(a);
    bench.wait(b);
    let offered = chooser.offered.lock().unwrap()[before..].to_vec();
    (bench.peek(data), offered)
}

#[test]
fn a_choice_is_between_streams_and_the_call() {
    // The first choices are for the allocation and the wait for it. Before each submission, the options are the
    // queued operations and the call; while a call blocks, the queued operations.
    assert_eq!(two_writers(&[]), (2, vec![1, 2, 1, 1]));
    assert_eq!(two_writers(&[0, 0, 0, 1, 0, 0]), (2, vec![1, 2, 2, 1]));
    assert_eq!(two_writers(&[0, 0, 0, 1, 1, 0]), (1, vec![1, 2, 2, 1]));
}

/// All results of a program, over all states that it can reach.
fn outcomes<T: Ord>(program: impl Fn(&dyn Driver) -> T) -> BTreeSet<T> {
    let outcomes = RefCell::new(BTreeSet::new());
    // The programs race on purpose.
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

/// The first byte of a range, copied to ordinary memory in the order of a stream.
fn first_byte(driver: &dyn Driver, stream: RawStream, source: MemoryRange) -> u8 {
    let mut target = [0_u8; BYTES as usize];
    let address = target.as_mut_ptr().expose_provenance() as u64;
    let target_range = MemoryRange { address, bytes: BYTES };
    let copy =
        CopyOp { kind: CopyKind::DeviceToPageable, target: target_range, source, rows: None };
    unsafe { driver.copy(stream, &copy).unwrap() };
    target[0]
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
        // Read without a call of the driver, so that only the order of execution decides.
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
        // The block is not written, and its poison is that of the others: only the address tells the host
        // which one it is.
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
        let found = unsafe { words(args.params[0].get()) }[0];
        if found != 0x0101_0101 {
            // Without the panic hook, so that the test's output has no message.
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
    // The second query is answered "complete": only the record could be executed in between.
    assert_eq!(seen, [(true, false, true, true), (true, true, true, true)].into());
}
