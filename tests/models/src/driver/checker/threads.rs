//! Models of two threads that call the race checker (invariants 1 to 4, 6 and 8).

use loom::thread;

use super::Checked;
use crate::driver::{Driver, MemoryRange, Note, RaceMark, RawEvent, RawStream};
use crate::explore::explore_sections;

/// Three streams, an event and memory. The streams come after the memory's allocation.
#[derive(Clone, Copy)]
struct Begun {
    a: RawStream,
    b: RawStream,
    c: RawStream,
    event: RawEvent,
    memory: MemoryRange,
}

/// Makes streams, an event and memory. The calling thread owns the checker's journal from then on.
fn begin(checked: &Checked) -> Begun {
    let [a, b, c] = [(); 3].map(|()| checked.stream());
    let (event, memory) = (checked.event(), checked.allocate(a));
    assert!(checked.record(event, a));
    [b, c].iter().for_each(|stream| checked.wait(*stream, event));
    // `take` makes the checker read its journal, so that the journal is empty when the threads start.
    checked.take();
    Begun { a, b, c, event: checked.event(), memory }
}

/// Runs the functions `one` and `two` on two threads, which take the checker's lock in each call. Then runs `end`.
fn meet(one: fn(&Checked, Begun), two: fn(&Checked, Begun), end: fn(&Checked, Begun)) {
    explore_sections(move || {
        let checked = Checked::new();
        let begun = begin(&checked);
        let threads = [one, two].map(|run| {
            let checked = checked.clone();
            thread::spawn(move || run(&checked, begun))
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        end(&checked, begun);
    });
}

/// Checks that a note orders no work: one thread notes that it relies on the end of work that no thread has found
/// complete.
#[test]
pub(crate) fn notes_order_nothing() {
    meet(
        |checked, Begun { a, memory, .. }| {
            checked.write(a, memory);
        },
        |checked, Begun { a, b, memory, event, .. }| {
            checked.observe(&Note::Relies { on: a, record: None, by: Some(b) });
            checked.observe(&Note::Relies { on: a, record: Some(event), by: None });
            checked.write(b, memory);
        },
        |checked, _| checked.assert_wrong(),
    );
}

/// Checks that a record covers the work queued before it, and not the work queued on the same stream later.
#[test]
pub(crate) fn work_after_a_record() {
    meet(
        |checked, Begun { a, event, memory, .. }| {
            checked.write(a, memory);
            checked.record(event, a);
            checked.write(a, memory);
        },
        |checked, Begun { b, event, memory, .. }| {
            checked.wait(b, event);
            checked.read(b, memory);
        },
        |checked, _| checked.assert_wrong(),
    );
}

/// A thread frees memory, and another one gets the same address at once.
#[test]
pub(crate) fn memory_that_is_given_out_again() {
    meet(
        |checked, Begun { a, memory, .. }| {
            checked.write(a, memory);
            checked.free(a, memory);
        },
        |checked, Begun { b, .. }| {
            let memory = checked.allocate(b);
            checked.write(b, memory);
        },
        |checked, _| checked.assert_right(),
    );
}

/// A thread destroys an event, and another one gets the same handle at once.
#[test]
pub(crate) fn an_event_that_is_given_out_again() {
    meet(
        |checked, Begun { event, .. }| checked.destroy(event),
        |checked, Begun { a, b, memory, .. }| {
            let event = checked.event();
            checked.write(a, memory);
            checked.record(event, a);
            checked.wait(b, event);
            checked.write(b, memory);
        },
        |checked, _| checked.assert_right(),
    );
}

/// Checks that work which the driver refuses counts as no access.
#[test]
pub(crate) fn work_that_is_refused() {
    meet(
        |checked, Begun { a, memory, .. }| {
            checked.write(a, memory);
        },
        |checked, Begun { b, memory, .. }| {
            checked.device.refuse("launch");
            assert!(!checked.read(b, memory));
        },
        |checked, _| checked.assert_right(),
    );
}

/// Checks that an event keeps its earlier record when the driver refuses a new one.
#[test]
pub(crate) fn a_record_that_is_refused() {
    meet(
        |checked, Begun { a, event, memory, .. }| {
            checked.write(a, memory);
            checked.device.refuse("record");
            assert!(!checked.record(event, a));
        },
        |checked, Begun { b, event, memory, .. }| {
            checked.wait(b, event);
            checked.read(b, memory);
        },
        |checked, _| checked.assert_wrong(),
    );
}

/// A stream waits for an event while another thread records the event again.
#[test]
pub(crate) fn a_wait_during_a_record() {
    meet(
        |checked, Begun { a, event, memory, .. }| {
            checked.write(a, memory);
            checked.record(event, a);
        },
        |checked, Begun { b, event, memory, .. }| {
            checked.wait(b, event);
            checked.read(b, memory);
        },
        |checked, _| checked.assert_no_miss(),
    );
}

/// A stream waits for an event while another thread records the event on another stream.
#[test]
pub(crate) fn a_record_of_another_stream_during_a_wait() {
    explore_sections(|| {
        let checked = Checked::new();
        let Begun { a, b, c, event, memory } = begin(&checked);
        checked.write(a, memory);
        checked.record(event, a);
        let other = checked.clone();
        let thread = thread::spawn(move || {
            other.wait(b, event);
            other.read(b, memory);
        });
        checked.record(event, c);
        thread.join().unwrap();
        checked.assert_no_miss();
    });
}

/// The thread that owns the journal ends while another thread makes its first call.
#[test]
pub(crate) fn a_thread_that_has_ended() {
    explore_sections(|| {
        let checked = Checked::new();
        let [a, b] = [(); 2].map(|()| checked.stream());
        let memory = checked.allocate(a);
        let [one, two] = [checked.clone(), checked.clone()];
        let owner = thread::spawn(move || {
            one.write(a, memory);
            one.synchronize(a);
            one.write(b, memory);
        });
        let comes = thread::spawn(move || two.take().races.len());
        let taken = comes.join().unwrap();
        owner.join().unwrap();
        assert_eq!(taken, 0, "a false report");
        checked.assert_right();
    });
}

/// Two threads read the checker's reports at once, each by its own means. Both must receive the one race.
#[test]
pub(crate) fn two_readers_of_one_race() {
    explore_sections(|| {
        let checked = Checked::new();
        let Begun { a, b, memory, .. } = begin(&checked);
        checked.write(a, memory);
        let driver = checked.driver.clone();
        let reader = thread::spawn(move || {
            let mut mark = RaceMark::default();
            let first = Driver::observer(&*driver).races_since(&mut mark).races.len();
            (first, mark)
        });
        checked.write(b, memory);
        let taken = checked.take().races.len();
        let (first, mut mark) = reader.join().unwrap();
        let marked = first + Driver::observer(&*checked.driver).races_since(&mut mark).races.len();
        assert_eq!((taken, marked), (1, 1), "a reader takes a race from another one");
    });
}
