//! Tests of uses of memory by several threads: rules 1 and 4 of `stream::order`, and which uses a block may forget.
//! The test's own thread takes the steps of the second thread, at a named point of the code under test, as in
//! `stream::tests::order`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::*;
use crate::driver::AccessMode::{Read, Write};
use crate::turns::hooks;

const QUEUED: &str = "the work is queued, and its uses are not noted yet";
const NOT_QUEUED: &str = "the stream comes after what memory needs, and the work is not queued yet";
const FORGOTTEN: &str = "uses are forgotten, and the point is not taken yet";

/// Returns another handle of the same stream, for the steps of another thread.
fn other(bench: &Bench, stream: &CudaStream) -> CudaStream {
    CudaStream::adopted(bench.platform.streams(), stream.timeline().open_point())
}

/// Just before the work is queued, another thread makes a stream wait for this one, and so records it. That record does
/// not cover the work.
#[test]
fn a_use_is_noted_with_a_point_from_after_its_work() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _), (c, _)) = (bench.stream(), bench.stream(), bench.stream());
    let (mut data, mut copy) = (bench.buffer(&a), bench.buffer(&b));
    let (range, driver) = (data.range(), bench.platform.driver().clone());
    let queue = |_| {
        c.wait(a.timeline().open_point()).unwrap();
        // SAFETY: the stream and the memory are alive.
        unsafe { driver.fill(a.raw(), range, 7) }
    };
    a.write_raw(&mut data, queue).unwrap().unwrap();
    b.copy(&data, &mut copy).unwrap();
    assert_eq!(b.download_blocking(&copy).unwrap(), [7; LEN]);
}

/// Another thread records the stream after the stream has waited for earlier uses, and before the work is queued.
#[test]
fn a_record_between_the_order_and_the_work_does_not_cover_the_work() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _), (c, _)) = (bench.stream(), bench.stream(), bench.stream());
    let (mut data, mut copy) = (bench.buffer(&a), bench.buffer(&b));
    let of_a = a.timeline().clone();
    hooks::at(NOT_QUEUED, move || c.wait(of_a.open_point()).unwrap());
    a.fill_bytes(&mut data, 7).unwrap();
    assert!(hooks::are_done());
    b.copy(&data, &mut copy).unwrap();
    assert_eq!(b.download_blocking(&copy).unwrap(), [7; LEN]);
}

/// A use is noted even if the closure unwinds after it has queued the work.
#[test]
fn work_that_was_queued_before_a_panic_is_noted() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let (mut data, mut copy) = (bench.buffer(&a), bench.buffer(&b));
    a.record().unwrap();
    b.wait(a.record().unwrap()).unwrap();
    let range = data.range();
    let driver = bench.platform.driver().clone();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        a.write_raw(&mut data, |_| {
            // SAFETY: the stream and the memory are alive.
            unsafe { driver.fill(a.raw(), range, 7) }.unwrap();
            std::panic::resume_unwind(Box::new(()));
        })
    }));
    assert!(unwound.is_err());
    b.copy(&data, &mut copy).unwrap();
    assert_eq!(b.download_blocking(&copy).unwrap(), [7; LEN]);
}

/// Work on `a` writes the left half. After that work is queued, a read of the right half on `c` is noted, `a` is recorded,
/// and only after this record `a` waits for the read. So the point of the write does not cover the read, and a later write
/// of the right half must wait for `c` itself.
#[test]
fn a_use_that_the_stream_came_after_too_late_is_kept() {
    let bench = Rc::new(bench(MemoryOptions::default()));
    let ((a, _), (b, _), (c, _)) = (bench.stream(), bench.stream(), bench.stream());
    let data = bench.buffer(&b);
    let block = data.block();
    b.record().unwrap();
    a.wait(b.record().unwrap()).unwrap();
    c.wait(b.record().unwrap()).unwrap();
    // Another thread takes the steps of the hook while the write is noted. The write's point must be taken after these
    // steps.
    block.note(c.timeline(), Read);
    let of_c = c.record().unwrap();
    let again = other(&bench, &a);
    hooks::at(FORGOTTEN, move || {
        again.record().unwrap();
        again.wait(of_c).unwrap();
    });
    block.note(a.timeline(), Write);
    assert!(hooks::are_done());
    bench.recorder.clear();
    block.order(&b, Write).unwrap();
    // Stream `b` must wait once for `a` and once for `c`.
    let waits = bench.count(is_wait);
    assert!(b.timeline().implies(of_c), "{}", bench.recorder.text());
    assert_eq!(waits, 2, "{}", bench.recorder.text());
}

