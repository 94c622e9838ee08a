//! Tests of the order that graphs keep: their edges, and rules 1 to 5 of the folder's README.

use super::world::{World, mixed, two_kernels};
use super::{SEEDS, needs};
use crate::driver::replay::Omission;

/// Changes cell 0 on stream 0. After a wait for event 0, changes cell 1 by cell 0 on stream 1, and records event 1.
fn across(world: &World) {
    world.mix(0, 0, 0, 5);
    world.record(0, 0);
    world.wait(1, 0);
    world.mix(1, 1, 0, 1);
    world.record(1, 1);
    // The next work of stream 0 must come after stream 1 has read cell 0.
    world.wait(0, 1);
}

fn after(passes: u64) -> (u64, u64) {
    (0..passes).fold((0, 0), |(first, second), _| {
        let first = mixed(first, first, 5);
        (first, mixed(second, first, 1))
    })
}

/// Makes passes that wait for event 2 of stream 2, read the cell that stream 2 has written before the pass, and record
/// `event`. Returns whether the passes have read the right values.
fn reads_from_outside(world: &mut World, event: usize) -> bool {
    let (mut outside, mut read, mut last) = (0, 0, 0);
    for _ in 0..6 {
        world.mix(2, 2, 2, 3);
        world.record(2, 2);
        outside = mixed(outside, outside, 3);
        world.pass(|world| {
            world.wait(0, 2);
            world.mix(0, 0, 2, 5);
            world.mix(0, 1, 0, 1);
            world.record(event, 0);
        });
        world.wait(2, event);
        read = mixed(read, outside, 5);
        last = mixed(last, read, 1);
    }
    world.finish(0);
    cells(world) == (read, last)
}

fn cells(world: &World) -> (u64, u64) {
    (world.now(0), world.now(1))
}

#[test]
fn edges_are_those_of_waits() {
    needs(Omission::Edges, |world| {
        (0..7).for_each(|_| world.pass(across));
        world.finish(1);
        world.finish(0);
        cells(world) == after(7)
    });
}

#[test]
fn a_wait_is_for_its_record() {
    needs(Omission::Waits, |world| {
        // The third kernel races with the second one if its stream waits for the first record instead of the second one.
        let waiting_for = |event: usize| {
            move |world: &World| {
                world.mix(0, 0, 0, 5);
                world.record(0, 0);
                world.mix(0, 1, 0, 1);
                world.record(1, 0);
                world.wait(1, event);
                world.launch(world.other, 1, 2, 1, 0);
                world.record(2, 1);
            }
        };
        (0..5).for_each(|_| world.pass(waiting_for(0)));
        world.finish(1);
        world.finish(0);
        let before = world.now(2);
        world.pass(waiting_for(1));
        world.finish(1);
        world.finish(0);
        world.now(2) == (before % 1000) * 7 + after(6).1 % 1000
    });
}

#[test]
fn what_is_sent_comes_after_the_launches_of_its_stream() {
    needs(Omission::SentAfterLaunches, |world| {
        (0..6).for_each(|_| world.pass(across));
        world.mix(1, 2, 1, 0);
        world.finish(1);
        world.now(2) == mixed(0, after(6).1, 0)
    });
}

#[test]
fn a_wait_for_a_record_of_a_launch_is_for_the_launch() {
    needs(Omission::WaitsForLaunches, |world| {
        (0..6).for_each(|_| world.pass(across));
        world.wait(2, 1);
        world.mix(2, 2, 1, 0);
        world.finish(2);
        world.now(2) == mixed(0, after(6).1, 0)
    });
}

#[test]
fn a_record_of_a_launch_is_complete_with_the_launch() {
    needs(Omission::Answers, |world| {
        (0..6).for_each(|_| world.pass(across));
        world.finish_event(1);
        cells(world) == after(6)
    });
    needs(Omission::Answers, |world| {
        (0..6).for_each(|_| world.pass(across));
        while !world.query(1) {}
        cells(world) == after(6)
    });
}

