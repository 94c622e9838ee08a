//! Tests of the reuse of many small blocks, and of the queries of the driver about the uses of these blocks.

use super::bound::bound_with;
use super::*;

/// Drops four blocks of `a`, one after the other. Before each drop, a copy of the block into a part of a larger buffer is
/// queued on `b`, and not executed yet. Returns that buffer and the addresses of the blocks.
fn four_in_use(bench: &Bench, a: &CudaStream, b: &CudaStream) -> (Buffer<u8>, Vec<u64>) {
    let mut copies = bench.platform.buffer::<u8>(4 * LEN, b).unwrap();
    let addresses = (0..4).map(|tick| {
        let mut data = bench.buffer(a);
        a.fill_bytes(&mut data, tick as u8).unwrap();
        b.copy(&data, &mut copies.slice_mut(tick * LEN..(tick + 1) * LEN).unwrap()).unwrap();
        data.range().address
    });
    let addresses = addresses.collect();
    bench.recorder.clear();
    (copies, addresses)
}

fn is_query(call: &Call) -> bool {
    matches!(call, Call::QueryEvent { .. })
}

/// The test has two controls: if the uses are not known to be complete, the stream waits; and if the test wrongly marks
/// the uses as complete, the earlier reader finds the new owner's values.
#[test]
fn memory_whose_uses_are_known_complete_is_reused_without_a_wait() {
    for (is_known, is_true) in [(true, true), (true, false), (false, true)] {
        let bench = bench(in_flight(4));
        let ((a, _), (b, _)) = (bench.stream(), bench.stream());
        let (copies, addresses) = four_in_use(&bench, &a, &b);
        match (is_known, is_true) {
            (true, true) => b.synchronize_blocking().unwrap(),
            (true, false) => b.timeline().mark_all_complete_wrongly(),
            (false, _) => {}
        }
        bench.recorder.clear();
        let mut next = bench.buffer(&a);
        assert_eq!(next.range().address, addresses[0], "the oldest");
        assert_eq!(bench.count(is_wait), usize::from(!is_known));
        // The first query is about the third block, and the next query about an older block. None of their uses is complete.
        let queries = if is_known { 0 } else { 2 };
        assert_eq!(bench.count(is_query), queries, "a known use needs no query");
        a.fill_bytes(&mut next, 9).unwrap();
        assert_eq!(a.download_blocking(&next).unwrap(), [9; LEN]);
        let found = if is_true { 0 } else { 9 };
        assert_eq!(b.download_blocking(&copies).unwrap()[..LEN], [found; LEN], "{is_known}");
    }
}

#[test]
fn the_driver_is_queried_once_for_several_allocations() {
    let bench = bench(in_flight(4));
    let ((a, _), (b, _), (c, _)) = (bench.stream(), bench.stream(), bench.stream());
    let (copies, addresses) = four_in_use(&bench, &a, &b);
    // After these two calls the device has executed the work of `b`, but the host has noted only that `c` is complete.
    c.wait(b.record().unwrap()).unwrap();
    c.synchronize_blocking().unwrap();
    bench.recorder.clear();
    let taken: Vec<_> = (0..3).map(|_| bench.buffer(&a)).collect();
    let of_taken: Vec<_> = taken.iter().map(|buffer| buffer.range().address).collect();
    assert_eq!(of_taken, addresses[..3]);
    assert_eq!((bench.count(is_query), bench.count(is_wait)), (1, 0), "{}", bench.recorder.text());
    drop(copies);
}

/// The readers of successive blocks are on different streams, as in a plan. The progress of one stream says nothing about
/// the other streams, so the driver is queried about a block whose last use is on the stream of the oldest block's last use.
#[test]
fn the_driver_is_queried_about_the_streams_of_the_oldest_block() {
    let bench = bench(in_flight(4));
    let ((a, _), (b, _), (c, _)) = (bench.stream(), bench.stream(), bench.stream());
    let mut copies = [&b, &c].map(|on| bench.platform.buffer::<u8>(4 * LEN, on).unwrap());
    let mut addresses = Vec::new();
    let blocks: Vec<_> = (0..4).map(|_| bench.buffer(&a)).collect();
    for (tick, mut data) in blocks.into_iter().enumerate() {
        a.fill_bytes(&mut data, tick as u8).unwrap();
        let (reader, copies) =
            if tick % 3 == 0 { (&b, &mut copies[0]) } else { (&c, &mut copies[1]) };
        let part = tick * LEN..(tick + 1) * LEN;
        reader.copy(&data, &mut copies.slice_mut(part).unwrap()).unwrap();
        addresses.push(data.range().address);
    }
    // After these steps the device has executed the work of `b`, but the host has noted only that `d` is complete.
    let (d, _) = bench.stream();
    d.wait(b.record().unwrap()).unwrap();
    d.synchronize_blocking().unwrap();
    bench.recorder.clear();
    let next = bench.buffer(&a);
    assert_eq!(next.range().address, addresses[0], "the oldest");
    let text = bench.recorder.text();
    assert_eq!((bench.count(is_query), bench.count(is_wait)), (1, 0), "{text}");
    drop(copies);
}

