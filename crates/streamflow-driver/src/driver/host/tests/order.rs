//! Tests of the order between streams: events, the default stream, and copies of pageable memory.

use super::*;

#[test]
fn a_wait_is_for_the_latest_record_and_no_later_one() {
    for seed in 0..64 {
        for policy in ALL {
            let bench = Bench::new(policy, seed);
            let (fast, slow, reader) = (bench.stream(), bench.stream(), bench.stream());
            let (data, seen, other) =
                (bench.settled_buffer(), bench.settled_buffer(), bench.settled_buffer());
            let event = bench.event();
            bench.set(slow, data, 1);
            unsafe { bench.driver.record_event(event, slow) }.unwrap();
            unsafe { bench.driver.wait_event(reader, event) }.unwrap();
            // The same event is recorded again, on a stream that is further ahead. The earlier wait is still for the record
            // on `slow`.
            bench.set(fast, other, 9);
            unsafe { bench.driver.record_event(event, fast) }.unwrap();
            unsafe { bench.driver.synchronize_event(event) }.unwrap();
            assert_eq!(bench.peek(other), 9, "the host waits for the latest record");
            bench.copy(reader, seen, data);
            assert_eq!(bench.download(reader, seen), 1, "{policy:?} {seed}");
        }
    }
}

#[test]
fn a_wait_does_not_cover_what_is_queued_after_the_record() {
    let bench = Bench::new(Policy::Lazy, 1);
    let (producer, reader) = (bench.stream(), bench.stream());
    let data = bench.settled_buffer();
    let event = bench.event();
    bench.set(producer, data, 1);
    unsafe { bench.driver.record_event(event, producer) }.unwrap();
    bench.set(producer, data, 2);
    unsafe { bench.driver.wait_event(reader, event) }.unwrap();
    assert_eq!(bench.download(reader, data), 1);
}

#[test]
fn an_event_that_was_never_recorded_is_complete() {
    for policy in ALL {
        let bench = Bench::new(policy, 3);
        let stream = bench.stream();
        let event = bench.event();
        unsafe { bench.driver.wait_event(stream, event) }.unwrap();
        unsafe { bench.driver.synchronize_event(event) }.unwrap();
        assert!(unsafe { bench.driver.query_event(event) }.unwrap());
        bench.wait(stream);
    }
}

#[test]
fn waits_outlive_their_event_and_work_outlives_its_stream() {
    for seed in 0..32 {
        for policy in ALL {
            let bench = Bench::new(policy, seed);
            let (producer, reader) = (bench.stream(), bench.stream());
            let data = bench.settled_buffer();
            bench.set(producer, data, 5);
            bench.edge(producer, reader);
            unsafe { bench.driver.destroy_stream(producer).unwrap() };
            // A new stream that gets the destroyed stream's slot is a different stream.
            let next = bench.stream();
            assert_eq!(bench.download(reader, data), 5, "{policy:?} {seed}");
            bench.wait(next);
            let stale = unsafe { bench.driver.synchronize_stream(producer) };
            assert!(stale.is_err() || next == producer, "{policy:?} {seed}");
        }
    }
}

/// Returns the value that a reader on `second` gets after a write on `first`, without an event between the streams.
fn seen_without_event(policy: Policy, seed: u64, first: Kind, second: Kind) -> u32 {
    let bench = Bench::new(policy, seed);
    let of = |kind| match kind {
        Kind::Default => bench.driver.default_stream(DEVICE),
        Kind::Blocking => bench.blocking_stream(),
        Kind::NonBlocking => bench.stream(),
    };
    let (first, second) = (of(first), of(second));
    let data = bench.settled_buffer();
    bench.set(first, data, 7);
    bench.download(second, data)
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Default,
    Blocking,
    NonBlocking,
}

#[test]
fn the_default_stream_is_a_barrier_for_blocking_streams_both_ways() {
    for seed in 0..32 {
        for policy in ALL {
            for (first, second) in
                [(Kind::Default, Kind::Blocking), (Kind::Blocking, Kind::Default)]
            {
                let seen = seen_without_event(policy, seed, first, second);
                assert_eq!(seen, 7, "{policy:?} {seed} {first:?} {second:?}");
            }
        }
    }
}

