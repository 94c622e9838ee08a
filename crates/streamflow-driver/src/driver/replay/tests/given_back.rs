//! Memory that is given back while graphs copy into it. Later memory has the same address.

use std::thread;

use super::needs;
use super::world::{Cell, World, mixed};
use crate::driver::replay::Omission;
use crate::driver::{CopyKind, CopyOp, DeviceId, Driver, DriverResult, MemoryRange, MemorySource};

const DEVICE: DeviceId = DeviceId(0);

/// Memory of a number, of one kind: how it is made, copied to, and given back.
#[derive(Clone, Copy)]
struct Memory {
    copy: CopyKind,
    make: fn(&World) -> MemoryRange,
    give_back: fn(&World, MemoryRange) -> DriverResult<()>,
}

const PAGE_LOCKED: Memory = Memory {
    copy: CopyKind::DeviceToPinned,
    make: |world| world.driver.allocate_pinned(DEVICE, 8).unwrap(),
    // SAFETY: no work uses it: each was waited for.
    give_back: |world, range| unsafe { world.driver.free_pinned(DEVICE, range) },
};

const DEVICES: Memory = Memory {
    copy: CopyKind::DeviceToDevice,
    // SAFETY: a live stream.
    make: |world| unsafe {
        world.driver.allocate(world.streams[2], 8, MemorySource::Unused).unwrap()
    },
    // SAFETY: as above, and a live stream.
    give_back: |world, range| unsafe { world.driver.free(world.streams[2], range) },
};

const ADOPTED: Memory = Memory {
    copy: CopyKind::DeviceToDevice,
    make: |world| {
        let range = MemoryRange { address: world.other_code.0, bytes: 8 };
        // SAFETY: it lives as long as the process.
        unsafe { world.driver.observer().adopt(DEVICE, range) }.unwrap();
        range
    },
    // SAFETY: as above.
    give_back: |world, range| unsafe { world.driver.observer().disown(world.streams[2], range) },
};

/// Computes a number on stream 0, and copies it.
fn calls(world: &World, memory: Memory, target: MemoryRange) {
    passes(world, world.try_launch(world.mix, 0, 0, 0, 5));
    copy(world, memory, target);
}

/// Without the rule the device is lost.
fn passes(world: &World, call: DriverResult<()>) {
    assert!(call.is_ok() || world.driver.sticky_error().is_some(), "{call:?}");
}

fn copy(world: &World, memory: Memory, target: MemoryRange) {
    let source = world.cells[0].range();
    let copy = CopyOp { kind: memory.copy, target, source, rows: None };
    // SAFETY: a live stream, and memory that is given back only after its work.
    passes(world, unsafe { world.driver.copy(world.streams[0], &copy) });
}

fn is_right(world: &World, target: MemoryRange, times: u64) -> bool {
    let expected = (0..times).fold(0, |number, _| mixed(number, number, 5));
    world.try_finish(0).is_ok() && Cell(target.address).now() == expected
}

/// Gives memory back, and makes it anew at the same address.
fn again(world: &World, memory: Memory, first: MemoryRange) -> MemoryRange {
    // Calls for stream 2 alone are beside a pass. The host's wait is one of the driver below, and of no interest to replay.
    // SAFETY: a live stream.
    let finish = || unsafe { world.driver.below().synchronize_stream(world.streams[2]) }.unwrap();
    (memory.give_back)(world, first).unwrap();
    finish();
    let second = (memory.make)(world);
    finish();
    assert_eq!(first, second, "the address is used again");
    second
}

/// Other memory has the address in a later run.
fn in_a_later_run(world: &mut World, memory: Memory) -> bool {
    let first = (memory.make)(world);
    (0..5).for_each(|_| world.pass(|world| calls(world, memory, first)));
    assert!(is_right(world, first, 5) && world.replayed() > 0);
    world.leave();
    let second = again(world, memory, first);
    (0..5).for_each(|_| world.run_pass(|world| calls(world, memory, second)));
    is_right(world, second, 10)
}

#[test]
fn a_graph_is_not_launched_for_later_page_locked_memory() {
    needs(Omission::GivenBack, |world| in_a_later_run(world, PAGE_LOCKED));
}

#[test]
fn a_graph_is_not_launched_for_later_device_memory() {
    needs(Omission::GivenBack, |world| in_a_later_run(world, DEVICES));
}

#[test]
fn a_graph_is_not_launched_for_memory_that_is_adopted_again() {
    needs(Omission::GivenBack, |world| in_a_later_run(world, ADOPTED));
}

/// A pass has a call of the graph held back meanwhile.
fn by_another_thread(world: &mut World, memory: Memory) -> bool {
    let first = (memory.make)(world);
    (0..5).for_each(|_| world.pass(|world| calls(world, memory, first)));
    world.finish(0);
    world.run_pass(|world| {
        world.mix(0, 0, 0, 5);
        let other = || {
            world.bind();
            again(world, memory, first);
        };
        thread::scope(|scope| scope.spawn(other).join().unwrap());
        copy(world, memory, first);
    });
    is_right(world, first, 6)
}

#[test]
fn a_graph_whose_memory_another_thread_gives_back_is_not_launched() {
    needs(Omission::GivenBack, |world| by_another_thread(world, DEVICES));
}
