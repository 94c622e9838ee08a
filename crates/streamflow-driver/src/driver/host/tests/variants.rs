//! Tests of the variants of CUDA's behaviour that a seed selects. Each test has a control without the variant.

use std::collections::HashSet;

use super::*;
use crate::driver::host::variant::Variant;
use crate::splitmix::SplitMix;

const PLAIN: u64 = 0;
const REUSES_HANDLES: u64 = 1;
const FREES_PINNED_AT_ONCE: u64 = 2;
const SPLITS_MEMORY: u64 = 4;

fn lazy(seed: u64) -> Bench {
    Bench::new(Policy::Lazy, seed)
}

#[test]
fn seed_0_is_plain_and_64_seeds_have_every_variant_with_every_policy() {
    let bits = |seed| {
        let it = Variant::of_seed(seed);
        (it.reuses_handles, it.frees_pinned_at_once, it.splits_memory)
    };
    assert_eq!(Variant::of_seed(PLAIN), Variant::default());
    assert_eq!(bits(REUSES_HANDLES), (true, false, false));
    assert_eq!(bits(FREES_PINNED_AT_ONCE), (false, true, false));
    assert_eq!(bits(SPLITS_MEMORY), (false, false, true));
    assert_eq!((0..8).map(bits).collect::<HashSet<_>>().len(), 8);
    let both = (0..64).map(|seed| (seed % 8, bits(seed)));
    assert_eq!(both.collect::<HashSet<_>>().len(), 64);
}

#[test]
fn a_stale_handle_names_the_new_stream_or_event() {
    for seed in [PLAIN, REUSES_HANDLES] {
        let bench = lazy(seed);
        let (old, stale, data) = (bench.stream(), bench.event(), bench.settled_buffer());
        unsafe {
            bench.driver.destroy_stream(old).unwrap();
            bench.driver.destroy_event(stale).unwrap();
        }
        let refused = unsafe { bench.driver.query_event(stale) };
        assert_eq!(code_of(refused).0, 400, "no event has the handle yet");
        let (new, event) = (bench.stream(), bench.event());
        bench.set(new, data, 7);
        let done = unsafe { bench.driver.record_event(event, new) };
        assert_eq!(done, Ok(()));
        let waited = unsafe { bench.driver.synchronize_event(stale) };
        let synchronized = unsafe { bench.driver.synchronize_stream(old) };
        if seed == PLAIN {
            assert_eq!((code_of(waited).0, code_of(synchronized).0), (400, 400));
        } else {
            assert_eq!((old, stale, waited, synchronized), (new, event, Ok(()), Ok(())));
            assert_eq!(bench.peek(data), 7);
        }
    }
}

#[test]
fn a_queued_wait_is_not_for_a_new_event_with_the_same_handle() {
    for seed in [PLAIN, REUSES_HANDLES] {
        let bench = lazy(seed);
        let (writer, other, reader) = (bench.stream(), bench.stream(), bench.stream());
        let data = bench.settled_buffer();
        bench.set(writer, data, 7);
        let first = bench.event();
        unsafe {
            bench.driver.record_event(first, writer).unwrap();
            bench.driver.wait_event(reader, first).unwrap();
            bench.driver.destroy_event(first).unwrap();
        }
        let second = bench.event();
        assert_eq!(second == first, seed == REUSES_HANDLES);
        unsafe { bench.driver.record_event(second, other) }.unwrap();
        assert_eq!(bench.download(reader, data), 7);
    }
}

/// Queues a copy from page-locked memory, and frees the memory before the copy has executed. Returns the value that the copy
/// has read.
fn upload_and_free_too_early(seed: u64) -> u32 {
    let bench = lazy(seed);
    let (stream, data) = (bench.stream(), bench.settled_buffer());
    let pinned = bench.driver.allocate_pinned(DEVICE, BYTES).unwrap();
    unsafe { words(pinned.address) }.fill(7);
    let copy = CopyOp { kind: CopyKind::PinnedToDevice, target: data, source: pinned, rows: None };
    unsafe {
        bench.driver.copy(stream, &copy).unwrap();
        bench.driver.free_pinned(DEVICE, pinned).unwrap();
    }
    bench.download(stream, data)
}

#[test]
fn a_free_of_page_locked_memory_may_not_wait_for_its_uses() {
    assert_eq!(upload_and_free_too_early(PLAIN), 7);
    assert_eq!(upload_and_free_too_early(FREES_PINNED_AT_ONCE), poisoned(POISON_FREED));
}

/// Allocates memory on a stream while another stream's free is queued. Returns whether the allocation gets the freed memory.
fn is_reused(seed: u64, order: impl FnOnce(&Bench, RawStream, RawStream, MemoryRange)) -> bool {
    let bench = lazy(seed);
    let (home, other) = (bench.stream(), bench.stream());
    let freed = bench.buffer(home);
    order(&bench, home, other, freed);
    bench.buffer(other).address == freed.address
}

fn free(bench: &Bench, stream: RawStream, range: MemoryRange) {
    unsafe { bench.driver.free(stream, range) }.unwrap();
}

