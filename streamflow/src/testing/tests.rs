//! Tests of explored tests with several threads: the seed alone decides the order of the threads.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::undocumented_unsafe_blocks,
    reason = "a test may panic; its memory is allocated for the whole test, so each driver call keeps its contract or \
              breaks only the order that is tested"
)]

mod pruning;
mod states;

use std::collections::HashSet;
use std::sync::mpsc::{self, TryRecvError};
use std::sync::{Arc, Mutex};

use super::{scope, yield_now};
use crate::driver::host::HostDriver;
use crate::driver::{CopyKind, CopyOp, DeviceId, Driver, MemoryRange, RawStream};
use crate::turns::{Pct, Turns};
use crate::{Buffer, CudaStream, CudaStreamPool, Download, Error, Platform, Result};

const DEVICE: DeviceId = DeviceId(0);

/// The size of a buffer in bytes.
const BYTES: u64 = 256;

/// Returns the first byte of a range, read by a copy to ordinary memory that is queued on the stream.
fn first_byte(driver: &dyn Driver, stream: RawStream, source: MemoryRange) -> u8 {
    let mut target = [0_u8; BYTES as usize];
    let address = target.as_mut_ptr().expose_provenance() as u64;
    let target_range = MemoryRange { address, bytes: BYTES };
    let copy =
        CopyOp { kind: CopyKind::DeviceToPageable, target: target_range, source, rows: None };
    unsafe { driver.copy(stream, &copy).unwrap() };
    target[0]
}

/// Returns the operations that the simulator executed under a seed, in their order.
fn log_of(seed: u64, test: impl Fn(&Platform) -> Result<()>) -> String {
    let turns = Turns::new(Box::new(Pct::new(seed)));
    let driver = HostDriver::builder().seed(seed).trace(true).turns(turns.clone()).build();
    let driver = Arc::new(driver);
    let seat = turns.enter();
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    test(&platform).unwrap();
    let log = driver.log().iter().map(|entry| format!("{entry}\n")).collect();
    assert_eq!(platform.take_races().races, []);
    drop(platform);
    drop(seat);
    assert_eq!(turns.trouble(), None);
    log
}

fn streams<const N: usize>(platform: &Platform) -> Result<[CudaStream; N]> {
    let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
    Ok(std::array::from_fn(|index| pool.allocate(index.to_string()).unwrap()))
}

/// Fills and downloads a buffer `times` times, each time with another byte.
fn work(platform: &Platform, stream: &CudaStream, name: u8, times: u8) -> Result<()> {
    for time in 0..times {
        let mut data: Buffer<u8> = platform.buffer(4, stream)?;
        stream.fill_bytes(&mut data, name + time)?;
        assert_eq!(platform.download(&data, stream)?.wait_blocking()?, [name + time; 4]);
    }
    Ok(())
}

/// A test in which one thread queues downloads and a second thread waits for them.
fn second_thread_waits(platform: &Platform) -> Result<()> {
    let [stream] = streams(platform)?;
    let (send, receive) = mpsc::channel::<Download<u8>>();
    scope(|scope| {
        let waits = scope.spawn(move || {
            let mut sum = 0;
            loop {
                match receive.try_recv() {
                    Ok(download) => sum += u32::from(download.wait_blocking()?[0]),
                    Err(TryRecvError::Empty) => yield_now(),
                    Err(TryRecvError::Disconnected) => return Ok::<_, Error>(sum),
                }
            }
        });
        for value in 0..6 {
            let mut data = platform.buffer::<u8>(4, &stream)?;
            stream.fill_bytes(&mut data, value)?;
            send.send(platform.download(&data, &stream)?).unwrap();
        }
        drop(send);
        assert_eq!(waits.join().unwrap()?, 15);
        Ok(())
    })
}

#[test]
fn a_seed_repeats_a_test_whose_second_thread_waits_for_downloads() {
    for seed in 0..64 {
        let (first, second) =
            (log_of(seed, second_thread_waits), log_of(seed, second_thread_waits));
        assert!(first.lines().count() > 10, "{first}");
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
fn a_seed_repeats_three_threads_and_other_seeds_order_them_differently() {
    let three = |platform: &Platform| {
        let [a, b, c] = streams(platform)?;
        scope(|scope| {
            let first = scope.spawn(move || work(platform, &a, 10, 4));
            let second = scope.spawn(move || work(platform, &b, 20, 5));
            work(platform, &c, 30, 3)?;
            first.join().unwrap().and(second.join().unwrap())
        })
    };
    let mut logs = HashSet::new();
    for seed in 0..64 {
        let (first, second) = (log_of(seed, three), log_of(seed, three));
        assert_eq!(first, second, "seed {seed}");
        logs.insert(first);
    }
    assert!(logs.len() > 24, "{} different logs", logs.len());
}

#[test]
fn a_thread_spawns_others_and_all_have_ended_after_the_scope() {
    let nested = |platform: &Platform| {
        let streams: [CudaStream; 3] = streams(platform)?;
        let ended = Mutex::new(Vec::new());
        let returned = scope(|scope| {
            let mut streams = streams.into_iter();
            let ended = &ended;
            let mut on_a_stream = |name: u8| {
                let stream = streams.next().unwrap();
                move || {
                    work(platform, &stream, name, 2).unwrap();
                    ended.lock().unwrap().push(name);
                    name
                }
            };
            let (first, second, third) = (on_a_stream(1), on_a_stream(2), on_a_stream(3));
            scope.spawn(first);
            let inner = scope.spawn(|| {
                // The outer scope joins the two threads that are spawned here; the thread that spawned them does not.
                scope.spawn(second);
                scope.spawn(third)
            });
            inner.join().unwrap().join().unwrap()
        });
        let mut ended = ended.into_inner().unwrap();
        ended.sort_unstable();
        assert_eq!((returned, ended), (3, vec![1, 2, 3]));
        Ok(())
    };
    for seed in 0..64 {
        assert_eq!(log_of(seed, nested), log_of(seed, nested), "seed {seed}");
    }
    // Outside of an exploration, with ordinary threads, the test gives the same result.
    nested(&Platform::host().build().unwrap()).unwrap();
}
