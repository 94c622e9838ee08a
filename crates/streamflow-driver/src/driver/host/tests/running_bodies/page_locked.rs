//! Tests of memory that a running body touches: a call frees it as page-locked memory, or the key of a state includes it.

use super::*;
use crate::driver::host::Chooser;

/// Returns a body that writes `pinned`, pauses, and then stores the value that `pinned` has after the pause.
fn write_and_store(pause: Run, pinned: MemoryRange, stored: &Arc<AtomicU32>) -> Run {
    let write_first: Run = Box::new(move || {
        write(pinned, 6);
        pause()
    });
    then_store(write_first, pinned, stored)
}

#[test]
fn page_locked_memory_is_freed_after_a_body_that_touches_it() {
    // Seed 2 selects the variant that frees page-locked memory without waiting for the device.
    for seed in 0..8 {
        let bench = Bench::with(HostDriver::builder().seed(seed));
        let stream = bench.stream();
        let pinned = bench.driver.allocate_pinned(DEVICE, BYTES).unwrap();
        let seen = Arc::new(AtomicU32::new(0));
        let make = |pause| write_and_store(pause, pinned, &seen);
        while_a_body_runs(&bench, stream, (pinned, AccessMode::Write), make, |open| {
            std::thread::scope(|scope| {
                // `open` is dropped before the scope waits for the thread, even if the test fails. Otherwise the body would
                // never end.
                let open = open;
                let freeing = scope.spawn(|| {
                    bench.driver.bind(DEVICE).unwrap();
                    unsafe { bench.driver.free_pinned(DEVICE, pinned) }
                });
                while bench.driver.lock().sleepers == 0 {
                    assert!(!freeing.is_finished(), "it was freed while a body touches it");
                    std::thread::yield_now();
                }
                open.send(()).unwrap();
                freeing.join().unwrap().unwrap();
            });
        });
        assert_eq!(seen.load(Ordering::Relaxed), 6);
    }
}

#[test]
fn page_locked_memory_that_a_body_frees_is_not_poisoned_under_another_body() {
    for seed in 0..8 {
        let bench: &'static Bench =
            Box::leak(Box::new(Bench::with(HostDriver::builder().seed(seed))));
        let (stream, other) = (bench.stream(), bench.stream());
        let pinned = bench.driver.allocate_pinned(DEVICE, BYTES).unwrap();
        let seen = Arc::new(AtomicU32::new(0));
        let make = |pause| write_and_store(pause, pinned, &seen);
        while_a_body_runs(bench, stream, (pinned, AccessMode::Write), make, |open| {
            let free = move || Ok(unsafe { bench.driver.free_pinned(DEVICE, pinned) }?);
            call(bench, other, &[], Box::new(free)).unwrap();
            bench.wait(other);
            open.send(()).unwrap();
        });
        assert_eq!(seen.load(Ordering::Relaxed), 6);
    }
}

/// A chooser that always chooses the first option.
#[derive(Debug)]
struct First;

impl Chooser for First {
    fn choose(&mut self, _: u64, _: usize) -> usize {
        0
    }

    fn end(&mut self, _: u64) {}
}

#[test]
fn the_key_of_a_state_reads_no_memory_that_a_body_may_write() {
    let options = HostDriver::builder();
    let driver = HostDriver::new(&options, Some(Box::new(First)));
    let (set, copy) = (load(&driver, "set", set), load(&driver, "copy", copy));
    let bench = Bench { driver, set, copy };
    let (stream, data) = (bench.stream(), bench.settled_buffer());
    while_a_body_runs(
        &bench,
        stream,
        (data, AccessMode::Write),
        |pause| pause,
        |open| {
            // A key of 0 shows that the memory was not read; any other key is a hash of it.
            assert_eq!(bench.driver.lock().memory_key(), 0);
            open.send(()).unwrap();
        },
    );
    assert_ne!(bench.driver.lock().memory_key(), 0);
}
