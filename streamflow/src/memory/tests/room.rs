//! Tests of room: the bytes within a pool's limits that a new block takes.

use super::*;

/// A driver reuses freed memory in the order of streams. So a new block that needs the room of freed blocks is allocated on
/// the stream of the frees, after the frees. On another stream the driver would need more memory than the pool's limit. The
/// new block's own stream waits for the allocation.
#[test]
fn a_block_that_needs_the_room_of_others_comes_after_their_frees() {
    let bench = bench(MemoryOptions::default());
    let ((a, of_a), (b, of_b)) = (bench.stream(), bench.stream());
    let limits = MemoryLimits::stream_ordered().max_size(4096);
    let allocator = bench.platform.allocator("ROOM", device(0), limits).unwrap();
    let mut small: [Buffer<u8>; 2] = [(); 2].map(|()| allocator.buffer(2048, &a).unwrap());
    small.iter_mut().for_each(|small| b.fill_bytes(small, 1).unwrap());
    drop(small);
    bench.recorder.clear();
    let large = allocator.buffer::<u8>(4096, &a).unwrap();
    let calls = bench.recorder.calls();
    let freed: Vec<_> = calls.iter().filter(|call| matches!(call, Call::Free { .. })).collect();
    let reclaim = freed[0].stream().unwrap();
    assert!(freed.len() == 2 && reclaim != of_a && reclaim != of_b, "{}", bench.recorder.text());
    let at = |wanted: &dyn Fn(&Call) -> bool| calls.iter().rposition(wanted);
    let free = at(&|call| matches!(call, Call::Free { .. }));
    let record = at(&|call| matches!(call, Call::RecordEvent { stream, .. } if *stream == reclaim));
    let recorded = record.and_then(|at| match &calls[at] {
        Call::RecordEvent { event, .. } => Some(*event),
        _ => None,
    });
    let is_wait = |call: &Call| {
        matches!(call, Call::WaitEvent { stream, event }
            if *stream == of_a && Some(*event) == recorded)
    };
    let allocate = at(&|call| matches!(call, Call::Allocate { stream, .. } if *stream == reclaim));
    assert!(
        free < allocate && allocate < record && record < at(&is_wait),
        "{}",
        bench.recorder.text()
    );
    drop(large);
}

/// A block whose free is queued and not executed yet counts against the limit. A new block that needs the room of that block
/// comes after the free, and a new block that finds other room does not wait.
#[test]
fn a_block_in_the_room_of_memory_above_the_threshold_comes_after_its_free() {
    for threshold in [0, 1024] {
        let bench = bench(MemoryOptions::default());
        let ((a, of_a), (b, _)) = (bench.stream(), bench.stream());
        let limits = MemoryLimits::stream_ordered().max_size(4096).release_threshold(threshold);
        let allocator = bench.platform.allocator("ROOM", device(0), limits).unwrap();
        let mut first = allocator.buffer::<u8>(2048, &a).unwrap();
        b.fill_bytes(&mut first, 1).unwrap();
        bench.recorder.clear();
        drop(first);
        assert_eq!(bench.count(|call| matches!(call, Call::Free { .. })), 1);
        let waits = |bench: &Bench| {
            bench.count(|call| matches!(call, Call::WaitEvent { stream, .. } if *stream == of_a))
        };
        // The first new block finds room beside the block whose free is queued. The second new block needs the room of that
        // block, and so waits for the free.
        for expected in [0, 1] {
            bench.recorder.clear();
            let mut block = allocator.buffer::<u8>(2048, &a).unwrap();
            assert_eq!(waits(&bench), expected, "{}", bench.recorder.text());
            a.fill_bytes(&mut block, 2).unwrap();
            std::mem::forget(block);
        }
    }
}

/// An allocation takes half of the room of a block that is being freed. An allocation of the other half, on another
/// stream, waits for the free.
#[test]
fn the_rest_of_a_released_block_is_room_after_its_free() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, of_b)) = (bench.stream(), bench.stream());
    let limits = MemoryLimits::stream_ordered().max_size(4096);
    let allocator = bench.platform.allocator("ROOM", device(0), limits).unwrap();
    drop(allocator.buffer::<u8>(4096, &a).unwrap());
    let _half = allocator.buffer::<u8>(2048, &a).unwrap();
    bench.recorder.clear();
    let _other = allocator.buffer::<u8>(2048, &b).unwrap();
    let waits =
        bench.count(|call| matches!(call, Call::WaitEvent { stream, .. } if *stream == of_b));
    assert_eq!(waits, 1, "{}", bench.recorder.text());
}

/// After the device had no memory for an allocation, the host has waited until the frees were executed. So a new block in
/// their room needs no wait.
#[test]
fn the_room_of_blocks_whose_frees_are_done_is_taken_without_a_wait() {
    let host = HostDriver::builder().policy(Policy::Lazy).memory(16 << 10).build();
    let recorder = Arc::new(Recorder::new(Arc::new(host)));
    let platform = Platform::builder().driver(recorder.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let (a, b) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
    let limits = MemoryLimits::stream_ordered().max_size(12 << 10);
    let allocator = platform.allocator("ROOM", device(0), limits).unwrap();
    let _of_others = platform.buffer::<u8>(8 << 10, &a).unwrap();
    drop(allocator.buffer::<u8>(8 << 10, &a).unwrap());
    let _first = allocator.buffer::<u8>(4 << 10, &a).unwrap();
    assert_eq!(recorder.count(|call| matches!(call, Call::Free { .. })), 1);
    recorder.clear();
    let _second = allocator.buffer::<u8>(4 << 10, &b).unwrap();
    assert_eq!(recorder.count(is_wait), 0, "{}", recorder.text());
}

/// After one free on a stream of CUDA, each record and each wait on that stream costs more, for good. So such a stream is
/// never used for the program's work.
#[test]
fn a_stream_on_which_memory_was_freed_never_works_for_the_program() {
    let bench = bench(MemoryOptions::default());
    let (a, _) = bench.stream();
    for _ in 0..3 {
        let limits = MemoryLimits::stream_ordered().max_size(4096);
        let allocator = bench.platform.allocator("ROOM", device(0), limits).unwrap();
        drop(allocator.buffer::<u8>(4096, &a).unwrap());
        drop(allocator);
    }
    let calls = bench.recorder.calls();
    let freed_on = calls.iter().filter(|call| matches!(call, Call::Free { .. }));
    let freed_on: Vec<_> = freed_on.filter_map(Call::stream).collect();
    assert!(freed_on.len() == 3 && freed_on.iter().all(|stream| *stream == freed_on[0]));
    let later: Vec<_> = (0..8).map(|_| bench.stream().1).collect();
    assert!(!later.contains(&freed_on[0]), "{}", bench.recorder.text());
}
