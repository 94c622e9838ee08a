//! Exploring states finds the same outcomes as exploring every order, on random programs, most of which race.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::{BYTES, DEVICE, first_byte};
use crate::Platform;
use crate::driver::host::{Chooser, HostDriver};
use crate::driver::{CopyKind, CopyOp, Driver, MemorySource, StreamOptions};
use crate::splitmix::SplitMix;
use crate::testing::Explorer;

/// A chooser that tries every sequence of choices, one run after the other, as an odometer counts.
#[derive(Debug, Clone, Default)]
struct Odometer(Arc<Mutex<Wheels>>);

#[derive(Debug, Default)]
struct Wheels {
    /// Each choice of the present sequence, and the number of its options.
    wheels: Vec<(usize, usize)>,
    /// The index in `wheels` of the next choice of this run.
    next: usize,
}

impl Chooser for Odometer {
    fn choose(&mut self, _: u64, options: usize) -> usize {
        let mut this = self.0.lock().unwrap();
        if this.next == this.wheels.len() {
            this.wheels.push((0, options));
        }
        this.next += 1;
        let (choice, before) = this.wheels[this.next - 1];
        assert_eq!(before, options);
        choice
    }

    fn end(&mut self, _: u64) {}
}

impl Odometer {
    /// Advances to the next sequence of choices; `false` if there is none.
    fn turn(&self) -> bool {
        let mut this = self.0.lock().unwrap();
        this.next = 0;
        while let Some((choice, options)) = this.wheels.pop() {
            if choice + 1 < options {
                this.wheels.push((choice + 1, options));
                return true;
            }
        }
        false
    }
}

/// Runs a random program on two or three streams and two buffers. The result depends on all answers and data that the host got,
/// and what the program submits depends on the answers before.
fn program(driver: &dyn Driver, seed: u64) -> u64 {
    let mut random = SplitMix::new(seed);
    let streams: Vec<_> = (0..2 + random.below(2))
        .map(|_| driver.create_stream(DEVICE, StreamOptions::default()).unwrap())
        .collect();
    let home = driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
    let buffers =
        [0; 2].map(|_| unsafe { driver.allocate(home, BYTES, MemorySource::Unused) }.unwrap());
    unsafe { driver.synchronize_stream(home) }.unwrap();
    let events: Vec<_> = streams.iter().map(|_| driver.create_event(DEVICE).unwrap()).collect();
    let mut seen = 0_u64;
    for step in 0..5 {
        let one = random.below(streams.len());
        let (stream, event) = (streams[one], events[one]);
        let buffer = random.below(2);
        match random.below(8) {
            0..=2 => unsafe {
                driver.fill(stream, buffers[buffer], step + (seen % 3) as u8 * 16).unwrap();
            },
            3 => {
                let (target, source) = (buffers[buffer], buffers[1 - buffer]);
                let copy = CopyOp { kind: CopyKind::DeviceToDevice, target, source, rows: None };
                unsafe { driver.copy(stream, &copy).unwrap() };
            }
            4 => unsafe { driver.record_event(event, stream).unwrap() },
            5 => unsafe { driver.wait_event(streams[random.below(streams.len())], event).unwrap() },
            6 => seen = seen * 2 + u64::from(unsafe { driver.query_event(event) }.unwrap()),
            _ => seen = seen * 256 + u64::from(first_byte(driver, stream, buffers[buffer])),
        }
    }
    streams.iter().for_each(|stream| unsafe { driver.synchronize_stream(*stream) }.unwrap());
    buffers
        .iter()
        .fold(seen, |seen, buffer| seen * 256 + u64::from(first_byte(driver, home, *buffer)))
}

#[test]
fn exploring_states_finds_every_outcome_of_every_order() {
    let (mut orders, mut runs, mut racing) = (0, 0, 0);
    for seed in 0..150 {
        let odometer = Odometer::default();
        let mut every = BTreeSet::new();
        loop {
            let driver = HostDriver::builder().build_chosen(Box::new(odometer.clone()));
            driver.bind(DEVICE).unwrap();
            every.insert(program(&driver, seed));
            orders += 1;
            if !odometer.turn() {
                break;
            }
        }
        let (found, times) = (RefCell::new(BTreeSet::new()), Cell::new(0));
        // The programs race on purpose, so the race checker is off.
        let explorer = Explorer::new().race_check(false);
        let explored = explorer.run_exhaustively(|platform: &Platform| {
            times.set(times.get() + 1);
            found.borrow_mut().insert(program(&**platform.driver(), seed));
            Ok(())
        });
        assert_eq!(explored.unwrap().check(), Ok(()), "seed {seed}");
        assert_eq!(found.into_inner(), every, "seed {seed}");
        racing += usize::from(every.len() > 1);
        runs += times.get();
    }
    // Many of the programs race, and exploring states needs fewer runs than trying every order.
    assert!(racing > 50 && orders > 5 * runs, "{racing} race; {runs} runs for {orders} orders");
}
