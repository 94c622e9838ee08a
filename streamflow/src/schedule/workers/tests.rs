//! Tests of each description that is a mistake, and of the settings that a legal description gives to each worker.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

/// The number of a core that no machine has.
const NO_CORE: usize = 100_000;

fn text(workers: &Workers, named: &[&str]) -> String {
    let error = workers.check(named).unwrap_err();
    assert!(matches!(error, Error::Workers { .. }), "{error}");
    error.to_string()
}

#[track_caller]
fn assert_refused(workers: Workers, named: &[&str], parts: &[&str]) {
    let text = text(&workers, named);
    assert!(text.starts_with("the graph can't have these workers: "), "{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn zero_workers_are_refused_with_or_without_named_ones() {
    for named in [&[][..], &["disk"]] {
        assert_refused(Workers::new(0), named, &["there are 0", "at least 1", "`Workers::none()`"]);
    }
}

#[test]
fn numbers_and_none_are_accepted_for_any_graph() {
    for workers in [Workers::none(), 1.into(), Workers::new(64)] {
        workers.check(&[]).unwrap();
        workers.check(&["disk", "net"]).unwrap();
    }
}

#[test]
fn one_thread_takes_no_settings() {
    let disk = || Workers::none().worker("disk", Worker::new());
    for workers in [Workers::none().cores([0]), Workers::none().priority(Priority::Fifo(1)), disk()]
    {
        assert_refused(workers, &["disk"], &["`Workers::none()` takes no", "`Workers::new(1)`"]);
    }
}

#[test]
fn options_for_a_worker_that_no_node_names_are_refused_with_the_nearest_name() {
    let workers = || Workers::new(1).worker("dsk", Worker::new());
    let no_node = "no node has `#[worker(dsk)]`";
    assert_refused(workers(), &["net", "disk"], &[no_node, "did you mean `disk`?"]);
    let text = text(&workers(), &["camera"]);
    assert!(text.contains(no_node) && !text.contains("did you mean"), "{text}");
    workers().check(&["dsk"]).unwrap();
}

#[test]
fn options_that_are_given_twice_are_refused() {
    let one = Workers::new(1).worker("disk", Worker::new()).worker("net", Worker::new());
    one.check(&["disk", "net"]).unwrap();
    let twice = one.worker("disk", Worker::new());
    assert_refused(twice, &["disk", "net"], &["options for `disk` twice", "give them once"]);
}

#[test]
fn each_shared_worker_needs_one_core() {
    for cores in [vec![], vec![0], vec![0, 0, 0]] {
        let has = format!("`cores` has {}, and there are 2 workers", cores.len());
        assert_refused(Workers::new(2).cores(cores), &[], &[&has]);
    }
}

#[test]
fn priorities_outside_of_1_to_99_are_refused() {
    for priority in [0, 100, u8::MAX] {
        let (fifo, turns) = (Priority::Fifo(priority), Priority::RoundRobin(priority));
        let shown = format!("SCHED_FIFO {priority}; real-time priorities are 1 to 99");
        assert_refused(Workers::new(2).priority(fifo), &[], &["worker `0`", &shown]);
        let named = Workers::new(2).worker("disk", Worker::new().priority(turns));
        assert_refused(named, &["disk"], &["worker `disk`", &format!("SCHED_RR {priority};")]);
    }
    for priority in [1, 99] {
        Workers::new(2).priority(Priority::Fifo(priority)).check(&[]).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_core_that_is_not_there_is_refused_with_those_that_are() {
    let known = super::super::thread_settings::usable_cores().unwrap();
    let known: Vec<_> = known.iter().map(usize::to_string).collect();
    let choose = format!("choose one of {}", known.join(", "));
    let first = known[0].parse().unwrap();
    let shared = Workers::new(2).cores([first, NO_CORE]);
    assert_refused(shared, &[], &["worker `1` can't have core 100000", &choose]);
    let named = Workers::new(1).worker("disk", Worker::new().core(NO_CORE));
    assert_refused(named, &["disk"], &["worker `disk` can't have core 100000", &choose]);
    Workers::new(2).cores([first, first]).check(&[]).unwrap();
}

#[cfg(not(target_os = "linux"))]
#[test]
fn cores_are_refused_on_this_system() {
    assert_refused(
        Workers::new(1).cores([0]),
        &[],
        &["worker `0`", "on Linux only", "leave its core out"],
    );
}

#[test]
fn each_worker_gets_its_own_settings() {
    let disk = Worker::new().core(7).priority(Priority::RoundRobin(3));
    let workers = Workers::new(2).cores([5, 6]).priority(Priority::Fifo(9)).worker("disk", disk);
    let settings = |core, priority| ThreadSettings { core, priority };
    assert_eq!(workers.settings(0), settings(Some(5), Some(Priority::Fifo(9))));
    assert_eq!(workers.settings(1), settings(Some(6), Some(Priority::Fifo(9))));
    assert_eq!(workers.settings_of("disk"), settings(Some(7), Some(Priority::RoundRobin(3))));
    assert_eq!(workers.settings_of("net"), settings(None, None));
    assert_eq!(Workers::new(2).settings(1), settings(None, None));
    assert_eq!((workers.count(), workers.is_none()), (2, false));
    assert_eq!((Workers::none().count(), Workers::none().is_none()), (1, true));
}
