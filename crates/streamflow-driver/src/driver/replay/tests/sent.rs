//! Tests of when held-back calls are sent. A pass is replayed only if its calls equal those of a trace.

use std::ffi::c_void;
use std::thread;

use super::world::{World, mixed};
use super::{SEEDS, needs};
use crate::driver::replay::Omission;
use crate::driver::{
    Access, AccessMode, CopyKind, CopyOp, Driver, HostArgs, HostFunction, LibraryBody, LibraryCall,
    Param,
};

/// Launches two kernels on stream 0: the first one changes cell 0, the second one changes cell 1 by cell 0.
fn two(world: &World, value: u64) {
    world.mix(0, 0, 0, value);
    world.mix(0, 1, 0, 1);
}

/// Returns the content of cells 0 and 1 after passes of `two` with these values.
fn after(values: impl IntoIterator<Item = u64>) -> (u64, u64) {
    values.into_iter().fold((0, 0), |(first, second), value| {
        let first = mixed(first, first, value);
        (first, mixed(second, first, 1))
    })
}

fn cells(world: &World) -> (u64, u64) {
    (world.now(0), world.now(1))
}

#[test]
fn another_parameter_is_another_call() {
    needs(Omission::Parameters, |world| {
        let values = [5, 5, 5, 5, 5, 9, 5];
        values.iter().for_each(|value| world.pass(|world| two(world, *value)));
        world.finish(0);
        cells(world) == after(values)
    });
}

#[test]
fn another_kernel_is_another_call() {
    needs(Omission::Kernel, |world| {
        (0..5).for_each(|_| world.pass(|world| two(world, 5)));
        world.pass(|world| {
            world.mix(0, 0, 0, 5);
            world.launch(world.other, 0, 1, 0, 1);
        });
        world.finish(0);
        let (before, second) = after([5; 5]);
        let first = mixed(before, before, 5);
        cells(world) == (first, (second % 1000) * 7 + first % 1000 + 1)
    });
}

#[test]
fn a_segment_that_ends_earlier_is_sent() {
    needs(Omission::Length, |world| {
        let three = |world: &World| {
            two(world, 5);
            world.mix(0, 2, 1, 2);
        };
        (0..5).for_each(|_| world.pass(three));
        world.finish(0);
        let before = world.now(2);
        world.pass(|world| two(world, 5));
        world.finish(0);
        world.now(2) == before && cells(world) == after([5; 6])
    });
}

#[test]
fn calls_are_sent_before_the_host_waits() {
    needs(Omission::Answered, |world| {
        (0..5).for_each(|_| world.pass(|world| two(world, 5)));
        let mut is_right = false;
        world.pass(|world| {
            two(world, 5);
            world.finish(0);
            is_right = cells(world) == after([5; 6]);
        });
        is_right
    });
}

#[test]
fn calls_are_sent_before_the_host_asks() {
    needs(Omission::Answered, |world| {
        let recorded = |world: &World| {
            two(world, 5);
            world.record(0, 0);
        };
        (0..5).for_each(|_| world.pass(recorded));
        let mut is_right = false;
        world.pass(|world| {
            recorded(world);
            while !world.query(0) {}
            is_right = cells(world) == after([5; 6]);
        });
        is_right
    });
}

#[test]
fn calls_are_sent_before_another_thread_makes_one() {
    needs(Omission::Threads, |world| {
        (0..5).for_each(|_| world.pass(|world| two(world, 5)));
        let mut is_right = false;
        world.pass(|world| {
            two(world, 5);
            let (driver, stream) = (world.driver.clone(), world.streams[0]);
            let other = thread::spawn(move || {
                driver.bind(stream.device()).unwrap();
                // SAFETY: the stream is live.
                unsafe { driver.synchronize_stream(stream) }.unwrap();
            });
            other.join().unwrap();
            is_right = cells(world) == after([5; 6]);
        });
        is_right
    });
}

#[test]
fn a_handle_that_another_thread_takes_before_the_first_call_ends_replay() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        (0..5).for_each(|_| world.pass(|world| two(world, 5)));
        let before = world.replayed();
        (0..2).for_each(|_| {
            world.pass(|world| {
                let (driver, stream) = (world.driver.clone(), world.streams[0]);
                // SAFETY: the stream is live.
                let other = thread::spawn(move || unsafe { driver.observer().hand_out(stream) });
                other.join().unwrap();
                two(world, 5);
            });
        });
        world.finish(0);
        assert_eq!(cells(&world), after([5; 7]), "seed {seed}");
        assert_eq!((before > 0, world.replayed()), (true, before), "{}", world.report());
    }
}

#[test]
fn a_wait_for_an_event_of_other_code_is_sent_at_once() {
    needs(Omission::ForeignEvents, |world| {
        let [below, stream] = [world.streams[2], world.streams[0]];
        (0..5).for_each(|_| world.pass(|world| two(world, 5)));
        let driver = world.driver.clone();
        let foreign = driver.below();
        let event = foreign.create_event(stream.device()).unwrap();
        let mut waited = Ok(());
        world.run_pass(|world| {
            // SAFETY: the event is live until `wait_event` has returned.
            unsafe {
                foreign.record_event(event, below).unwrap();
                waited = driver.wait_event(stream, event);
                foreign.destroy_event(event).unwrap();
            }
            two(world, 5);
        });
        let is_finished = world.try_finish(0).is_ok();
        waited.is_ok() && world.has_ended_well && is_finished && cells(world) == after([5; 6])
    });
}

