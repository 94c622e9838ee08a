//! Tests of which memory replayed ticks get. The memory of a tick depends only on the number of the tick.

use super::*;
use crate::driver::replay::{ReplayRun, Replaying};

/// A platform whose driver replays ticks, and a run of one node.
struct Ticks {
    bench: Bench,
    run: ReplayRun,
    tick: u64,
}

fn ticks(options: MemoryOptions) -> Ticks {
    let host = HostDriver::builder().policy(Policy::Lazy).build();
    let recorder = Arc::new(Recorder::new(Arc::new(host)));
    let driver = Arc::new(Replaying::over(recorder.clone()));
    let platform = Platform::builder().memory(options).driver(driver).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let run = ReplayRun::new(["node".into()].into_iter());
    Ticks { bench: Bench { recorder, platform, pool }, run, tick: 0 }
}

impl Ticks {
    /// Runs the next tick, with `hook` as the hook of the node.
    fn next<R>(&mut self, hook: impl FnOnce(&Bench, u64) -> R) -> R {
        let driver = self.bench.platform.driver().clone();
        let replays = driver.observer().replays().unwrap();
        replays.begin(&mut self.run);
        replays.at(0, self.tick);
        let done = hook(&self.bench, self.tick);
        replays.end(&mut self.run).unwrap();
        self.tick += 1;
        done
    }

    fn allocations(&self) -> usize {
        self.bench.count(|call| matches!(call, Call::Allocate { .. }))
    }
}

/// The memory of a tick depends neither on the progress of the device nor on the order in which blocks are returned.
#[test]
fn a_replayed_tick_has_the_memory_of_an_earlier_tick() {
    let mut ticks = ticks(MemoryOptions::new());
    let ((a, _), (b, _)) = (ticks.bench.stream(), ticks.bench.stream());
    let mut last = ticks.bench.platform.buffer::<u8>(LEN, &b).unwrap();
    let mut addresses = Vec::new();
    for tick in 0..48_u64 {
        let of_tick = ticks.next(|bench, _| {
            let mut made = [(); 3].map(|()| bench.buffer(&a));
            for data in &mut made {
                a.fill_bytes(data, tick as u8).unwrap();
                b.copy(data, &mut last).unwrap();
            }
            let addresses = made.each_ref().map(|data| data.range().address);
            let [one, two, three] = made;
            if tick % 5 < 2 {
                drop((three, one, two))
            } else {
                drop((two, three, one))
            }
            addresses
        });
        addresses.push(of_tick);
        if tick % 7 > 3 {
            b.synchronize_blocking().unwrap();
        }
    }
    // The first four ticks allocate the blocks of the four sets, and the next four sort the blocks by address.
    for tick in 8..48 {
        assert_eq!(addresses[tick], addresses[tick - 4], "tick {tick}");
        assert_ne!(addresses[tick], addresses[tick - 1], "tick {tick}");
    }
}

/// The test is `reuse::a_slow_consumer_bounds_memory` in replayed ticks, for several numbers of ticks in flight.
#[test]
fn a_slow_consumer_bounds_the_memory_of_replayed_ticks() {
    for (most, sets) in [(1, 1), (2, 2), (3, 2), (4, 4), (16, 4)] {
        let mut ticks = ticks(in_flight(most));
        let ((a, _), (slow, _)) = (ticks.bench.stream(), ticks.bench.stream());
        let mut last = ticks.bench.platform.buffer::<u8>(10 * LEN, &slow).unwrap();
        ticks.bench.recorder.clear();
        for tick in 0..300 {
            ticks.next(|bench, _| {
                for _ in 0..20 {
                    let mut data = bench.buffer(&a);
                    a.fill_bytes(&mut data, tick as u8).unwrap();
                    let mut part = last.slice_mut(..LEN).unwrap();
                    slow.copy(&data, &mut part).unwrap();
                }
            });
        }
        assert_eq!(ticks.allocations(), sets * most, "{most} in flight");
        let found = slow.download_blocking(&last).unwrap();
        assert_eq!(found[..LEN], [299_u32 as u8; LEN], "the last tick's");
    }
}

/// Each tick takes twenty steps on one stream, and each step drops the memory of the step before. So the tick needs only two
/// blocks.
#[test]
fn a_replayed_tick_uses_memory_of_its_own_stream_again() {
    let mut ticks = ticks(MemoryOptions::new());
    let (a, _) = ticks.bench.stream();
    ticks.bench.recorder.clear();
    for _ in 0..40 {
        ticks.next(|bench, _| {
            let mut before = bench.buffer(&a);
            a.fill_bytes(&mut before, 1).unwrap();
            for _ in 0..20 {
                let mut next = bench.buffer(&a);
                a.copy(&before, &mut next).unwrap();
                before = next;
            }
        });
    }
    assert_eq!(ticks.allocations(), 4 * 2, "two blocks for each set");
}

