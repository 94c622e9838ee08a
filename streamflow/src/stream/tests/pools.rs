//! Tests of the streams of a pool: how many streams it makes, with which options, and when it allocates a stream again.

use super::*;
use crate::driver::{StreamFlags, StreamOptions};

#[test]
fn reserved_streams_are_made_with_the_pool_and_others_on_demand() {
    let bench = bench(Policy::Eager);
    let before = bench.made();
    let description = CudaStreamPool::new().reserved_size(3).max_size(4);
    let pool = bench.platform.stream_pool("RESERVED", &description).unwrap();
    assert_eq!(bench.made() - before, 3);
    let streams: Vec<_> = (0..3).map(|_| pool.allocate("one").unwrap()).collect();
    assert_eq!((bench.made() - before, pool.in_use()), (3, 3));
    let fourth = pool.allocate("the fourth").unwrap();
    assert_eq!((bench.made() - before, pool.in_use()), (4, 4));
    assert!(pool.allocate("a fifth").is_err());
    let mut handles: Vec<_> = streams.iter().map(|stream| stream.raw().handle()).collect();
    handles.push(fourth.raw().handle());
    handles.sort_unstable();
    handles.dedup();
    assert_eq!(handles.len(), 4, "no stream is allocated twice");
}

#[test]
fn returned_streams_are_allocated_again() {
    let bench = bench(Policy::Eager);
    let first = bench.stream();
    let raw = first.raw();
    let made = bench.made();
    drop(first);
    assert_eq!(bench.pool.in_use(), 0);
    let again = bench.stream();
    assert_eq!((again.raw(), bench.made()), (raw, made));
    // The stream is in use when the last handle of its pool is dropped. After the stream is dropped, another pool allocates it.
    drop(bench.pool);
    again.record().unwrap();
    drop(again);
    let next = bench.platform.stream_pool("NEXT", &CudaStreamPool::new()).unwrap();
    assert_eq!(next.allocate("next").unwrap().raw(), raw);
    let urgent = CudaStreamPool::new().priority(-1);
    let urgent = bench.platform.stream_pool("URGENT", &urgent).unwrap();
    assert_ne!(urgent.allocate("with another priority").unwrap().raw(), raw);
}

#[test]
fn priorities_are_clamped_and_flags_passed_on() {
    let (urgent, relaxed) = (-5, 0);
    for (requested, used) in [(-100, urgent), (urgent, urgent), (-2, -2), (100, relaxed)] {
        for flags in [StreamFlags::Blocking, StreamFlags::NonBlocking] {
            let bench = bench(Policy::Eager);
            let info = bench.platform.device_info(device(0)).unwrap();
            assert_eq!(info.priorities, (urgent, relaxed));
            bench.recorder.clear();
            let description =
                CudaStreamPool::new().priority(requested).flags(flags).reserved_size(1);
            let _pool = bench.platform.stream_pool("POOL", &description).unwrap();
            let options = bench.recorder.calls().into_iter().find_map(|call| match call {
                Call::CreateStream { options, .. } => Some(options),
                _ => None,
            });
            assert_eq!(options, Some(StreamOptions { priority: used, flags, green: None }));
        }
    }
}

#[test]
fn a_description_has_what_was_written() {
    let plain = CudaStreamPool::new();
    assert_eq!((plain.get_max_size(), plain.get_reserved_size()), (None, 0));
    assert_eq!(plain.get_device(), device(0));
    let described = CudaStreamPool::new().device(device(1)).reserved_size(3).max_size(4);
    assert_eq!((described.get_max_size(), described.get_reserved_size()), (Some(4), 3));
    assert_eq!(described.get_device(), device(1));
}
