//! Tests of poison, of the reuse of freed memory, and of limits.

use super::*;

#[test]
fn poison_is_nan_in_every_float() {
    for pattern in [POISON_ALLOCATED, POISON_FREED] {
        let bits = u64::from(pattern) * 0x0001_0001_0001_0001;
        #[cfg(feature = "half")]
        assert!(half::f16::from_bits(pattern).is_nan());
        assert!(f32::from_bits(bits as u32).is_nan());
        assert!(f64::from_bits(bits).is_nan());
    }
}

#[test]
fn memory_is_poisoned_in_stream_order() {
    let bench = Bench::new(Policy::Lazy, 1);
    let stream = bench.stream();
    let data = bench.buffer(stream);
    assert_eq!(bench.peek(data), poisoned(POISON_FREED), "not allocated yet");
    bench.wait(stream);
    assert_eq!(bench.peek(data), poisoned(POISON_ALLOCATED));
    bench.set(stream, data, 1);
    unsafe { bench.driver.observer().recycle(stream, data).unwrap() };
    bench.set(stream, data, 2);
    unsafe { bench.driver.free(stream, data).unwrap() };
    assert_eq!(bench.peek(data), poisoned(POISON_ALLOCATED), "all of it is queued");
    bench.wait(stream);
    assert_eq!(bench.peek(data), poisoned(POISON_FREED));
    let log: Vec<_> = bench.driver.log().iter().map(ToString::to_string).collect();
    assert_eq!(log[3], "stream 1: kernel set");
    assert_eq!(log[2], "stream 1: recycle 256");
    assert_eq!(log[4], "stream 1: free 256");
}

#[test]
fn poison_of_any_range_stays_within_it() {
    let bench = Bench::new(Policy::Eager, 0);
    let stream = bench.stream();
    let data = bench.buffer(stream);
    let bytes = || unsafe {
        std::slice::from_raw_parts(super::super::memory::pointer(data.address), BYTES as usize)
    };
    for (start, length) in [(0, 1), (1, 1), (3, 2), (7, 9), (5, 40), (8, 16), (9, 0), (1, 255)] {
        unsafe { bench.driver.fill(stream, data, 0).unwrap() };
        let range = MemoryRange { address: data.address + start, bytes: length };
        unsafe { bench.driver.observer().recycle(stream, range).unwrap() };
        for (at, byte) in bytes().iter().enumerate() {
            let inside = (start..start + length).contains(&(at as u64));
            let expected = if inside { POISON_ALLOCATED.to_le_bytes()[at % 2] } else { 0 };
            assert_eq!(*byte, expected, "{start}+{length} at {at}");
        }
    }
}

#[test]
fn freed_memory_comes_back_first_to_its_own_stream() {
    let bench = Bench::new(Policy::Lazy, 1);
    let (a, b) = (bench.stream(), bench.stream());
    let first = bench.buffer(a);
    unsafe { bench.driver.free(a, first).unwrap() };
    let elsewhere = bench.buffer(b);
    assert_ne!(elsewhere, first, "the free has not executed");
    assert_eq!(bench.buffer(a), first, "the same stream is in order anyway");

    unsafe { bench.driver.free(a, first).unwrap() };
    bench.wait(a);
    assert_eq!(bench.buffer(b), first, "the free has executed");

    // Of two free blocks, the stream gets the one that it has freed itself.
    let (x, y) = (bench.buffer(a), bench.buffer(b));
    unsafe {
        bench.driver.free(a, x).unwrap();
        bench.driver.free(b, y).unwrap();
    }
    bench.wait(a);
    bench.wait(b);
    assert_eq!(bench.buffer(a), x);
    assert_eq!(bench.buffer(a), y);
}

#[test]
fn a_free_without_a_wait_for_a_reader_is_found() {
    let bench = Bench::new(Policy::Lazy, 1);
    let (home, reader) = (bench.stream(), bench.stream());
    let (data, seen) = (bench.buffer(home), bench.settled_buffer());
    bench.set(home, data, 1);
    bench.edge(home, reader);
    bench.copy(reader, seen, data);
    unsafe { bench.driver.free(home, data).unwrap() };
    bench.wait(home);
    assert_eq!(bench.download(reader, seen), poisoned(POISON_FREED));
}

#[test]
fn a_first_write_without_a_wait_for_the_allocation_is_found() {
    let bench = Bench::new(Policy::Lazy, 1);
    let (home, other) = (bench.stream(), bench.stream());
    let data = bench.buffer(home);
    bench.set(other, data, 1);
    bench.wait(other);
    assert_eq!(bench.download(home, data), poisoned(POISON_ALLOCATED));
}

#[test]
fn ranges_are_aligned_and_distinct_even_when_empty() {
    let bench = Bench::new(Policy::Eager, 0);
    let stream = bench.stream();
    let mut ranges = Vec::new();
    for bytes in [0, 0, 1, 255, 256, 257, 5000, 1 << 20, (1 << 20) + 1, 0] {
        let range = unsafe { bench.driver.allocate(stream, bytes, MemorySource::Unused) }.unwrap();
        assert!(range.address != 0 && range.address.is_multiple_of(256) && range.bytes == bytes);
        let at_least = MemoryRange { bytes: bytes.max(1), ..range };
        assert!(ranges.iter().all(|other| !at_least.overlaps(*other)));
        ranges.push(at_least);
        ranges.last_mut().unwrap().bytes = bytes.max(1);
    }
}