/// A host function that copies a number. Its data is a pair of pointers: the source and the target.
unsafe extern "C" fn keep(pair: *mut c_void) {
    let pair = pair.cast::<[*mut u64; 2]>();
    // SAFETY: the test passes two numbers that live until the stream's work is complete.
    unsafe { (*pair)[1].write((*pair)[0].read()) };
}

#[test]
fn calls_are_sent_before_a_host_function() {
    needs(Omission::HostFunctions, |world| {
        (0..5).for_each(|_| world.pass(|world| two(world, 5)));
        let mut kept = 0_u64;
        let source = std::ptr::with_exposed_provenance_mut::<u64>(world.cells[1].0 as usize);
        let mut pair = [source, &raw mut kept];
        world.pass(|world| {
            two(world, 5);
            let function = HostFunction { call: keep, data: (&raw mut pair).cast() };
            // SAFETY: the function's data lives until the wait for the stream below has returned.
            unsafe { world.driver.launch_host_function(world.streams[0], function) }.unwrap();
        });
        world.finish(0);
        kept == after([5; 6]).1
    });
}

#[test]
fn calls_are_sent_before_a_library_s() {
    needs(Omission::Libraries, |world| {
        (0..5).for_each(|_| world.pass(|world| two(world, 5)));
        let run = |args: HostArgs<'_>| {
            let at = |index: usize| args.params[index].get::<u64>() as usize;
            let to = std::ptr::with_exposed_provenance_mut::<u64>(at(0));
            let from = std::ptr::with_exposed_provenance::<u64>(at(1));
            // SAFETY: both numbers are live for the call.
            unsafe { to.write(from.read()) };
            Ok(())
        };
        // SAFETY: the body touches the two cells that its parameters name.
        let body = unsafe { LibraryBody::new("copies", run) };
        world.pass(|world| {
            two(world, 5);
            let [to, from] = [2, 1].map(|cell| world.cells[cell]);
            let access = |range, mode| Access { range, mode, argument: "", rows: None };
            let call = LibraryCall {
                function: "copies",
                params: &[Param::new(to.0), Param::new(from.0)],
                accesses: &[
                    access(to.range(), AccessMode::Write),
                    access(from.range(), AccessMode::Read),
                ],
                rows: &[],
                is_captured: false,
                host: &body,
                device: &|_| Ok(()),
            };
            // SAFETY: the stream is live, and the memory lives as long as the driver.
            unsafe { world.driver.libraries().call_library(world.streams[0], &call) }.unwrap();
        });
        world.finish(0);
        let report = world.report().to_string();
        assert!(
            report.contains("a call of a library that may not be captured, in `node`")
                || !report.contains("library"),
            "{report}"
        );
        world.now(2) == after([5; 6]).1
    });
}

/// On stream 0, fills cell `to` with a byte, and then copies cell `from` to cell `copied`.
fn fill_and_copy(world: &World, (to, byte): (usize, u8), (from, copied): (usize, usize)) {
    let copy = CopyOp {
        kind: CopyKind::DeviceToDevice,
        target: world.cells[copied].range(),
        source: world.cells[from].range(),
        rows: None,
    };
    // SAFETY: the stream is live, and the memory lives as long as the driver.
    unsafe {
        world.driver.fill(world.streams[0], world.cells[to].range(), byte).unwrap();
        world.driver.copy(world.streams[0], &copy).unwrap();
    }
}

/// A fill or a copy whose memory or byte differs from that of the next call in the trace does not equal that call.
#[test]
fn another_fill_or_copy_is_another_call() {
    let same = ((0, 1), (0, 1));
    for (fill, copy) in [((0, 2), same.1), ((2, 1), same.1), (same.0, (3, 1)), (same.0, (0, 4))] {
        for seed in 0..SEEDS {
            let mut world = World::new(seed, None);
            (0..5).for_each(|_| world.pass(|world| fill_and_copy(world, same.0, same.1)));
            assert!(world.replayed() > 0, "{}", world.report());
            world.mix(0, 3, 3, 7);
            let mut expected = [0; 8];
            (expected[0], expected[1], expected[3]) =
                (u64::from_ne_bytes([1; 8]), u64::from_ne_bytes([1; 8]), mixed(0, 0, 7));
            world.pass(|world| fill_and_copy(world, fill, copy));
            expected[fill.0] = u64::from_ne_bytes([fill.1; 8]);
            expected[copy.1] = expected[copy.0];
            world.finish(0);
            let found = [0, 1, 2, 3, 4, 5, 6, 7].map(|cell| world.now(cell));
            assert_eq!(found, expected, "{fill:?}, {copy:?}, seed {seed}");
        }
    }
}
