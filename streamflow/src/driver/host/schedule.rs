//! The scheduler: which operation executes next, by CUDA's rules and the policy.

use std::fmt::Write;
use std::sync::{MutexGuard, PoisonError};
use std::thread;

use super::HostDriver;
use super::chooser::WAIT_ENDED;
use super::options::Policy;
use super::point::Point;
use super::queue::{Op, Running, StreamKind};
use super::sim::Sim;
use crate::driver::{DriverError, DriverResult};
use crate::turns;

/// How many operations a stream holds. CUDA's streams are bounded, too: a submission to a full
/// stream blocks until there is room. So a program that never waits can't fill the memory.
const QUEUE_LIMIT: usize = 1024;

pub(super) type Locked<'a> = MutexGuard<'a, Sim>;

/// Why a stream's first operation can't execute.
enum Obstacle {
    /// The stream has none.
    Empty,
    /// The stream's host function is running.
    Busy,
    /// Another stream must execute something first.
    Stream(usize),
}

impl Sim {
    /// Why a stream's first operation can't execute; `None` if it can. The rules: a stream is in order; a
    /// wait needs its event's record; the legacy default stream and the blocking streams of its device
    /// execute in order of submission between each other (CUDA driver API, *Stream synchronization behavior*).
    fn obstacle(&self, index: usize) -> Option<Obstacle> {
        let stream = &self.streams[index];
        if stream.busy.is_some() {
            return Some(Obstacle::Busy);
        }
        let Some(first) = stream.queue.front() else { return Some(Obstacle::Empty) };
        if let Op::Wait { until, .. } = &first.op
            && !self.reached(*until)
        {
            return Some(Obstacle::Stream(until.stream.index as usize));
        }
        let opposite = match stream.kind {
            StreamKind::NonBlocking => return None,
            StreamKind::Default => StreamKind::Blocking,
            StreamKind::Blocking => StreamKind::Default,
        };
        let older = self.streams.iter().position(|other| {
            other.kind == opposite
                && other.device == stream.device
                && other.oldest().is_some_and(|number| number < first.number)
        });
        older.map(Obstacle::Stream)
    }

    fn runnable(&self, index: usize) -> bool {
        self.obstacle(index).is_none()
    }

    /// What must happen before `target`, which is not reached yet, can be reached. `Ok`: the stream with this index
    /// must execute its first operation, and can. `Err`: the host function that runs on the stream with this index must
    /// return. ([`Obstacle::Empty`] does not occur here: a stream with no operation has reached all of its points.)
    ///
    /// Each obstacle is an older submission, so the search ends.
    fn needed(&self, target: Point) -> Result<usize, usize> {
        let mut index = target.stream.index as usize;
        loop {
            match self.obstacle(index) {
                None => return Ok(index),
                Some(Obstacle::Stream(other)) => index = other,
                Some(Obstacle::Busy | Obstacle::Empty) => return Err(index),
            }
        }
    }

    /// The runnable stream with the oldest operation, except the slowest stream.
    fn oldest_runnable(&self) -> Option<usize> {
        (0..self.streams.len())
            .filter(|index| Some(*index) != self.slowest && self.runnable(*index))
            .min_by_key(|index| self.streams[*index].oldest())
    }

    /// Writes all runnable streams into `candidates`, in the order of their slots.
    pub(super) fn runnable_into(&self, candidates: &mut Vec<usize>) {
        candidates.clear();
        candidates.extend((0..self.streams.len()).filter(|index| self.runnable(*index)));
    }

    fn random_runnable(&mut self) -> Option<usize> {
        let mut candidates = std::mem::take(&mut self.scratch);
        self.runnable_into(&mut candidates);
        let choice = candidates.get(self.random.below(candidates.len())).copied();
        self.scratch = candidates;
        choice
    }

    /// Describes the chain of waits that keeps `target` from being reached.
    fn describe(&self, target: Point) -> String {
        let mut text = String::new();
        let mut index = target.stream.index as usize;
        loop {
            let stream = &self.streams[index];
            // Writing to a string can't fail.
            let _ = match (self.obstacle(index), stream.queue.front().map(|first| &first.op)) {
                (Some(Obstacle::Stream(other)), Some(Op::Wait { event, record, .. })) => {
                    let next = self.streams[other].name;
                    index = other;
                    write!(
                        text,
                        "stream {} waits for event {event} (record {record}) of stream {next}; ",
                        stream.name
                    )
                }
                (Some(Obstacle::Stream(other)), _) => {
                    let next = self.streams[other].name;
                    index = other;
                    write!(
                        text,
                        "stream {} waits for stream {next} by the default stream's rule; ",
                        stream.name
                    )
                }
                _ => {
                    let _ = write!(
                        text,
                        "stream {} is inside a host function, and that waits for the simulator",
                        stream.name
                    );
                    return text;
                }
            };
        }
    }
}

impl HostDriver {
    pub(super) fn lock(&self) -> Locked<'_> {
        // Only kernels panic under the lock, and those panics are caught: the state is consistent.
        self.sim.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes one operation of a stream. A host function is called without the lock, so that other threads
    /// continue while it runs.
    pub(super) fn execute_one<'a>(&'a self, mut sim: Locked<'a>, index: usize) -> Locked<'a> {
        if let Some(function) = sim.execute(index) {
            let thread = thread::current().id();
            sim.running.push(Running { stream: index, thread, asleep: false });
            drop(sim);
            // SAFETY: `data` is valid for `call` until this one call, by the contract of
            // `Driver::launch_host_function`.
            unsafe { (function.call)(function.data) };
            sim = self.lock();
            sim.host_function_returned(index);
        }
        if sim.sleepers > 0 {
            // The sleeping threads check their condition again. Until then they don't count as asleep.
            sim.running.iter_mut().for_each(|running| running.asleep = false);
            self.changed.notify_all();
        }
        sim
    }