/// Launches two kernels on stream 0, on the cells of one of two rotations of buffers, and records an event.
fn rotated(world: &World, rotation: usize) {
    let first = 2 + 2 * rotation;
    world.mix(0, first, first, 5);
    world.mix(0, first + 1, first, 1);
    world.record(rotation, 0);
}

#[test]
fn a_complete_record_says_that_earlier_launches_are_complete() {
    needs(Omission::EarlierLaunches, |world| {
        for tick in 0..8 {
            world.pass(|world| rotated(world, tick % 2));
        }
        world.finish_event(1);
        (world.now(2), world.now(3)) == after(4)
    });
}

/// A lane was queried, and then launched again. The host then waits for an earlier launch of another lane. That wait must
/// not make the newer launch of the first lane count as complete.
#[test]
fn a_wait_for_an_earlier_launch_says_nothing_about_the_launches_since_a_question() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed, None);
        for rotation in [0, 1, 0, 1, 0, 1, 0] {
            world.pass(|world| rotated(world, rotation));
        }
        world.query(0);
        world.pass(|world| rotated(world, 0));
        world.finish_event(1);
        world.finish_event(0);
        assert_eq!((world.now(2), world.now(3)), after(5), "seed {seed}");
    }
}

#[test]
fn a_launch_comes_after_what_was_sent_to_its_streams() {
    needs(Omission::SentBefore, |world| {
        (0..5).for_each(|_| world.pass(across));
        world.finish(0);
        let (first, second) = cells(world);
        world.mix(0, 0, 0, 7);
        world.pass(across);
        world.finish(1);
        world.finish(0);
        let first = mixed(first, first, 7);
        let first = mixed(first, first, 5);
        cells(world) == (first, mixed(second, first, 1))
    });
}

#[test]
fn a_launch_comes_after_the_records_from_outside() {
    needs(Omission::RecordsOutside, |world| reads_from_outside(world, 0));
}

#[test]
fn later_lanes_come_after_what_an_earlier_one_waited_for() {
    needs(Omission::OtherLanes, |world| {
        // Each rotation reads cell 0. Before the last two passes, another stream writes the cell, and the first of these
        // passes waits for that stream.
        let read = |world: &World, rotation: usize| {
            let first = 2 + 2 * rotation;
            world.mix(0, first, 0, 5);
            world.mix(0, first + 1, first, 1);
        };
        for tick in 0..6 {
            world.pass(|world| read(world, tick % 2));
        }
        world.finish(0);
        let before = (world.now(4), world.now(5));
        world.mix(2, 0, 0, 7);
        world.record(2, 2);
        world.pass(|world| {
            world.wait(0, 2);
            read(world, 0);
        });
        world.pass(|world| read(world, 1));
        world.finish(0);
        let first = mixed(before.0, mixed(0, 0, 7), 5);
        (world.now(4), world.now(5)) == (first, mixed(before.1, first, 1))
    });
}

/// Makes passes of three rotations. The first and the second rotation share a cell, and the second and the third share
/// another cell.
#[test]
fn an_order_is_implied_only_by_what_was_waited_for() {
    needs(Omission::Conflicts, |world| {
        let rotations = [[(0, 0), (2, 2)], [(0, 0), (1, 1)], [(1, 1), (3, 3)]];
        let ticks = (0..24).map(|tick: usize| [0, 1, 2, 0, 2, 1][tick % 6]);
        let mut expected = [0; 4];
        for rotation in ticks {
            for (to, from) in rotations[rotation] {
                expected[to] = mixed(expected[to], expected[from], 1 + rotation as u64);
            }
            world.pass(|world| {
                for (to, from) in rotations[rotation] {
                    world.mix(0, to, from, 1 + rotation as u64);
                }
            });
        }
        world.finish(0);
        (0..4).all(|cell| world.now(cell) == expected[cell])
    });
}