fn is_allocation(call: &Call) -> bool {
    matches!(call, Call::Allocate { .. })
}

/// Runs ticks of a chain: each stream copies the block of the stream before into its own block.
fn chain(bench: &Bench, streams: &[CudaStream], ticks: std::ops::Range<u8>) {
    for tick in ticks {
        let mut last = bench.buffer(&streams[0]);
        streams[0].fill_bytes(&mut last, tick).unwrap();
        for stream in &streams[1..] {
            let mut next = bench.buffer(stream);
            stream.copy(&last, &mut next).unwrap();
            last = next;
        }
    }
}

/// The last stream of a chain has waited for all other streams, so a query about its blocks covers the blocks of all
/// streams. If the device has not completed the uses of any block, the streams wait, and no new memory is allocated.
#[test]
fn one_query_is_about_the_blocks_of_a_whole_chain() {
    const STREAMS: usize = 20;
    for policy in [Policy::Eager, Policy::Lazy] {
        let bench = bench_with(policy, in_flight(8));
        let streams: Vec<_> = (0..STREAMS).map(|_| bench.stream().0).collect();
        chain(&bench, &streams, 0..100);
        bench.recorder.clear();
        chain(&bench, &streams, 100..200);
        // The order of the copies alone needs this number of waits: in each tick, each stream waits for the stream before.
        let of_order = 100 * (STREAMS - 1);
        let (queries, waits) = (bench.count(is_query), bench.count(is_wait));
        match policy {
            // Each query covers the work of about 6 of 8 ticks.
            Policy::Eager => {
                assert!((1..=2 * 100 / 6).contains(&queries), "{queries} queries");
                assert_eq!(waits, of_order);
            }
            _ => assert!(waits > of_order),
        }
        assert_eq!(bench.count(is_allocation), 0);
    }
}

/// A block with uses only on its own stream is reused at once, without checking another block. The reused block is the
/// block that was returned last, although older blocks in the list are still in use on other streams.
#[test]
fn memory_that_was_used_on_its_own_stream_alone_is_the_next() {
    let bench = bench(in_flight(8));
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let (copies, _) = four_in_use(&bench, &a, &b);
    let made: Vec<_> = (0..2).map(|_| bench.buffer(&a)).collect();
    let addresses: Vec<_> = made.iter().map(|data| data.range().address).collect();
    made.into_iter().for_each(drop);
    bench.recorder.clear();
    for _ in 0..3 {
        let [one, two] = [(); 2].map(|()| bench.buffer(&a));
        assert_eq!([&two, &one].map(|data| data.range().address), addresses[..]);
        drop((two, one));
    }
    assert_eq!((bench.count(is_query), bench.count(is_wait)), (0, 0));
    drop(copies);
}

/// Another stream still uses the oldest block, but no later block. The pool has no room for a new block, so the allocation
/// takes a later block, without a wait.
#[test]
fn memory_that_is_free_in_stream_order_is_preferred_among_many_blocks() {
    for most in [2, 4] {
        let bench = bench(MemoryOptions::default());
        let ((a, _), (slow, _)) = (bench.stream(), bench.stream());
        let limits = MemoryLimits::blocks(LEN as u64, most);
        let allocator = bench.platform.allocator("POOL", device(0), limits).unwrap();
        let make = || allocator.buffer::<u8>(LEN, &a).unwrap();
        let mut all: Vec<_> = (0..most).map(|_| make()).collect();
        let mut copy = bench.buffer(&slow);
        all.iter_mut().for_each(|data| a.fill_bytes(data, 1).unwrap());
        slow.copy(&all[0], &mut copy).unwrap();
        drop(all);
        bench.recorder.clear();
        let _next = make();
        assert_eq!(bench.count(is_wait), 0, "most {most}: {}", bench.recorder.text());
    }
}