#[test]
fn memory_is_reused_by_a_stream_that_comes_after_its_free_by_events() {
    let ordered = |bench: &Bench, home, other, freed| {
        free(bench, home, freed);
        bench.edge(home, other);
    };
    let through_a_third_stream = |bench: &Bench, home, other, freed| {
        free(bench, home, freed);
        let third = bench.stream();
        bench.edge(home, third);
        bench.edge(third, other);
    };
    let unordered = |bench: &Bench, home, _, freed| free(bench, home, freed);
    let ordered_before_the_free = |bench: &Bench, home, other, freed| {
        bench.edge(home, other);
        free(bench, home, freed);
    };
    assert!(is_reused(SPLITS_MEMORY, ordered));
    assert!(is_reused(SPLITS_MEMORY, through_a_third_stream));
    assert!(!is_reused(PLAIN, ordered));
    assert!(!is_reused(SPLITS_MEMORY, unordered));
    assert!(!is_reused(SPLITS_MEMORY, ordered_before_the_free));
}

/// The content that the new owner writes stays, although the free was still queued when the memory was reused.
#[test]
fn reused_memory_has_the_data_of_its_new_owner() {
    for seed in 0..64 {
        for policy in ALL {
            let bench = Bench::new(policy, seed);
            let (home, other) = (bench.stream(), bench.stream());
            for value in 0..4 {
                let data = bench.buffer(home);
                bench.set(home, data, value);
                free(&bench, home, data);
                bench.edge(home, other);
                let data = bench.buffer(other);
                bench.set(other, data, value + 10);
                assert_eq!(bench.download(other, data), value + 10, "{policy:?} {seed}");
                free(&bench, other, data);
                bench.edge(other, home);
            }
        }
    }
}

#[test]
fn freed_memory_is_split_and_merged() {
    const UNIT: u64 = 512;
    let bench = lazy(SPLITS_MEMORY);
    let stream = bench.stream();
    let allocate =
        |bytes| unsafe { bench.driver.allocate(stream, bytes, MemorySource::Unused) }.unwrap();
    // The first allocation takes a portion from the system, and `_rest` takes the remainder of the portion. So each later allocation
    // can only get reused memory.
    let [a, b, c] = [4 * UNIT, 2 * UNIT, 2 * UNIT].map(allocate);
    assert_eq!([b.address, c.address], [a.end(), b.end()]);
    let _rest = allocate((64 << 10) - 9 * UNIT);
    free(&bench, stream, a);
    let halves = [2 * UNIT, UNIT, 1].map(allocate);
    assert_eq!(halves[0].address, a.address, "split");
    assert_eq!(halves[1].address, a.address + 2 * UNIT);
    assert_eq!(halves[2].address, a.address + 3 * UNIT);
    for range in [halves[0], halves[2], b, halves[1]] {
        free(&bench, stream, range);
    }
    let merged = allocate(6 * UNIT);
    assert_eq!(merged.address, a.address, "merged from four pieces, in any order of their frees");
    // A segment that another stream has freed is not merged with its neighbours until the free has executed.
    free(&bench, stream, merged);
    let other = bench.stream();
    bench.edge(stream, other);
    free(&bench, other, c);
    assert_ne!(allocate(8 * UNIT).address, a.address);
    // The allocation above has taken another portion, perhaps at a lower address. `_rest` takes the remainder of
    // that portion.
    let _rest = allocate((64 << 10) - 9 * UNIT);
    bench.wait(other);
    assert_eq!(allocate(8 * UNIT).address, a.address);

    // Control: without the variant a block is reused only as a whole.
    let bench = lazy(PLAIN);
    let stream = bench.stream();
    let allocate =
        |bytes| unsafe { bench.driver.allocate(stream, bytes, MemorySource::Unused) }.unwrap();
    let whole = allocate(4 * UNIT);
    free(&bench, stream, whole);
    assert_ne!(allocate(2 * UNIT).address, whole.address);
    assert_eq!(allocate(4 * UNIT).address, whole.address);
}

/// Two blocks in use never have a byte in common, whatever was freed before.
#[test]
fn blocks_in_use_are_distinct_under_every_seed() {
    for seed in 0..16 {
        let bench = Bench::new(Policy::of_seed(seed), seed);
        let streams = [bench.stream(), bench.stream(), bench.stream()];
        let mut live: Vec<MemoryRange> = Vec::new();
        let mut random = SplitMix::new(seed);
        for _ in 0..400 {
            let stream = streams[random.below(3)];
            match random.below(5) {
                0 | 1 => {
                    let bytes = 1 + random.below(6000) as u64;
                    let range =
                        unsafe { bench.driver.allocate(stream, bytes, MemorySource::Unused) }
                            .unwrap();
                    assert!(live.iter().all(|other| !range.overlaps(*other)), "{seed}");
                    assert!(range.address.is_multiple_of(256));
                    live.push(range);
                }
                2 | 3 if !live.is_empty() => {
                    let range = live.swap_remove(random.below(live.len()));
                    free(&bench, stream, range);
                }
                _ => bench.edge(stream, streams[random.below(3)]),
            }
        }
    }
}
