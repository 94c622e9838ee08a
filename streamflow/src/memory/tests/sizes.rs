//! Tests of programs whose allocations change in size: how many lists of free blocks a pool has, and how many driver calls
//! it makes.

use super::*;

/// If each size is used only once, lists without blocks are removed.
#[test]
fn the_lists_of_sizes_that_are_gone_are_removed() {
    let bench = bench_with(Policy::Eager, MemoryOptions::default());
    let (stream, _) = bench.stream();
    let limits = MemoryLimits::stream_ordered().max_size(2 << 20);
    let allocator = bench.platform.allocator("A", device(0), limits).unwrap();
    for granules in 1..4000 {
        drop(allocator.buffer::<u8>(512 * granules, &stream).unwrap());
    }
    let lists = allocator.size_lists(&stream);
    assert!(lists <= 130, "{lists} lists");
}

/// A size that is used in each round keeps its block, although each round also uses another size, once.
#[test]
fn a_size_in_steady_use_is_not_made_again() {
    let bench = bench_with(Policy::Eager, MemoryOptions::default());
    let (stream, _) = bench.stream();
    let limits = MemoryLimits::stream_ordered().max_size(64 << 20);
    let allocator = bench.platform.allocator("A", device(0), limits).unwrap();
    drop(allocator.buffer::<u8>(700, &stream).unwrap());
    drop(allocator.buffer::<u8>(5000, &stream).unwrap());
    bench.recorder.clear();
    for granules in 100..400 {
        drop(allocator.buffer::<u8>(512 * granules, &stream).unwrap());
        drop(allocator.buffer::<u8>(5000, &stream).unwrap());
    }
    let made = bench.count(|call| matches!(call, Call::Allocate { .. }));
    assert_eq!(made, 300, "one for each size that comes once");
}

/// In a pool without a limit, requests of almost equal sizes share blocks.
#[test]
fn almost_equal_sizes_share_blocks() {
    let bench = bench_with(Policy::Eager, MemoryOptions::default());
    let (stream, _) = bench.stream();
    bench.recorder.clear();
    for bytes in (100_000..200_000).step_by(101) {
        drop(bench.platform.buffer::<u8>(bytes, &stream).unwrap());
        drop(bench.platform.pinned::<u8>(device(0), bytes).unwrap());
    }
    let made = |call: &Call| matches!(call, Call::Allocate { .. } | Call::AllocatePinned { .. });
    let count = bench.count(made);
    assert!(count <= 2 * 9, "{count} blocks for nine sizes");
}

/// In a pool with a limit, sizes are rounded so little that the limit has room for the tensors for which it was computed.
#[test]
fn a_limit_of_so_many_frames_has_room_for_as_many() {
    let bench = bench_with(Policy::Eager, MemoryOptions::default());
    let (stream, _) = bench.stream();
    let frame = 1920 * 1080 * 3;
    let limits = MemoryLimits::stream_ordered().max_size(3 * frame);
    let allocator = bench.platform.allocator("FRAMES", device(0), limits).unwrap();
    let all = [(); 3].map(|()| allocator.buffer::<u8>(frame as usize, &stream).unwrap());
    assert_eq!(allocator.used(), 3 * frame);
    drop(all);
}
