//! The system calls on Linux for cores and priorities. Each is for the calling thread.

use std::{fs, io};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use thread_priority::{
    Error, NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ScheduleParams,
    ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    thread_schedule_policy_param,
};

use super::Priority;

/// Stands for the calling thread in system calls that take a thread's number.
const THIS_THREAD: Pid = Pid::from_raw(0);

/// The set of cores that a thread may use.
pub(super) type Cores = CpuSet;

/// A thread's scheduling policy, with its priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) policy: ThreadSchedulePolicy,
    pub(super) priority: ThreadPriority,
}

/// Returns the cores that the calling thread or the first thread of the process may use. One of the two may be a worker that is
/// bound to one core now. A limit with which the process was started, as by `taskset`, applies to both threads.
pub(in crate::schedule) fn usable_cores() -> io::Result<Vec<usize>> {
    let mine = sched_getaffinity(THIS_THREAD)?;
    // The query for the process's first thread only adds cores. It fails if that thread has ended.
    let first = sched_getaffinity(Pid::this()).unwrap_or(mine);
    let is_set = |cores: &CpuSet, core| cores.is_set(core).unwrap_or(false);
    Ok((0..CpuSet::count()).filter(|core| is_set(&mine, *core) || is_set(&first, *core)).collect())
}

/// Binds the calling thread to a core. Returns the set of cores that the thread could use before.
pub(super) fn set_core(core: usize) -> io::Result<Cores> {
    let before = sched_getaffinity(THIS_THREAD)?;
    let mut cores = CpuSet::new();
    cores.set(core)?;
    sched_setaffinity(THIS_THREAD, &cores)?;
    Ok(before)
}

pub(super) fn restore_cores(cores: Cores) -> io::Result<()> {
    Ok(sched_setaffinity(THIS_THREAD, &cores)?)
}

/// Sets the priority of the calling thread, and returns the thread's policy from before. If that policy could not be restored
/// later, returns an error and sets nothing.
pub(super) fn set_priority(priority: Priority) -> io::Result<Policy> {
    let before = policy()?;
    let kind = match priority {
        Priority::Fifo(_) => RealtimeThreadSchedulePolicy::Fifo,
        Priority::RoundRobin(_) => RealtimeThreadSchedulePolicy::RoundRobin,
    };
    set(Policy {
        policy: ThreadSchedulePolicy::Realtime(kind),
        priority: ThreadPriority::from_posix(ScheduleParams {
            sched_priority: priority.value().into(),
        }),
    })?;
    Ok(before)
}

pub(super) fn restore_priority(policy: Policy) -> io::Result<()> {
    set(policy)
}

/// Returns a text that says how to get permission for the priority.
pub(super) fn remedy(priority: Priority) -> String {
    let value = priority.value();
    format!(
        "raise the limit `rtprio` to at least {value}, in /etc/security/limits.d or by `ulimit -r {value}`, give the \
         program CAP_SYS_NICE (a container: `--cap-add=SYS_NICE`), or leave the priority out"
    )
}

/// Returns the policy and the priority of the calling thread.
pub(super) fn policy() -> io::Result<Policy> {
    let (policy, parameters) =
        thread_schedule_policy_param(thread_native_id()).map_err(into_io_error)?;
    let priority = match policy {
        ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Deadline) => {
            return Err(io::Error::other("its thread has SCHED_DEADLINE, which can't be restored"));
        }
        ThreadSchedulePolicy::Realtime(_) => ThreadPriority::from_posix(parameters),
        ThreadSchedulePolicy::Normal(policy) => of_nice(nice()?, policy)?,
    };
    Ok(Policy { policy, priority })
}

pub(super) fn set(Policy { policy, priority }: Policy) -> io::Result<()> {
    set_thread_priority_and_policy(thread_native_id(), priority, policy).map_err(into_io_error)
}

/// Returns the priority that stands for this nice value, on the scale from 0 to 99 of the crate `thread_priority`. The crate sets
/// a nice value together with each policy that is not for real time. So restoring such a policy needs the thread's own nice
/// value, and a search finds the priority for it.
pub(super) fn of_nice(nice: i32, policy: NormalThreadSchedulePolicy) -> io::Result<ThreadPriority> {
    let policy = ThreadSchedulePolicy::Normal(policy);
    let of_scale = |value| ThreadPriority::from_posix(ScheduleParams { sched_priority: value });
    let found = (0..=99).map(of_scale).find(|value| value.to_posix(policy) == Ok(nice));
    found.ok_or_else(|| {
        io::Error::other(format!("its thread has the nice value {nice}, which can't be restored"))
    })
}

/// Returns the nice value of the calling thread. It is field 19 of the file, which is field 17 after the name in parentheses.
pub(super) fn nice() -> io::Result<i32> {
    let text = fs::read_to_string("/proc/thread-self/stat")?;
    let fields = text.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(16));
    let unknown = || io::Error::other("/proc/thread-self/stat has no nice value");
    fields.and_then(|nice| nice.parse().ok()).ok_or_else(unknown)
}

fn into_io_error(error: Error) -> io::Error {
    match error {
        Error::OS(code) => io::Error::from_raw_os_error(code),
        other => io::Error::other(other),
    }
}