    /// Executes all operations that can execute, except those of the slowest stream. `hint` is probably the
    /// only stream that has one.
    fn execute_all_runnable<'a>(&'a self, mut sim: Locked<'a>, hint: usize) -> Locked<'a> {
        if sim.pending == 1 && Some(hint) != sim.slowest && sim.runnable(hint) {
            sim = self.execute_one(sim, hint);
        }
        while sim.pending > 0 {
            let Some(index) = sim.oldest_runnable() else { break };
            sim = self.execute_one(sim, index);
        }
        sim
    }

    /// Executes no operation, with the probability that `Sim::idle_odds` gives, or one to three random ones.
    fn execute_at_random<'a>(&'a self, mut sim: Locked<'a>) -> Locked<'a> {
        let idle_odds = sim.idle_odds;
        if sim.random.below(idle_odds + 1) > 0 {
            return sim;
        }
        let count = 1 + sim.random.below(3);
        for _ in 0..count {
            let Some(index) = sim.random_runnable() else { break };
            sim = self.execute_one(sim, index);
        }
        sim
    }

    /// Waits until a stream's queue has room for one more operation.
    pub(super) fn wait_for_room<'a>(
        &'a self,
        mut sim: Locked<'a>,
        call: &'static str,
        index: usize,
    ) -> DriverResult<Locked<'a>> {
        while sim.streams[index].queue.len() >= QUEUE_LIMIT {
            let Some(first) = sim.streams[index].oldest() else { break };
            let target = Point { stream: sim.key(index), number: first };
            sim = self.execute_until(sim, call, target)?;
        }
        Ok(sim)
    }

    /// After a submission to a stream: executes what the policy executes immediately.
    pub(super) fn execute_after_submission<'a>(
        &'a self,
        sim: Locked<'a>,
        index: usize,
    ) -> Locked<'a> {
        match sim.policy {
            Policy::Eager | Policy::SlowestLast => self.execute_all_runnable(sim, index),
            Policy::Lazy => sim,
            Policy::Random => self.execute_at_random(sim),
        }
    }

    /// After a query was answered "not yet": executes a little, so that polling ends.
    pub(super) fn execute_after_query<'a>(&'a self, sim: Locked<'a>, target: Point) -> Locked<'a> {
        if sim.policy == Policy::Random {
            return self.execute_at_random(sim);
        }
        match sim.needed(target) {
            // The chooser executes something before the same query is made again.
            Ok(_) if sim.chosen.is_some() => sim,
            Ok(index) => {
                let sim = self.execute_one(sim, index);
                self.execute_after_submission(sim, index)
            }
            Err(_) => {
                // A host function runs on another thread: lets that thread run.
                drop(sim);
                if !turns::yield_turn() {
                    thread::yield_now();
                }
                self.lock()
            }
        }
    }

    /// Executes until a point is reached: the work that it depends on, and what the policy adds.
    pub(super) fn execute_until<'a>(
        &'a self,
        mut sim: Locked<'a>,
        call: &'static str,
        target: Point,
    ) -> DriverResult<Locked<'a>> {
        while !sim.reached(target) {
            if sim.policy == Policy::Random
                && sim.random.below(2) == 0
                && let Some(index) = sim.random_runnable()
            {
                sim = self.execute_one(sim, index);
                continue;
            }
            if sim.chosen.is_some() {
                let (after, executed) = self.execute_chosen(sim);
                sim = if executed { after } else { self.sleep(after, call, target)? };
                continue;
            }
            sim = match sim.needed(target) {
                Ok(index) => {
                    let sim = self.execute_one(sim, index);
                    if sim.policy == Policy::Lazy {
                        sim
                    } else {
                        self.execute_after_submission(sim, index)
                    }
                }
                Err(_) => self.sleep(sim, call, target)?,
            };
        }
        sim.note_answer(WAIT_ENDED);
        Ok(sim)
    }

    /// Waits until another thread has executed an operation. Returns a deadlock error if every running host function is
    /// on a thread that waits here itself: then no thread can execute anything.
    fn sleep<'a>(
        &'a self,
        mut sim: Locked<'a>,
        call: &'static str,
        target: Point,
    ) -> DriverResult<Locked<'a>> {
        let current = thread::current().id();
        let mark = |sim: &mut Sim, asleep| {
            let of_thread = sim.running.iter_mut().filter(|running| running.thread == current);
            of_thread.for_each(|running| running.asleep = asleep);
        };
        mark(&mut sim, true);
        if sim.running.iter().all(|running| running.asleep) {
            mark(&mut sim, false);
            return Err(DriverError::Deadlock { call, detail: sim.describe(target) });
        }
        sim.sleepers += 1;
        let mut sim = if turns::takes_turns() {
            drop(sim);
            turns::yield_turn();
            self.lock()
        } else {
            self.changed.wait(sim).unwrap_or_else(PoisonError::into_inner)
        };
        sim.sleepers -= 1;
        mark(&mut sim, false);
        Ok(sim)
    }
}
