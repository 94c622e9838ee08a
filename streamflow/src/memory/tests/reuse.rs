//! Tests of which free block an allocation reuses, and of the waits of its stream for the uses of that block.

use super::*;

#[test]
fn memory_that_is_free_in_stream_order_is_preferred() {
    let bench = bench(in_flight(1));
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let (mut older, mut newer) = (bench.buffer(&a), bench.buffer(&a));
    let addresses = [older.range().address, newer.range().address];
    let mut copy = bench.buffer(&b);
    a.fill_bytes(&mut older, 1).unwrap();
    a.fill_bytes(&mut newer, 2).unwrap();
    b.copy(&older, &mut copy).unwrap();
    // `b` still reads the older block.
    drop(older);
    drop(newer);
    bench.recorder.clear();
    let first = bench.buffer(&a);
    assert_eq!(first.range().address, addresses[1]);
    assert_eq!(bench.count(is_wait), 0);
    // The next allocation takes the older block, and the stream of the *new* owner waits for the read by `b`.
    let second = bench.buffer(&a);
    assert_eq!(second.range().address, addresses[0]);
    assert_eq!(bench.count(is_wait), 1);
    assert_eq!(bench.count(|call| matches!(call, Call::Allocate { .. })), 0);
}

#[test]
fn a_slow_consumer_bounds_memory() {
    for most in [1, 2, 5] {
        let bench = bench(in_flight(most));
        let ((a, _), (slow, _)) = (bench.stream(), bench.stream());
        let mut last = bench.platform.buffer::<u8>(10 * LEN, &slow).unwrap();
        bench.recorder.clear();
        for tick in 0..1000 {
            let mut data = bench.buffer(&a);
            a.fill_bytes(&mut data, tick as u8).unwrap();
            let mut part = last.slice_mut(..LEN).unwrap();
            slow.copy(&data, &mut part).unwrap();
        }
        let made = bench.count(|call| matches!(call, Call::Allocate { .. }));
        assert_eq!(made, most);
        let found = slow.download_blocking(&last).unwrap();
        assert_eq!(found[..LEN], [999_u32 as u8; LEN], "the last tick's");
    }
}

/// Law 8 for memory: the stream of a block's next owner waits for the last uses by the previous owner, and not for later
/// work on the streams of these uses.
#[test]
fn dropping_memory_records_its_uses_on_other_streams() {
    let bench = bench(in_flight(1));
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let source = bench.buffer(&a);
    let mut copy = bench.buffer(&b);
    b.copy(&source, &mut copy).unwrap();
    bench.recorder.clear();
    drop(source);
    let records = |bench: &Bench| bench.count(|call| matches!(call, Call::RecordEvent { .. }));
    assert_eq!(records(&bench), 1);
    b.fill_bytes(&mut copy, 1).unwrap();
    let _next = bench.buffer(&a);
    assert_eq!(records(&bench), 1, "the next owner waits for the earlier record");
}

/// Law 8: a reader has waited for the write, so a stream that waits for the reader need not wait for the write.
#[test]
fn a_new_owner_waits_only_for_the_latest_use() {
    let bench = bench(in_flight(1));
    let ((a, _), (b, _), (c, _), (d, _)) =
        (bench.stream(), bench.stream(), bench.stream(), bench.stream());
    let mut source = bench.buffer(&a);
    let [mut of_c, mut of_d] = [&c, &d].map(|stream| bench.buffer(stream));
    b.fill_bytes(&mut source, 7).unwrap();
    c.copy(&source, &mut of_c).unwrap();
    // `d` comes after the read on `c`.
    d.copy(&of_c, &mut of_d).unwrap();
    d.copy(&source, &mut of_d).unwrap();
    drop(source);
    bench.recorder.clear();
    let _next = bench.buffer(&a);
    assert_eq!(bench.count(is_wait), 1);
}

/// The test takes the steps of the example in `memory/README.md`. After each step it checks which driver calls the step has
/// made, and which number the next record of each stream has.
#[test]
fn the_example_of_the_readme() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let limits = MemoryLimits::blocks(LEN as u64, 1);
    let allocator = bench.platform.allocator("ONE", device(0), limits).unwrap();
    let mut y = bench.buffer(&b);
    let calls = || {
        let count = |is: fn(&Call) -> bool| bench.count(is);
        let counts = [
            count(|call| matches!(call, Call::Allocate { .. })),
            count(|call| matches!(call, Call::RecordEvent { .. })),
            count(is_wait),
            count(|call| matches!(call, Call::Fill { .. } | Call::Copy { .. })),
        ];
        bench.recorder.clear();
        counts
    };
    let next = || [&a, &b].map(|stream| stream.timeline().open_point().record());
    let [of_a, of_b] = next();
    let steps = |a: u64, b: u64| [of_a + a, of_b + b];
    calls();
    let mut x = allocator.buffer::<u8>(LEN, &a).unwrap();
    let address = x.range().address;
    assert_eq!((calls(), next()), ([1, 0, 0, 0], steps(0, 0)));
    a.fill_bytes(&mut x, 7).unwrap();
    assert_eq!((calls(), next()), ([0, 0, 0, 1], steps(0, 0)));
    b.copy(&x, &mut y).unwrap();
    assert_eq!((calls(), next()), ([0, 1, 1, 1], steps(1, 0)));
    drop(x);
    assert_eq!((calls(), next()), ([0, 1, 0, 0], steps(1, 1)));
    let mut z = allocator.buffer::<u8>(LEN, &a).unwrap();
    assert_eq!((calls(), next()), ([0, 0, 1, 0], steps(1, 1)));
    assert_eq!(z.range().address, address);
    a.fill_bytes(&mut z, 9).unwrap();
    assert_eq!((calls(), next()), ([0, 0, 0, 1], steps(1, 1)));
    assert_eq!(b.download_blocking(&y).unwrap(), [7; LEN]);
}

/// The stream of an allocation has waited for all uses by the previous owner, so no use of the new owner waits for them
/// again.
#[test]
fn a_new_owner_has_no_uses_of_the_one_before() {
    let bench = bench(in_flight(1));
    let [a, b, c] = [(); 3].map(|()| bench.stream().0);
    let mut copy = bench.buffer(&b);
    let mut data = bench.buffer(&a);
    let address = data.range().address;
    a.fill_bytes(&mut data, 1).unwrap();
    b.copy(&data, &mut copy).unwrap();
    drop(data);
    let mut data = bench.buffer(&a);
    assert_eq!(data.range().address, address, "the same memory");
    bench.recorder.clear();
    c.fill_bytes(&mut data, 2).unwrap();
    assert_eq!(bench.count(is_wait), 1, "for the allocation on `a` alone");
}