#[test]
fn launches_that_share_memory_are_in_order() {
    needs(Omission::Conflicts, |world| {
        // Three rotations share memory. Each launch must come after both other lanes, and a wait for the later of the two is
        // enough.
        for tick in 0..18 {
            world.pass(|world| {
                (0..tick % 3).for_each(|_| world.record(0, 0));
                world.mix(0, 0, 0, 5 + tick % 3);
                world.mix(0, 1, 0, 1);
            });
        }
        world.finish(0);
        let expected = (0..18).fold((0, 0), |(first, second), tick| {
            let first = mixed(first, first, 5 + tick % 3);
            (first, mixed(second, first, 1))
        });
        cells(world) == expected
    });
}

/// A stream's only call in the segment is a wait, and event 2 holds a record that was sent. Later calls of the stream must
/// come after that record.
#[test]
fn what_a_stream_without_calls_waits_for_is_sent_before_its_next_call() {
    needs(Omission::WaitsBeside, |world| {
        (0..5).for_each(|_| world.pass(two_kernels));
        world.mix(2, 2, 2, 7);
        world.record(2, 2);
        world.pass(|world| {
            two_kernels(world);
            world.wait(1, 2);
        });
        world.mix(1, 3, 2, 0);
        world.finish(1);
        world.now(3) == mixed(0, mixed(0, 0, 7), 0)
    });
}

/// A stream's only call in the segment is a wait, and event 2 holds a record that is inside of a launch.
#[test]
fn what_a_stream_without_calls_waits_for_is_launched_before_its_next_call() {
    needs(Omission::WaitsBeside, |world| {
        let other = |world: &World| {
            world.mix(2, 2, 2, 7);
            world.mix(2, 4, 2, 7);
            world.record(2, 2);
        };
        for _ in 0..5 {
            world.pass(other);
            world.pass(two_kernels);
        }
        world.pass(other);
        world.pass(|world| {
            two_kernels(world);
            world.wait(1, 2);
        });
        world.mix(1, 3, 2, 0);
        world.finish(1);
        let read = world.now(3);
        world.finish(2);
        read == mixed(0, world.now(2), 0)
    });
}

/// A segment waits for a record from outside of the segment, and records the same event again.
#[test]
fn a_record_from_outside_counts_also_if_its_event_is_recorded_again() {
    needs(Omission::RecordedAgain, |world| reads_from_outside(world, 2));
}

/// A segment waits for a record from outside of the segment, and records the same event again. Its calls are then sent, since
/// its last call differs.
#[test]
fn a_record_from_outside_counts_also_if_its_event_is_recorded_again_and_all_is_sent() {
    needs(Omission::RecordedAgainSent, |world| {
        let reads = |world: &World| {
            world.wait(0, 2);
            world.mix(0, 0, 2, 5);
            world.mix(0, 1, 0, 1);
            world.record(2, 0);
        };
        for _ in 0..5 {
            world.pass(reads);
        }
        world.finish(0);
        let before = world.now(0);
        world.mix(2, 2, 2, 7);
        world.record(2, 2);
        world.pass(|world| {
            reads(world);
            world.mix(0, 3, 1, 0);
        });
        world.finish(0);
        world.now(0) == mixed(before, mixed(0, 0, 7), 5)
    });
}

/// Each pass makes the same wait: first for records inside of launches, and at the end for a record that was sent.
#[test]
fn a_wait_that_stays_the_same_is_for_the_record_of_its_time() {
    needs(Omission::RecordsOutside, |world| {
        let writes = |world: &World| {
            world.wait(2, 0);
            world.mix(2, 2, 2, 7);
            world.mix(2, 4, 2, 7);
            world.record(2, 2);
        };
        let reads = |world: &World| {
            world.wait(0, 2);
            world.mix(0, 0, 2, 5);
            world.mix(0, 1, 0, 1);
            world.record(0, 0);
        };
        let (mut written, mut read, mut last) = (0, 0, 0);
        for round in 0..7 {
            if round < 6 {
                world.pass(writes)
            } else {
                writes(world)
            }
            written = mixed(written, written, 7);
            // In the second pass, the lane that is expected next is that of this trace.
            for _ in 0..2 {
                world.pass(reads);
                read = mixed(read, written, 5);
                last = mixed(last, read, 1);
            }
        }
        world.finish(0);
        cells(world) == (read, last)
    });
}