/// Two threads read on one stream. The thread that notes its read last has the latest point.
#[test]
fn a_read_does_not_replace_a_later_one_on_its_stream() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let (mut data, mut copies) = (bench.buffer(&b), [(); 2].map(|()| bench.buffer(&a)));
    b.fill_bytes(&mut data, 1).unwrap();
    let [first, second] = &mut copies;
    let again = other(&bench, &a);
    let mut second = std::mem::replace(second, bench.buffer(&a));
    let shared = Arc::new(data);
    let read = shared.clone();
    let (done, seen) = mpsc::channel();
    hooks::at(QUEUED, move || {
        again.record().unwrap();
        again.copy(&read, &mut second).unwrap();
        drop(read);
        done.send(second).unwrap();
    });
    a.copy(&shared, first).unwrap();
    let second = seen.try_recv().unwrap();
    let mut data = Arc::into_inner(shared).unwrap();
    b.fill_bytes(&mut data, 2).unwrap();
    b.synchronize_blocking().unwrap();
    for copy in [&copies[0], &second] {
        assert_eq!(a.download_blocking(copy).unwrap(), [1; LEN]);
    }
}

/// Two streams without an order each use one half of a block. A later use of the whole block waits once for each stream.
#[test]
fn two_unordered_uses_are_both_kept() {
    for (first, second) in [(Write, Write), (Read, Write), (Write, Read)] {
        let bench = bench(MemoryOptions::default());
        let ((a, _), (b, _), (c, _)) = (bench.stream(), bench.stream(), bench.stream());
        let buffer = bench.buffer(&c);
        let block = buffer.block();
        block.note(a.timeline(), first);
        block.note(b.timeline(), second);
        bench.recorder.clear();
        let using = |stream: &CudaStream, mode| {
            block.order(stream, mode).unwrap();
            block.note(stream.timeline(), mode);
        };
        using(&c, Write);
        assert_eq!(bench.count(is_wait), 2, "{first:?} and {second:?}");
        bench.recorder.clear();
        using(&c, Write);
        using(&a, Read);
        assert_eq!(bench.count(is_wait), 1, "uses that were waited for are forgotten");
    }
}

/// An access reads the word for the last write without a lock. A write must nevertheless wait for a read that came after
/// that last write.
#[test]
fn a_write_waits_for_a_read_after_the_only_write() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let (mut data, mut copy) = (bench.buffer(&a), bench.buffer(&b));
    a.fill_bytes(&mut data, 1).unwrap();
    b.copy(&data, &mut copy).unwrap();
    a.fill_bytes(&mut data, 2).unwrap();
    a.synchronize_blocking().unwrap();
    assert_eq!(b.download_blocking(&copy).unwrap(), [1; LEN]);
}

/// One stream reads one half of a block, and a second stream writes the other half, without an order. The next write waits
/// for the read, because the noted write does not come after the read.
#[test]
fn a_write_waits_for_a_read_beside_the_only_write() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let buffer = bench.buffer(&a);
    let block = buffer.block();
    block.note(b.timeline(), Read);
    block.note(a.timeline(), Write);
    bench.recorder.clear();
    block.order(&a, Read).unwrap();
    assert_eq!(bench.count(is_wait), 0);
    block.order(&a, Write).unwrap();
    assert_eq!(bench.count(is_wait), 1);
}

/// A block has more readers than a stream's clock has entries. The first write waits for each reader, and the block then
/// forgets all of them.
#[test]
fn a_write_waits_once_for_each_of_many_readers() {
    for readers in [7, 8, 9, 16, 17, 40] {
        let bench = bench(MemoryOptions::default());
        let (a, _) = bench.stream();
        let mut data = bench.buffer(&a);
        a.fill_bytes(&mut data, 1).unwrap();
        let mut copies = Vec::new();
        for _ in 0..readers {
            let (stream, _) = bench.stream();
            let mut copy = bench.buffer(&stream);
            stream.copy(&data, &mut copy).unwrap();
            copies.push((stream, copy));
        }
        bench.recorder.clear();
        for waits in [readers, 0, 0] {
            a.fill_bytes(&mut data, 2).unwrap();
            assert_eq!(bench.count(is_wait), waits, "{readers} readers");
            bench.recorder.clear();
        }
        a.synchronize_blocking().unwrap();
        for (stream, copy) in &copies {
            assert_eq!(stream.download_blocking(copy).unwrap(), [1; LEN], "{readers} readers");
        }
    }
}
