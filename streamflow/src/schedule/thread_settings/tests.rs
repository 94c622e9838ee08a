//! Tests that cores and priorities of threads are set, and that they are restored.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

#[test]
fn nothing_is_done_and_nothing_fails_without_settings() {
    let none = ThreadSettings::default();
    none.check("w").unwrap();
    none.probe("w").unwrap();
    let applied = none.apply("w").unwrap();
    assert!(applied.cores.is_none() && applied.priority.is_none());
}

#[test]
fn other_systems_say_what_they_do_not_have() {
    let text = "cores and priorities can be set on Linux only";
    assert_eq!(unsupported::usable_cores().unwrap_err().to_string(), text);
    assert_eq!(unsupported::set_core(0).unwrap_err().to_string(), text);
    assert_eq!(unsupported::set_priority(Priority::Fifo(1)).unwrap_err().to_string(), text);
}

#[cfg(target_os = "linux")]
mod on_linux {
    use std::thread;

    use nix::sched::{CpuSet, sched_getaffinity};
    use nix::unistd::Pid;
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    use thread_priority::NormalThreadSchedulePolicy::{Batch, Other};
    use thread_priority::ThreadSchedulePolicy;

    use super::super::linux::{self, Policy};
    use super::*;

    const FIFO: Priority = Priority::Fifo(7);

    fn cores() -> Vec<usize> {
        let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
        (0..CpuSet::count()).filter(|core| set.is_set(*core).unwrap()).collect()
    }

    fn policy() -> Policy {
        linux::policy().unwrap()
    }

    fn on_core(core: usize) -> ThreadSettings {
        ThreadSettings { core: Some(core), priority: None }
    }

    /// Runs a test on a thread of its own, since all tests share one thread with `--test-threads=1`.
    fn alone(test: impl FnOnce() + Send + 'static) {
        thread::spawn(test).join().unwrap();
    }

    /// Drops the capability of the calling thread that permits real-time priorities above the limit.
    fn drop_capability() {
        let mut sets = capabilities(None).unwrap();
        sets.effective.remove(CapabilitySet::SYS_NICE);
        sets.permitted.remove(CapabilitySet::SYS_NICE);
        set_capabilities(None, sets).unwrap();
    }

    /// Returns a priority above the limit of this process, `ulimit -r`; `None` if the limit permits all priorities.
    fn beyond_the_limit() -> Option<Priority> {
        let text = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = text.lines().find(|line| line.starts_with("Max realtime priority")).unwrap();
        let soft = line.split_whitespace().nth(3).unwrap();
        let limit: u64 = soft.parse().unwrap_or(u64::MAX);
        (limit < 99).then_some(Priority::Fifo(99))
    }

    #[test]
    fn the_thread_is_on_its_core_and_then_on_those_of_before() {
        let before = cores();
        for core in linux::usable_cores().unwrap() {
            on_core(core).check("w").unwrap();
            on_core(core).probe("w").unwrap();
            assert_eq!(cores(), before, "the probe has changed the caller");
            let applied = on_core(core).apply("w").unwrap();
            assert_eq!(cores(), [core]);
            drop(applied);
            assert_eq!(cores(), before);
        }
    }

    #[test]
    fn a_graph_in_a_graph_restores_the_cores_of_the_outer_one() {
        alone(|| {
            let all = linux::usable_cores().unwrap();
            let (first, last) = (all[0], all[all.len() - 1]);
            let outer = on_core(first).apply("outer").unwrap();
            // The thread is bound to one core now, but the check permits every core that the process may use.
            on_core(last).check("inner").unwrap();
            let inner = on_core(last).apply("inner").unwrap();
            assert_eq!(cores(), [last]);
            drop(inner);
            assert_eq!(cores(), [first]);
            drop(outer);
            assert_eq!(cores(), all);
        });
    }

    #[test]
    fn a_core_that_the_system_refuses_is_an_error_and_changes_nothing() {
        let before = cores();
        // The largest core number that a set has room for. Such a core may exist, but not on machines that run this test.
        for core in [CpuSet::count() - 1, 100_000] {
            let settings = ThreadSettings { core: Some(core), priority: Some(FIFO) };
            for error in [settings.apply("w").unwrap_err(), settings.probe("w").unwrap_err()] {
                let text = error.to_string();
                assert!(
                    text.starts_with(&format!("worker `w` can't have core {core}: ")),
                    "{text}"
                );
                assert!(text.ends_with("; choose another core"), "{text}");
            }
            assert_eq!(cores(), before);
        }
    }

    /// Both calls run on a thread without the capability, so only the limit decides whether a priority is permitted.
    #[test]
    fn a_priority_that_is_not_permitted_is_an_error_with_the_remedy() {
        alone(|| {
            let Some(priority) = beyond_the_limit() else { return };
            drop_capability();
            let before = (cores(), policy());
            let core = before.0[0];
            let settings = ThreadSettings { core: Some(core), priority: Some(priority) };
            settings.check("w").unwrap();
            for error in [settings.probe("w").unwrap_err(), settings.apply("w").unwrap_err()] {
                let text = error.to_string();
                let reason = "worker `w` can't have the priority SCHED_FIFO 99: Operation not permitted (os error 1); ";
                assert!(text.starts_with(reason), "{text}");
                for remedy in [
                    "`rtprio` to at least 99",
                    "/etc/security/limits.d",
                    "`ulimit -r 99`",
                    "CAP_SYS_NICE",
                ] {
                    assert!(text.contains(remedy), "`{remedy}` is not in: {text}");
                }
                assert_eq!(
                    (cores(), policy()),
                    before,
                    "the core of the failed worker was not restored"
                );
            }
        });
    }

    /// If the system does not permit the priority, the call returns an error that says so, and nothing changes.
    #[test]
    fn a_priority_is_set_and_restored_where_it_is_permitted() {
        for priority in [FIFO, Priority::RoundRobin(2)] {
            let before = policy();
            let settings = ThreadSettings { core: None, priority: Some(priority) };
            let probed = settings.probe("w");
            assert_eq!(policy(), before, "the probe has changed the caller");
            let applied = settings.apply("w");
            assert_eq!(probed.is_ok(), applied.is_ok());
            match applied {
                Ok(applied) => {
                    let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
                    let fields: Vec<_> =
                        text.rsplit_once(')').unwrap().1.split_whitespace().collect();
                    // Fields 40 and 41 of proc(5): the thread's priority, and the number of its policy.
                    let number = if matches!(priority, Priority::Fifo(_)) { "1" } else { "2" };
                    assert_eq!(fields[37..39], [priority.value().to_string().as_str(), number]);
                    drop(applied);
                }
                Err(Error::WorkerThread { setting, .. }) => {
                    assert_eq!(setting, format!("the priority {priority}"));
                }
                Err(error) => unreachable!("{error}"),
            }
            assert_eq!(policy(), before);
        }
    }

    #[test]
    fn a_nice_value_survives_a_priority() {
        alone(|| {
            let nice = linux::of_nice(5, Batch).unwrap();
            linux::set(Policy { policy: ThreadSchedulePolicy::Normal(Batch), priority: nice })
                .unwrap();
            let before = policy();
            assert_eq!(linux::nice().unwrap(), 5);
            let applied = ThreadSettings { core: None, priority: Some(FIFO) }.apply("w");
            drop(applied);
            assert_eq!((policy(), linux::nice().unwrap()), (before, 5));
        });
    }

    #[test]
    fn each_nice_value_can_be_restored() {
        for nice in -20..=19 {
            linux::of_nice(nice, Other).unwrap();
        }
        linux::of_nice(20, Other).unwrap_err();
    }
}
