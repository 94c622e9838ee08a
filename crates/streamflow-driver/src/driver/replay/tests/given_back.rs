//! Tests of rule 6: memory that graphs copy to is given back, and other memory then gets the same address.

use std::cell;
use std::rc::Rc;
use std::sync::LazyLock;
use std::thread;

use super::probe::in_graph_launch;
use super::world::{Cell, World, mixed, two_kernels};
use super::{library, needs};
use crate::driver::replay::Omission;
use crate::driver::{
    CopyKind, CopyOp, DeviceId, Driver, DriverResult, HostArgs, LibraryBody, MemoryRange,
    MemorySource,
};

const DEVICE: DeviceId = DeviceId(0);

/// A kind of memory for one number: how such memory is made, copied to, and given back.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    /// The kind of the copy; `None` if a library's call that may be captured makes the copy.
    copy: Option<CopyKind>,
    pub(super) make: fn(&World) -> MemoryRange,
    pub(super) give_back: fn(&World, MemoryRange) -> DriverResult<()>,
}

const PAGE_LOCKED: Memory = Memory {
    copy: Some(CopyKind::DeviceToPinned),
    make: |world| world.driver.allocate_pinned(DEVICE, 8).unwrap(),
    // SAFETY: no work uses the memory, since the host has waited for all work.
    give_back: |world, range| unsafe { world.driver.free_pinned(DEVICE, range) },
};

const DEVICES: Memory = Memory {
    copy: Some(CopyKind::DeviceToDevice),
    // SAFETY: the stream is live.
    make: |world| unsafe {
        world.driver.allocate(world.streams[2], 8, MemorySource::Unused).unwrap()
    },
    // SAFETY: no work uses the memory, since the host has waited for all work, and the stream is live.
    give_back: |world, range| unsafe { world.driver.free(world.streams[2], range) },
};

const LIBRARYS: Memory = Memory { copy: None, ..DEVICES };

pub(super) const ADOPTED: Memory = Memory {
    copy: Some(CopyKind::DeviceToDevice),
    make: |world| {
        let range = MemoryRange { address: world.other_code.0, bytes: 8 };
        // SAFETY: the adopted memory lives as long as the process.
        unsafe { world.driver.observer().adopt(DEVICE, range) }.unwrap();
        range
    },
    // SAFETY: the adopted memory lives as long as the process, and the stream is live.
    give_back: |world, range| unsafe { world.driver.observer().disown(world.streams[2], range) },
};

/// The body of a library call that copies a number. All worlds share it.
static COPIES: LazyLock<LibraryBody> = LazyLock::new(|| {
    let run = |args: HostArgs<'_>| {
        let [to, from] = [0, 1].map(|index| args.params[index].get::<u64>() as usize);
        let number = Cell(from as u64).now();
        // SAFETY: `to` is the address of a number that the call declares as written.
        unsafe { std::ptr::with_exposed_provenance_mut::<u64>(to).write(number) };
        Ok(())
    };
    // SAFETY: the body touches only the memory that its parameters name.
    unsafe { LibraryBody::new("copy", run) }
});

/// Computes a number on stream 0, and copies the number to `target`.
fn calls(world: &World, memory: Memory, target: MemoryRange) {
    passes(world, world.try_launch(world.mix, 0, 0, 0, 5));
    copy(world, memory, target);
}

/// Checks that a call succeeds. Without rule 6 the device may be lost, and the call may then fail.
fn passes(world: &World, call: DriverResult<()>) {
    assert!(call.is_ok() || world.driver.sticky_error().is_some(), "{call:?}");
}

fn copy(world: &World, memory: Memory, target: MemoryRange) {
    let source = world.cells[0];
    let Some(kind) = memory.copy else {
        let place = [Cell(target.address), source];
        return passes(world, library::queue(world, &COPIES, library::CAPTURED, 0, place, 0));
    };
    let copy = CopyOp { kind, target, source: source.range(), rows: None };
    // SAFETY: the stream is live, and the memory is given back only after the copy has executed.
    passes(world, unsafe { world.driver.copy(world.streams[0], &copy) });
}

fn is_right(world: &World, target: MemoryRange, times: u64) -> bool {
    let expected = (0..times).fold(0, |number, _| mixed(number, number, 5));
    world.try_finish(0).is_ok() && Cell(target.address).now() == expected
}

/// Gives memory back, and makes other memory of the same kind, which gets the same address.
fn again(world: &World, memory: Memory, first: MemoryRange) -> MemoryRange {
    // The calls on stream 2 depend on no held-back call, and cause none to be sent. The host waits through the driver below,
    // so that replay does not see the wait.
    // SAFETY: the stream is live.
    let finish = || unsafe { world.driver.below().synchronize_stream(world.streams[2]) }.unwrap();
    (memory.give_back)(world, first).unwrap();
    finish();
    let second = (memory.make)(world);
    finish();
    assert_eq!(first, second, "the address is used again");
    second
}

/// The memory is given back between two runs. In the second run, other memory has its address.
fn in_a_later_run(world: &mut World, memory: Memory) -> bool {
    let first = (memory.make)(world);
    (0..5).for_each(|_| world.pass(|world| calls(world, memory, first)));
    let replayed = world.replayed();
    assert!(is_right(world, first, 5) && replayed > 0);
    world.leave();
    let second = again(world, memory, first);
    (0..5).for_each(|_| world.run_pass(|world| calls(world, memory, second)));
    is_right(world, second, 10) && world.replayed() > replayed
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
fn a_captured_call_is_not_launched_for_later_memory() {
    needs(Omission::GivenBack, |world| in_a_later_run(world, LIBRARYS));
}

#[test]
fn a_graph_is_not_launched_for_memory_that_is_adopted_again() {
    needs(Omission::GivenBack, |world| in_a_later_run(world, ADOPTED));
}

/// Another thread gives the memory back while a pass holds back a call that uses the memory.
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

#[test]
fn a_captured_call_whose_memory_another_thread_gives_back_is_not_launched() {
    needs(Omission::GivenBack, |world| by_another_thread(world, LIBRARYS));
}

/// A call of another platform's driver frees the memory, as a layer of that platform does when it drops memory of this
/// platform.
fn in_a_call_of_another_platform(world: &mut World, memory: Memory) -> bool {
    let first = (memory.make)(world);
    (0..5).for_each(|_| world.pass(|world| calls(world, memory, first)));
    assert!(is_right(world, first, 5));
    let mut other = World::new(0, None);
    let is_freed = Rc::new(cell::Cell::new(false));
    let (driver, stream, note) = (world.driver.clone(), world.streams[2], is_freed.clone());
    let free = move || {
        driver.bind(DEVICE).unwrap();
        // SAFETY: no work uses the memory, since the host has waited for all work.
        unsafe { driver.free(stream, first) }.unwrap();
        note.set(true);
    };
    other.pass(two_kernels);
    in_graph_launch(free);
    other.bind();
    (0..5).for_each(|_| other.pass(two_kernels));
    assert!(is_freed.get(), "no graph was launched");
    world.bind();
    // SAFETY: the stream is live.
    let finish = || unsafe { world.driver.below().synchronize_stream(stream) }.unwrap();
    finish();
    let second = (memory.make)(world);
    finish();
    assert_eq!(first, second, "the address is used again");
    (0..5).for_each(|_| world.run_pass(|world| calls(world, memory, second)));
    is_right(world, second, 10)
}

#[test]
fn a_free_in_a_call_of_another_platform_counts() {
    needs(Omission::GivenBack, |world| in_a_call_of_another_platform(world, DEVICES));
}
