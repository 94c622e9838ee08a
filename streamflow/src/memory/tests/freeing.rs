//! Tests of when memory returns to the driver, and which stream waits for the uses of that memory.

use super::*;

#[test]
fn a_drop_makes_no_stream_of_a_user_wait() {
    let bench = bench(MemoryOptions { release_threshold: 0, ..MemoryOptions::default() });
    let ((a, of_a), (b, of_b)) = (bench.stream(), bench.stream());
    let (mut data, mut copy) = (bench.buffer(&a), bench.buffer(&b));
    a.fill_bytes(&mut data, 7).unwrap();
    b.copy(&data, &mut copy).unwrap();
    bench.recorder.clear();
    drop(data);
    let calls = bench.recorder.calls();
    let waiting: Vec<_> =
        calls.iter().filter(|call| is_wait(call)).filter_map(Call::stream).collect();
    assert!(!waiting.is_empty(), "the reclaim stream must wait for the reader");
    assert!(!waiting.contains(&of_a) && !waiting.contains(&of_b), "{}", bench.recorder.text());
    let freed: Vec<_> = calls
        .iter()
        .filter(|call| matches!(call, Call::Free { .. }))
        .filter_map(Call::stream)
        .collect();
    assert_eq!(freed, waiting[..1], "freed once, by the reclaim stream");
    assert!(!calls.iter().any(Call::blocks_host), "{}", bench.recorder.text());
    assert_eq!(b.download_blocking(&copy).unwrap(), [7; LEN]);
}

#[test]
fn memory_is_kept_up_to_the_threshold() {
    // A buffer of 1003 bytes has a block of 1024 bytes.
    for (threshold, freed) in [(0, 3), (1023, 3), (1024, 2), (2048, 1), (u64::MAX, 0)] {
        let options = MemoryOptions { release_threshold: threshold, ..in_flight(9) };
        let bench = bench(options);
        let (a, _) = bench.stream();
        for _ in 0..2 {
            let in_use = [bench.buffer(&a), bench.buffer(&a), bench.buffer(&a)];
            bench.recorder.clear();
            drop(in_use);
            let released = bench.count(|call| matches!(call, Call::Free { .. }));
            assert_eq!(released, freed, "with a threshold of {threshold}");
        }
    }
}

/// Memory that is dropped after the drop of its platform is freed once, also on other threads.
#[test]
fn memory_that_is_returned_late_is_freed() {
    let Bench { recorder, platform, pool } = bench(MemoryOptions::default());
    let stream = pool.allocate("a test").unwrap();
    let other = pool.allocate("a test").unwrap();
    let mut memory: Vec<_> = (0..6).map(|_| platform.buffer::<u8>(LEN, &stream).unwrap()).collect();
    let pinned: Vec<_> = (0..6).map(|_| platform.pinned::<u8>(device(0), LEN).unwrap()).collect();
    for (pinned, memory) in pinned.iter().zip(&mut memory) {
        other.upload(pinned, memory).unwrap();
    }
    let late = (memory.split_off(3), pinned.into_iter().skip(3).collect::<Vec<_>>());
    drop(memory);
    drop(platform);
    thread::spawn(move || drop(late)).join().unwrap();
    let count = |wanted: &str| {
        recorder.calls().iter().filter(|call| format!("{call:?}").starts_with(wanted)).count()
    };
    let counts = ["Allocate {", "Free {", "AllocatePinned", "FreePinned"].map(count);
    assert_eq!(counts, [6, 6, 6, 6]);
    drop((stream, other, pool));
    assert_eq!(Arc::strong_count(&recorder), 1, "a reference to the platform leaks");
}
