//! Tests that downloads are read when they are complete, and that the copy of an earlier owner never writes into them.

use super::*;

#[test]
fn a_download_cannot_be_read_before_it_is_complete() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let mut data = bench.buffer(&a);
    a.fill_bytes(&mut data, 6).unwrap();
    let download = bench.platform.download(&data, &b).unwrap();
    assert_eq!(download.try_get().unwrap(), None);
    let done = (0..100).find(|_| download.try_get().unwrap().is_some());
    assert!(done.is_some(), "repeated queries must succeed in the end");
    assert_eq!(download.try_get().unwrap(), Some([6; LEN].as_slice()));
    assert!(!bench.recorder.calls().iter().any(Call::blocks_host));
    // The second download takes the same steps, and waits by a blocking call.
    a.fill_bytes(&mut data, 8).unwrap();
    let next = bench.platform.download(&data, &b).unwrap();
    assert_eq!(next.try_get().unwrap(), None);
    assert_eq!(next.wait_blocking().unwrap(), [8; LEN]);
    assert_eq!(download.wait_blocking().unwrap(), [6; LEN], "the earlier one keeps its values");
}

/// The host has not waited for the first download, so its copy may still run when the memory has a new owner.
#[test]
fn a_download_that_was_dropped_does_not_write_into_the_next() {
    for most in [1, 2] {
        let bench = bench(in_flight(most));
        let ((a, _), (b, _)) = (bench.stream(), bench.stream());
        let (mut old, mut new) = (bench.buffer(&a), bench.buffer(&b));
        a.fill_bytes(&mut old, 1).unwrap();
        b.fill_bytes(&mut new, 2).unwrap();
        for _ in 0..most {
            drop(bench.platform.download(&old, &a).unwrap());
        }
        let download = bench.platform.download(&new, &b).unwrap();
        assert_eq!(download.wait_blocking().unwrap(), [2; LEN]);
        a.synchronize_blocking().unwrap();
        assert_eq!(download.wait_blocking().unwrap(), [2; LEN]);
    }
}

/// Law 8: a consumer waits for the work that it needs, not for later work.
#[test]
fn reading_a_download_does_not_wait_for_later_work() {
    let bench = bench(MemoryOptions::default());
    let (a, _) = bench.stream();
    let mut source = bench.buffer(&a);
    a.fill_bytes(&mut source, 7).unwrap();
    let download = bench.platform.download(&source, &a).unwrap();
    bench.recorder.clear();
    a.fill_bytes(&mut source, 8).unwrap();
    assert_eq!(download.wait_blocking().unwrap(), [7; LEN]);
    let records = bench.count(|call| matches!(call, Call::RecordEvent { .. }));
    assert_eq!(records, 0, "the copy was recorded when it was queued");
}