/// The query about a block fails. The allocation then reuses the oldest block, which may be another block than the one that
/// the query was about.
#[test]
fn a_block_whose_query_fails_does_not_end_all_allocation() {
    for blocks in [3, 4] {
        let (driver, platform) = bound_with(blocks);
        let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
        let (a, b) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
        let raw = Driver::create_stream(&*driver, device(0), Default::default()).unwrap();
        // SAFETY: the stream is alive.
        let borrowed = unsafe { crate::stream::BorrowedStream::new(device(0), raw.handle()) };
        let external = platform.external_stream(borrowed).unwrap();
        let mut memory: Vec<_> =
            (0..blocks).map(|_| platform.buffer::<u8>(LEN, &a).unwrap()).collect();
        for (index, data) in memory.iter_mut().enumerate() {
            let stream = if index == 2 { &*external } else { &b };
            stream.fill_bytes(data, 7).unwrap();
        }
        driver.fail_bind.store(true, Ordering::Relaxed);
        drop(external);
        driver.fail_bind.store(false, Ordering::Relaxed);
        drop(memory);
        let failed = (0..12).filter(|_| {
            let made = platform.buffer::<u8>(LEN, &a);
            if let Ok(mut made) = made {
                b.fill_bytes(&mut made, 1).unwrap();
                return false;
            }
            true
        });
        assert!(failed.count() < 6, "{blocks} blocks");
    }
}

/// A driver that lets another thread drop page-locked memory during a query about such memory.
#[derive(Debug)]
struct DropsDuringQuery {
    below: HostDriver,
    meanwhile: Mutex<Option<Pinned<u8>>>,
    dropped: AtomicUsize,
}

// SAFETY: this layer passes all calls on.
unsafe impl Layer for DropsDuringQuery {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    unsafe fn query_event(&self, event: crate::driver::RawEvent) -> DriverResult<bool> {
        if let Some(memory) = self.meanwhile.lock().unwrap().take() {
            let (done, is_done) = mpsc::channel();
            thread::spawn(move || {
                drop(memory);
                done.send(())
            });
            let waited = is_done.recv_timeout(Duration::from_secs(10));
            self.dropped.store(usize::from(waited.is_ok()), Ordering::Relaxed);
        }
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.query_event(event) }
    }
}

#[test]
fn page_locked_memory_is_queried_without_the_lock_of_its_pool() {
    let below = HostDriver::builder().policy(Policy::Lazy).build();
    let (meanwhile, dropped) = (Mutex::default(), AtomicUsize::new(0));
    let driver = Arc::new(DropsDuringQuery { below, meanwhile, dropped });
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let stream = pool.allocate("a test").unwrap();
    let mut data = platform.buffer::<u8>(LEN, &stream).unwrap();
    let pinned = || platform.pinned::<u8>(device(0), LEN).unwrap();
    let other = pinned();
    stream.upload(&pinned(), &mut data).unwrap();
    // The memory of the upload was returned before its copy is executed, so the next allocation queries the driver about that
    // copy.
    *driver.meanwhile.lock().unwrap() = Some(other);
    drop(pinned());
    assert_eq!(driver.dropped.load(Ordering::Relaxed), 1);
}

/// The last uses of all blocks are on one stream. That the first of these uses is complete says nothing about later uses.
#[test]
fn a_use_after_a_complete_one_is_not_taken_for_complete() {
    let bench = bench(in_flight(4));
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let mut copies = bench.platform.buffer::<u8>(4 * LEN, &b).unwrap();
    let mut after_the_first = None;
    for tick in 0..4 {
        let mut data = bench.buffer(&a);
        a.fill_bytes(&mut data, tick as u8).unwrap();
        b.copy(&data, &mut copies.slice_mut(tick * LEN..(tick + 1) * LEN).unwrap()).unwrap();
        drop(data);
        after_the_first.get_or_insert_with(|| b.record().unwrap());
    }
    bench.platform.streams().synchronize(after_the_first.unwrap()).unwrap();
    let mut taken = [(); 4].map(|()| bench.buffer(&a));
    taken.iter_mut().for_each(|data| a.fill_bytes(data, 9).unwrap());
    a.synchronize_blocking().unwrap();
    let found = b.download_blocking(&copies).unwrap();
    for (tick, part) in found.chunks(LEN).enumerate() {
        assert!(part.iter().all(|byte| *byte == tick as u8), "copy {tick} has {}", part[0]);
    }
}