#[test]
fn memory_is_limited_and_misuse_is_refused() {
    let bench = Bench::with(HostDriver::builder().memory(1 << 20));
    let stream = bench.stream();
    let all = unsafe { bench.driver.allocate(stream, 1 << 20, MemorySource::Unused) }.unwrap();
    let more = unsafe { bench.driver.allocate(stream, 1, MemorySource::Unused) };
    assert_eq!(more, Err(DriverError::OutOfMemory { device: DEVICE, requested: 1 }));
    let part = MemoryRange { bytes: 7, ..all };
    assert_eq!(code_of(unsafe { bench.driver.free(stream, part) }).0, 1);
    unsafe { bench.driver.free(stream, all).unwrap() };
    assert_eq!(code_of(unsafe { bench.driver.free(stream, all) }).0, 1, "freed twice");
    assert!(unsafe { bench.driver.allocate(stream, u64::MAX, MemorySource::Unused) }.is_err());
    bench.driver.trim(DEVICE, 0).unwrap();
    unsafe { bench.driver.allocate(stream, 1, MemorySource::Unused) }.unwrap();
    assert_eq!(bench.driver.device_info(DEVICE).unwrap().total_memory, 1 << 20);
}

#[test]
fn pinned_memory_is_poisoned_and_its_free_drains_the_device() {
    let bench = Bench::new(Policy::Lazy, 1);
    let pinned = bench.driver.allocate_pinned(DEVICE, BYTES).unwrap();
    assert_eq!(bench.peek(pinned), poisoned(POISON_ALLOCATED));
    let data = bench.settled_buffer();
    bench.set(bench.stream(), data, 1);
    unsafe { bench.driver.free_pinned(DEVICE, pinned).unwrap() };
    assert_eq!(bench.peek(pinned), poisoned(POISON_FREED));
    assert_eq!(bench.peek(data), 1);
    assert_eq!(code_of(unsafe { bench.driver.free_pinned(DEVICE, pinned) }).0, 1);
}

/// After a blocking copy has failed, its host memory belongs to the caller again, so the copy must not touch that memory.
#[test]
fn a_cancelled_copy_touches_no_memory() {
    for cancel in [false, true] {
        let bench = Bench::new(Policy::Lazy, 1);
        let stream = bench.stream();
        let (data, target) = (bench.settled_buffer(), bench.settled_buffer());
        bench.set(stream, data, 1);
        let (mut sim, index) = bench.driver.enter_stream("a test", stream).unwrap();
        let [target_address, source] = [target.address, data.address];
        let kind = CopyKind::DeviceToPageable;
        let copy = Op::Copy { target: target_address, source, bytes: BYTES, kind, rows: None };
        let point = sim.submit(index, copy);
        if cancel {
            sim.cancel_copy(point);
        }
        drop(sim);
        unsafe { bench.driver.fill(stream, data, 0xee) }.unwrap();
        bench.wait(stream);
        let untouched = poisoned(POISON_ALLOCATED);
        assert_eq!(bench.peek(target), if cancel { untouched } else { 1 });
        assert_eq!(bench.peek(data), 0xeeee_eeee, "later work executes");
    }
}

/// Memory of other code counts as the device's from `adopt` to `disown`. It must be disowned as often as it was adopted.
#[test]
fn adopted_host_memory_counts_as_memory_of_the_device() {
    let bench = Bench::new(Policy::Eager, 0);
    let (stream, other) = (bench.stream(), bench.stream());
    let memory = vec![0_u32; BYTES as usize / 4].leak();
    let address = memory.as_mut_ptr().expose_provenance() as u64;
    let whole = MemoryRange { address, bytes: BYTES };
    let (half, beyond) =
        (MemoryRange { bytes: BYTES / 2, ..whole }, MemoryRange { bytes: BYTES + 1, ..whole });
    let fill = |range| unsafe { bench.driver.fill(stream, range, 1) };
    assert!(fill(whole).is_err(), "it is ordinary host memory");
    unsafe {
        bench.driver.observer().adopt(DEVICE, whole).unwrap();
        bench.driver.observer().adopt(DEVICE, half).unwrap();
    }
    assert!(fill(whole).is_ok() && fill(half).is_ok() && fill(beyond).is_err());
    bench.set(other, whole, 7);
    unsafe { bench.driver.observer().disown(stream, whole).unwrap() };
    assert!(fill(whole).is_err() && fill(half).is_ok());
    unsafe {
        assert!(bench.driver.observer().disown(stream, whole).is_err(), "it is disowned already");
        bench.driver.observer().disown(stream, half).unwrap();
    }
    assert!(fill(half).is_err());
}

#[test]
fn a_stream_can_wait_for_all_work_of_its_device() {
    for seed in 0..32 {
        let bench = Bench::new(Policy::Random, seed);
        let streams = [bench.stream(), bench.blocking_stream(), bench.stream()];
        let data = streams.map(|_| bench.settled_buffer());
        let results = streams.map(|_| bench.settled_buffer());
        for (stream, data) in streams.into_iter().zip(data) {
            bench.set(stream, data, 5);
        }
        let last = bench.stream();
        unsafe { bench.driver.wait_for_device(last) }.unwrap();
        for (data, result) in data.into_iter().zip(results) {
            bench.copy(last, result, data);
        }
        bench.wait(last);
        for result in results {
            assert_eq!(bench.peek(result), 5, "seed {seed}");
        }
    }
}
