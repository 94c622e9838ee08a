//! Models of records, waits and queries. They check the numbered rules of `stream::order`.

use std::sync::Arc;

use loom::thread;

use super::seen::Seen;
use super::{Point, Refused, World};
use crate::explore::{execute, explore};

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
/// The index of a stream that shares its entry in each clock with the stream `B`.
const D: usize = 3;

/// Runs `one` and `two` on two threads, on a world that `begin` has prepared. Then compares the orders that the library
/// has noted with the real order.
fn meet<T: Copy + Send + 'static>(begin: fn(&World) -> T, one: fn(&World, T), two: fn(&World, T)) {
    explore(move || {
        let world = Arc::new(World::new());
        let begun = begin(&world);
        let other = world.clone();
        let thread = thread::spawn(move || two(&other, begun));
        one(&world, begun);
        thread.join().unwrap();
        world.check();
    });
}

/// A thread queues work and takes its point while another thread records the stream.
#[test]
pub(crate) fn work_during_a_record() {
    meet(
        |_| (),
        |world, ()| {
            world.work(A);
        },
        |world, ()| {
            world.record(A).unwrap();
        },
    );
}

/// A run that begins to replay holds work back, while another thread records the stream to cover earlier work.
#[test]
pub(crate) fn a_record_while_a_run_begins_to_replay() {
    beside_a_pass(|world, before| world.wait(B, before).unwrap());
}

/// A run that begins to replay holds work back, while another thread drops memory and closes its uses.
#[test]
pub(crate) fn a_close_while_a_run_begins_to_replay() {
    beside_a_pass(|world, _| world.close_beside(A).unwrap());
}

/// A run that begins to replay holds work back, while another thread synchronises the stream.
#[test]
pub(crate) fn a_synchronisation_while_a_run_begins_to_replay() {
    beside_a_pass(|world, _| world.synchronize(A));
}

fn beside_a_pass(call: fn(&World, Point)) {
    explore(move || {
        let world = Arc::new(World::replaying());
        let before = world.work(A);
        let other = world.clone();
        let thread = thread::spawn(move || call(&other, before));
        world.pass(A, 2);
        thread.join().unwrap();
        world.check();
    });
}

/// Two threads queue work on one stream. A third stream waits for the point of the first work.
#[test]
pub(crate) fn work_of_two_threads_on_one_stream() {
    meet(
        |_| (),
        |world, ()| {
            let point = world.work(A);
            world.wait(B, point).unwrap();
        },
        |world, ()| {
            world.work(A);
        },
    );
}

/// A stream waits for a second one, while another thread records the second one.
#[test]
pub(crate) fn a_wait_during_a_record() {
    meet(
        |world| world.work(C),
        |world, of_c| world.wait(B, of_c).unwrap(),
        |world, _| {
            world.record(B).unwrap();
        },
    );
}

/// Two threads raise one entry of a clock.
#[test]
pub(crate) fn two_threads_raise_a_clock() {
    explore(|| {
        let seen = Arc::new(Seen::new());
        let other = seen.clone();
        let thread = thread::spawn(move || {
            other.mark_complete(B as u32, 2);
            assert!(other.has(B as u32, 2), "a clock has fallen");
        });
        seen.mark_complete(B as u32, 1);
        thread.join().unwrap();
        assert!(seen.has(B as u32, 2), "a clock has fallen");
    });
}

/// A thread makes a stream wait, while another thread queues work on the same stream.
#[test]
pub(crate) fn a_use_while_another_thread_waits() {
    meet(
        |world| world.work(B),
        |world, of_b| world.wait(A, of_b).unwrap(),
        |world, of_b| {
            world.implies(A, of_b);
        },
    );
}

/// Two threads make one stream wait for streams that share an entry of its clock.
#[test]
pub(crate) fn waits_that_share_an_entry() {
    meet(
        |world| {
            let points = [world.work(B), world.work(D)];
            // Both streams have made a record with the same number, so their clock entries differ only by the stream.
            for stream in [B, D] {
                world.record(stream).unwrap();
            }
            points
        },
        |world, [of_b, of_d]| {
            world.wait(A, of_b).unwrap();
            world.implies(A, of_d);
        },
        |world, [of_b, of_d]| {
            world.wait(A, of_d).unwrap();
            world.implies(A, of_b);
        },
    );
}