#[test]
fn nothing_else_is_ordered_without_an_event() {
    for (first, second) in [
        (Kind::Default, Kind::NonBlocking),
        (Kind::NonBlocking, Kind::Default),
        (Kind::Blocking, Kind::Blocking),
        (Kind::NonBlocking, Kind::Blocking),
        (Kind::NonBlocking, Kind::NonBlocking),
    ] {
        let seen = seen_without_event(Policy::Lazy, 1, first, second);
        assert_eq!(seen, poisoned(POISON_ALLOCATED), "{first:?} {second:?}");
        assert_eq!(seen_without_event(Policy::Eager, 0, first, second), 7);
    }
}

#[test]
fn the_default_streams_of_two_devices_are_unrelated() {
    let bench = Bench::with(HostDriver::builder().devices(2).policy(Policy::Lazy).trace(true));
    let data = bench.settled_buffer();
    let there = DeviceId(1);
    let options = StreamOptions { flags: StreamFlags::Blocking, priority: -5, green: None };
    bench.driver.bind(there).unwrap();
    let other = bench.driver.create_stream(there, options).unwrap();
    bench.driver.bind(DEVICE).unwrap();
    bench.set(bench.driver.default_stream(DEVICE), data, 7);
    assert_eq!(bench.download(other, data), poisoned(POISON_ALLOCATED));
}

#[test]
fn a_pageable_copy_blocks_and_a_pinned_one_does_not() {
    let bench = Bench::new(Policy::Lazy, 1);
    let stream = bench.stream();
    let data = bench.settled_buffer();
    let pinned = bench.driver.allocate_pinned(DEVICE, BYTES).unwrap();
    unsafe { words(pinned.address) }.fill(3);
    let mut copy =
        CopyOp { kind: CopyKind::PinnedToDevice, target: data, source: pinned, rows: None };
    unsafe { bench.driver.copy(stream, &copy).unwrap() };
    assert_eq!(bench.peek(data), poisoned(POISON_ALLOCATED), "still queued");
    bench.wait(stream);
    assert_eq!(bench.peek(data), 3);

    let host = [4_u32; LEN];
    copy.kind = CopyKind::PageableToDevice;
    copy.source.address = host.as_ptr().expose_provenance() as u64;
    unsafe { bench.driver.copy(stream, &copy).unwrap() };
    assert_eq!(bench.peek(data), 4, "executed when the call returns");

    unsafe { bench.driver.fill(stream, data, 0x11).unwrap() };
    assert_eq!(bench.download(stream, data), 0x1111_1111);

    copy.source.bytes -= 1;
    assert_eq!(code_of(unsafe { bench.driver.copy(stream, &copy) }).0, 1);
    unsafe { bench.driver.free_pinned(DEVICE, pinned).unwrap() };
}

#[test]
fn copies_may_overlap() {
    let bench = Bench::new(Policy::Eager, 0);
    let data = bench.settled_buffer();
    for (index, word) in unsafe { words(data.address) }.iter_mut().enumerate() {
        *word = index as u32;
    }
    let source = MemoryRange { address: data.address, bytes: BYTES - 4 };
    let target = MemoryRange { address: data.address + 4, bytes: BYTES - 4 };
    let copy = CopyOp { kind: CopyKind::DeviceToDevice, target, source, rows: None };
    unsafe { bench.driver.copy(bench.stream(), &copy).unwrap() };
    let shifted: Vec<u32> = std::iter::once(0).chain(0..LEN as u32 - 1).collect();
    assert_eq!(unsafe { words(data.address) }, shifted);
}

/// CUDA's rule for peer copies: the stream belongs to one of the two devices.
#[test]
fn a_copy_between_devices_is_on_a_stream_of_one_of_them() {
    let driver = HostDriver::builder().devices(3).build();
    let options = StreamOptions::default();
    let [a, b, c] = [0, 1, 2].map(|device| {
        driver.bind(DeviceId(device)).unwrap();
        driver.create_stream(DeviceId(device), options).unwrap()
    });
    let (source, target) = unsafe {
        (
            driver.allocate(a, BYTES, MemorySource::Unused).unwrap(),
            driver.allocate(b, BYTES, MemorySource::Unused).unwrap(),
        )
    };
    let kind = CopyKind::Peer { from: DeviceId(0), to: DeviceId(1) };
    let copy =
        |stream| unsafe { driver.copy(stream, &CopyOp { kind, target, source, rows: None }) };
    assert!(copy(a).is_ok() && copy(b).is_ok());
    let refused = copy(c).unwrap_err().to_string();
    assert!(refused.contains("one of them"), "{refused}");
}