/// A program keeps each buffer for more ticks than there are sets, so the addresses repeat after more ticks than sets.
#[test]
fn memory_that_is_held_long_repeats_after_more_ticks() {
    let mut ticks = ticks(MemoryOptions::new());
    let (a, _) = ticks.bench.stream();
    let (mut held, mut addresses) = (std::collections::VecDeque::new(), Vec::new());
    for _ in 0..64 {
        let data = ticks.next(|bench, _| bench.buffer(&a));
        addresses.push(data.range().address);
        held.push_back(data);
        if held.len() > 5 {
            held.pop_front();
        }
    }
    let repeats = |period: usize| (16..64).all(|tick| addresses[tick] == addresses[tick - period]);
    assert!(repeats(8) && !repeats(4), "{addresses:?}");
}

/// In replayed ticks, an allocator stays within its limit, and takes free memory of any tick's set if it must.
#[test]
fn limits_hold_in_replayed_ticks() {
    let mut ticks = ticks(MemoryOptions::new());
    let ((a, _), (b, _)) = (ticks.bench.stream(), ticks.bench.stream());
    let limits = MemoryLimits::blocks(LEN as u64, 3);
    let allocator = ticks.bench.platform.allocator("THREE", device(0), limits).unwrap();
    let mut last = ticks.bench.platform.buffer::<u8>(LEN, &b).unwrap();
    for tick in 0..40_u8 {
        ticks.next(|_, _| {
            for stream in [&a, &b] {
                let mut data = allocator.buffer::<u8>(LEN, stream).unwrap();
                stream.fill_bytes(&mut data, tick).unwrap();
                b.copy(&data, &mut last).unwrap();
            }
        });
    }
    assert_eq!(b.download_blocking(&last).unwrap(), [39; LEN]);
}

/// A block that an allocation outside of replayed ticks has used returns to the set of the tick that had it before.
#[test]
fn memory_outside_of_ticks_leaves_most_ticks_as_they_were() {
    let mut ticks = ticks(MemoryOptions::new());
    let (a, _) = ticks.bench.stream();
    let mut addresses = Vec::new();
    for tick in 0..40 {
        addresses.push(ticks.next(|bench, _| bench.buffer(&a).range().address));
        if tick == 20 {
            drop(ticks.bench.buffer(&a));
        }
    }
    for tick in (8..40).filter(|tick| !(20..=28).contains(tick)) {
        assert_eq!(addresses[tick], addresses[tick - 4], "tick {tick}: {addresses:?}");
    }
}

/// Replayed ticks get the same page-locked memory as earlier ticks, for a download and for memory that the host writes.
#[test]
fn page_locked_memory_of_replayed_ticks_repeats() {
    let mut ticks = ticks(MemoryOptions::new());
    let (a, _) = ticks.bench.stream();
    let image = ticks.bench.buffer(&a);
    let mut addresses = Vec::new();
    for tick in 0..32 {
        let of_tick = ticks.next(|bench, _| {
            let pinned = bench.platform.pinned::<u8>(device(0), LEN).unwrap();
            let down = bench.platform.download(&image, &a).unwrap();
            (pinned.as_slice_blocking().unwrap().as_ptr().addr(), down.into_pinned())
        });
        addresses.push((of_tick.0, of_tick.1.as_slice_blocking().unwrap().as_ptr().addr()));
        if tick % 3 == 0 {
            a.synchronize_blocking().unwrap();
        }
    }
    for tick in 4..32 {
        assert_eq!(addresses[tick], addresses[tick - 2], "tick {tick}");
    }
}

/// Each tick allocates and drops page-locked memory in a loop, and each later run counts its ticks from 0 again.
#[test]
fn page_locked_memory_of_replayed_ticks_is_bounded() {
    let mut ticks = ticks(MemoryOptions::new());
    let made =
        |ticks: &Ticks| ticks.bench.count(|call| matches!(call, Call::AllocatePinned { .. }));
    for tick in 0..8 {
        // Each run has two ticks, with the numbers 0 and 1.
        ticks.tick = tick % 2;
        ticks.next(|bench, _| {
            for _ in 0..100 {
                let mut memory = bench.platform.pinned::<u8>(device(0), LEN).unwrap();
                memory.as_mut_slice_blocking().unwrap().fill(1);
            }
        });
    }
    assert!(made(&ticks) <= 4, "{}", made(&ticks));
}

/// The memory of all sets together would be above the release threshold, and the memory of a single tick is below it.
#[test]
fn replayed_ticks_below_the_threshold_allocate_once() {
    const THREE: u64 = 3 * 1024;
    let mut ticks = ticks(MemoryOptions::new().release_threshold(THREE + 512));
    let (a, _) = ticks.bench.stream();
    let tick = |ticks: &mut Ticks| {
        ticks.next(|bench, _| {
            let mut made = [(); 3].map(|()| bench.buffer(&a));
            made.iter_mut().for_each(|data| a.fill_bytes(data, 1).unwrap());
        });
    };
    (0..8).for_each(|_| tick(&mut ticks));
    ticks.bench.recorder.clear();
    (0..40).for_each(|_| tick(&mut ticks));
    assert_eq!(ticks.allocations(), 0);
}