/// A stream that waits for a record must come after all work that the record covers, and after no other work.
#[test]
pub(crate) fn a_wait_that_is_implied_by_a_third_stream() {
    meet(
        |world| {
            let of_c = world.work(C);
            world.record(B).unwrap();
            of_c
        },
        |world, of_c| world.wait(B, of_c).unwrap(),
        |world, of_c| {
            let of_b = world.work(B);
            world.wait(A, of_b).unwrap();
            world.implies(A, of_c);
        },
    );
}

/// Two threads record a stream, and the driver refuses one of the two records.
#[test]
pub(crate) fn a_record_that_is_refused() {
    meet(
        |world| {
            world.refuse();
            world.work(A)
        },
        |world, of_a| {
            let _ = world.wait(B, of_a);
        },
        |world, _| {
            let _ = world.record(A);
        },
    );
}

/// The driver refuses a wait. Another thread that needs the same wait must make it, and not skip it.
#[test]
pub(crate) fn a_wait_that_is_refused() {
    meet(
        |world| {
            let of_b = world.work(B);
            world.record(B).unwrap();
            world.refuse();
            of_b
        },
        |world, of_b| {
            let _ = world.wait(A, of_b);
        },
        |world, of_b| {
            world.implies(A, of_b);
            world.work(A);
        },
    );
}

/// The host finds a record complete, while another thread makes so many records that the ring reuses the slot of that
/// record.
#[test]
pub(crate) fn a_query_while_the_ring_turns() {
    meet(
        |world| {
            let points = [world.work(B), world.work(C)];
            for stream in [B, C] {
                world.record(stream).unwrap();
            }
            points
        },
        |world, [of_b, _]| world.find_complete(of_b).unwrap(),
        |world, [_, of_c]| {
            world.wait(B, of_c).unwrap();
            world.work(B);
            for _ in 0..super::ring::RING {
                world.record(B).unwrap();
            }
        },
    );
}

/// The host finds a record complete that covers a record of a second stream. Meanwhile the second stream waits for a
/// third one and makes later records.
#[test]
pub(crate) fn a_query_about_a_stream_that_waited_for_another() {
    meet(
        |world| {
            let [of_b, of_c] = [world.work(B), world.work(C)];
            world.record(C).unwrap();
            world.wait(A, of_b).unwrap();
            let of_a = world.work(A);
            world.record(A).unwrap();
            [of_a, of_c]
        },
        |world, [of_a, _]| world.find_complete(of_a).unwrap(),
        |world, [_, of_c]| {
            world.wait(B, of_c).unwrap();
            for _ in 0..super::ring::RING {
                world.record(B).unwrap();
            }
        },
    );
}

/// A stream is detached and destroyed while another thread closes it.
#[test]
pub(crate) fn a_record_of_a_stream_that_is_detached() {
    meet(
        |world| {
            world.work(A);
        },
        |world, ()| {
            world.detach(A).unwrap();
            world.destroy(A);
        },
        |world, ()| {
            world.close(A).unwrap();
            // `record` does nothing for a detached stream, since the stream has already made its last record.
            world.record(A).unwrap();
        },
    );
}

/// A stream is detached and destroyed while another one waits for its work.
#[test]
pub(crate) fn a_wait_for_a_stream_that_is_detached() {
    meet(
        |world| world.work(A),
        |world, _| {
            world.detach(A).unwrap();
            world.destroy(A);
        },
        |world, of_a| world.wait(B, of_a).unwrap(),
    );
}

/// The control of rule 1: a point that is taken before its work is queued may get the number of a record that does not
/// cover the work.
#[test]
fn a_point_that_is_taken_too_early_is_found() {
    crate::explore::must_fail("its event does not cover", || {
        meet(
            |_| (),
            |world, ()| {
                let next = 1;
                world.take(A, next);
                world.queue(A);
            },
            |world, ()| {
                world.record(A).unwrap();
            },
        );
    });
}

/// Checks that the library notes no order when the driver refuses every call.
#[test]
fn refusals_leave_no_note() {
    execute(|| {
        let world = World::new();
        let of_a = world.work(A);
        world.refuse();
        assert_eq!(world.wait(B, of_a), Err(Refused));
        world.refuse();
        assert_eq!(world.wait(B, of_a), Err(Refused));
        assert!(!world.implies(B, of_a));
        world.wait(B, of_a).unwrap();
        assert!(world.implies(B, of_a));
    });
}
