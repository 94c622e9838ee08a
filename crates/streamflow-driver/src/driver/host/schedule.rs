//! The scheduler: it finds the operation that executes next, by CUDA's rules and the policy.

use std::fmt::Write;
use std::sync::{MutexGuard, PoisonError};
use std::thread;

use super::HostDriver;
use super::body::{self, Bodies};
use super::chooser::WAIT_ENDED;
use super::execute::Left;
use super::options::Policy;
use super::point::Point;
use super::put_off::PutOff;
use super::queue::{Op, Queued, StreamKind, Touch};
use super::sim::Sim;
use crate::caught::caught;
use crate::driver::{CopyRows, DriverError, DriverResult, MemoryRange};
use crate::turns;

/// The most operations that a stream holds. CUDA's streams are bounded, too: a submission to a full stream blocks until
/// there is room. So a program that never waits can't fill the memory.
const QUEUE_LIMIT: usize = 1024;

/// The most random steps that one call makes up for earlier calls which executed nothing because their caller held a lock.
const MOST_OWED: usize = 16;

pub(super) type Locked<'a> = MutexGuard<'a, Sim>;

/// The reason why a stream's first operation can't execute.
enum Obstacle {
    /// The stream has no operation.
    Empty,
    /// A host function or a body of the stream is running.
    Busy,
    /// A body is running on the stream with this index, and touches memory that the operation touches; one of the two writes
    /// it.
    Body(usize),
    /// The stream with this index must execute an operation first.
    Stream(usize),
}

impl Sim {
    /// Returns the reason why a stream's first operation can't execute; `None` if it can. The rules: a stream executes in
    /// order; a wait needs the event's record to have executed; the legacy default stream and the blocking streams of its
    /// device execute in order of submission relative to each other (CUDA driver API, *Stream synchronization behavior*).
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
        if self.bodies > 0
            && let Some(other) = self.body_in_conflict(index, &first.op)
        {
            return Some(Obstacle::Body(other));
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

    /// Returns the stream of a running body that touches the same memory as `op`, if the body or `op` writes that memory.
    /// `op` is the first operation of stream `index`.
    fn body_in_conflict(&self, index: usize, op: &Op) -> Option<usize> {
        let queued = |count: u32| self.streams[index].touches.iter().take(count as usize).copied();
        let (own, queued) = match *op {
            Op::Kernel { takes, .. } | Op::Library { takes, .. } => {
                ([None; 2], queued(takes.touches))
            }
            Op::Copy { target, source, bytes, rows, .. } => {
                let range = |address, pitch: fn(CopyRows) -> u64| {
                    let rows = rows.and_then(|rows| rows.span(pitch(rows)));
                    MemoryRange { address, bytes: rows.unwrap_or(bytes) }
                };
                let write = Touch::write(range(target, |rows| rows.target_pitch));
                let read = Touch::read(range(source, |rows| rows.source_pitch));
                ([Some(write), Some(read)], queued(0))
            }
            Op::Fill { address, bytes, .. } | Op::Poison { address, bytes, .. } => {
                ([Some(Touch::write(MemoryRange { address, bytes })), None], queued(0))
            }
            Op::Record { .. } | Op::Wait { .. } | Op::Host(_) => return None,
        };
        own.into_iter().flatten().chain(queued).find_map(|touch| self.body_that_touches(touch))
    }

    /// Returns the stream of a running body that touches the memory of `touch`, if the body or `touch` writes it.
    pub(super) fn body_that_touches(&self, touch: Touch) -> Option<usize> {
        let mut bodies = self.running.iter().filter(|running| running.is_body);
        let stream = |index: usize| &self.streams[index];
        let touches =
            |index| stream(index).touches.iter().take(stream(index).running_touches as usize);
        bodies.find_map(|it| touches(it.stream).any(|it| it.conflicts(touch)).then_some(it.stream))
    }

    /// Whether a stream's first operation can execute, in a call that may execute only the user code in `bodies`.
    fn runnable(&self, index: usize, bodies: Bodies) -> bool {
        self.obstacle(index).is_none()
            && self.streams[index].queue.front().is_some_and(|it| may(it, bodies))
    }

    /// Returns the next step towards `target`, a point that is not reached yet. `Ok` contains the index of a stream whose
    /// first operation can execute and must. `Err` contains the index of a stream whose running host function or body must
    /// end first. ([`Obstacle::Empty`] does not occur here: a stream without operations has reached all of its points.)
    ///
    /// The search ends, because each obstacle was submitted before the operation that it delays.
    fn needed(&self, target: Point) -> Result<usize, usize> {
        let mut index = target.stream.index as usize;
        loop {
            match self.obstacle(index) {
                None => return Ok(index),
                Some(Obstacle::Stream(other)) => index = other,
                Some(Obstacle::Body(other)) => return Err(other),
                Some(Obstacle::Busy | Obstacle::Empty) => return Err(index),
            }
        }
    }

    /// Returns the stream with the oldest operation among those that can execute one, the slowest stream excepted.
    fn oldest_runnable(&self, bodies: Bodies) -> Option<usize> {
        (0..self.streams.len())
            .filter(|index| Some(*index) != self.slowest && self.runnable(*index, bodies))
            .min_by_key(|index| self.streams[*index].oldest())
    }

    /// Writes the indices of all streams that can execute an operation into `candidates`, in ascending order.
    pub(super) fn runnable_into(&self, candidates: &mut Vec<usize>, bodies: Bodies) {
        candidates.clear();
        let streams = 0..self.streams.len();
        candidates.extend(streams.filter(|index| self.runnable(*index, bodies)));
    }

    fn random_runnable(&mut self, bodies: Bodies) -> Option<usize> {
        let mut candidates = std::mem::take(&mut self.scratch);
        self.runnable_into(&mut candidates, bodies);
        let choice = candidates.get(self.random.below(candidates.len())).copied();
        self.scratch = candidates;
        choice
    }

    /// Describes, for an error, the chain of waits that keeps `target` from being reached.
    fn describe(&self, target: Point) -> String {
        let mut text = String::new();
        let mut index = target.stream.index as usize;
        loop {
            let stream = &self.streams[index];
            // `write!` to a `String` can't fail, so the result is ignored.
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
                // The chain of waits ends at a host function. It can't end at the Rust body of a kernel or a library call:
                // such a body ends by itself, or the watcher reports it.
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

/// Whether a call that may execute `bodies` may execute this operation. Host functions are this library's own code and wait
/// for nothing, so each thread may execute host functions that any thread has queued, even a thread that has ended.
fn may(queued: &Queued, bodies: Bodies) -> bool {
    !queued.op.is_user_code()
        || match bodies {
            Bodies::None => false,
            Bodies::Of(thread) => queued.thread == thread || matches!(queued.op, Op::Host(_)),
            Bodies::All => true,
        }
}

impl HostDriver {
    pub(super) fn lock(&self) -> Locked<'_> {
        // A poisoned lock is used all the same: no user code runs under the lock, so a panic leaves the state consistent.
        self.sim.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bodies that a call which submits work may execute: none if the thread holds a lock of this library, else
    /// those that the thread itself has queued. Under a chooser, all bodies: only one thread has the turn.
    fn own_bodies(&self, sim: &Sim) -> Bodies {
        match () {
            () if crate::lock::is_held() => Bodies::None,
            () if sim.chosen.is_some() => Bodies::All,
            () => Bodies::Of(body::thread()),
        }
    }

    /// Returns the bodies that a blocking call may execute in addition to those that it waits for.
    fn other_bodies() -> Bodies {
        if crate::lock::is_held() { Bodies::None } else { Bodies::All }
    }

    /// Executes one operation of a stream. The lock is released while user code runs, so other threads continue.
    pub(super) fn execute_one<'a>(&'a self, mut sim: Locked<'a>, index: usize) -> Locked<'a> {
        match sim.execute(index) {
            Left::Nothing => {}
            Left::Function(function) => {
                drop(sim);
                crate::lock::assert_none("a host function");
                // SAFETY: `data` is valid for `call` until this one call, by the contract of
                // `Driver::launch_host_function`.
                unsafe { (function.call)(function.data) };
                sim = self.lock();
                sim.function_returned(index);
            }
            Left::Body(body) => {
                drop(sim);
                let ran = body.run(self.number, self.turns.is_some());
                sim = self.lock();
                sim.body_ended(index, ran);
            }
        }
        if sim.sleepers > 0 {
            // Each sleeping thread wakes and checks its condition again. Until it sleeps again, it counts as awake.
            sim.running.iter_mut().for_each(|running| running.asleep = false);
            self.changed.notify_all();
        }
        self.drop_unlocked(sim)
    }

    /// Drops the values in `Sim::dropped` without the simulator's lock. If the caller holds another lock of this library,
    /// the values stay in the list for a later call.
    pub(super) fn drop_unlocked<'a>(&'a self, mut sim: Locked<'a>) -> Locked<'a> {
        if sim.dropped.is_empty() || crate::lock::is_held() {
            return sim;
        }
        let dropped = std::mem::take(&mut sim.dropped);
        drop(sim);
        for body in dropped {
            // The panic hook has already printed the panic. The value belongs to dropped work or to a destroyed
            // graph, so the panic has no other effect.
            let _panicked = caught(|| drop(body));
        }
        self.lock()
    }

    /// Executes all operations that can execute, except those of the slowest stream. `hint` is the stream that is tried
    /// first, if only one operation is queued.
    fn execute_all_runnable<'a>(
        &'a self,
        mut sim: Locked<'a>,
        hint: usize,
        bodies: Bodies,
    ) -> Locked<'a> {
        if sim.pending == 1 && Some(hint) != sim.slowest && sim.runnable(hint, bodies) {
            sim = self.execute_one(sim, hint);
        }
        while sim.pending > 0 {
            let Some(index) = sim.oldest_runnable(bodies) else { break };
            sim = self.execute_one(sim, index);
        }
        sim
    }

    /// Executes one to three random operations, or none with the probability that `Sim::idle_odds` gives.
    fn execute_at_random<'a>(&'a self, mut sim: Locked<'a>, bodies: Bodies) -> Locked<'a> {
        let idle_odds = sim.idle_odds;
        if sim.random.below(idle_odds + 1) > 0 {
            return sim;
        }
        let count = 1 + sim.random.below(3);
        for _ in 0..count {
            let Some(index) = sim.random_runnable(bodies) else { break };
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
            if crate::lock::is_held() {
                // The caller holds a lock, so user code can't run. If user code must run to make room, the queue grows
                // beyond its limit.
                match sim.needed(target) {
                    Ok(index) if sim.runnable(index, Bodies::None) => {
                        sim = self.execute_one(sim, index);
                        continue;
                    }
                    _ => break,
                }
            }
            sim = self.execute_until(sim, call, target)?;
        }
        Ok(sim)
    }

    /// Executes the work that the policy executes right after a submission to stream `index`.
    pub(super) fn execute_after_submission<'a>(
        &'a self,
        mut sim: Locked<'a>,
        index: usize,
    ) -> Locked<'a> {
        let bodies = self.own_bodies(&sim);
        if bodies == Bodies::None {
            sim.owed += 1;
            self.put_off(PutOff::Submission(index));
        } else if sim.policy == Policy::Random {
            // Calls under a lock have executed nothing, and their random steps are made here. Without these steps, in a
            // program with many records the host would always be ahead of the device.
            for _ in 0..std::mem::take(&mut sim.owed).min(MOST_OWED) {
                sim = self.execute_at_random(sim, bodies);
            }
        }
        self.execute_by_policy(sim, index, bodies)
    }

    fn execute_by_policy<'a>(
        &'a self,
        sim: Locked<'a>,
        index: usize,
        bodies: Bodies,
    ) -> Locked<'a> {
        match sim.policy {
            Policy::Eager | Policy::SlowestLast => self.execute_all_runnable(sim, index, bodies),
            Policy::Lazy => sim,
            Policy::Random => self.execute_at_random(sim, bodies),
        }
    }

    /// Executes some work after a query was answered "not yet", so that a loop of queries ends.
    pub(super) fn execute_after_query<'a>(&'a self, sim: Locked<'a>, target: Point) -> Locked<'a> {
        if crate::lock::is_held() {
            self.put_off(PutOff::Query(target));
            return sim;
        }
        if sim.policy == Policy::Random {
            return self.execute_at_random(sim, Bodies::All);
        }
        match sim.needed(target) {
            // The chooser executes an operation before this thread can make the same query again.
            Ok(_) if sim.chosen.is_some() => sim,
            Ok(index) => {
                let sim = self.execute_one(sim, index);
                self.execute_by_policy(sim, index, Bodies::All)
            }
            Err(_) => {
                // A host function or a body must end first, and runs on another thread. That thread gets the turn, or
                // processor time.
                drop(sim);
                if !turns::yield_turn() {
                    thread::yield_now();
                }
                self.lock()
            }
        }
    }

    /// Executes operations until a point is reached: those that the point depends on, and those that the policy adds.
    pub(super) fn execute_until<'a>(
        &'a self,
        mut sim: Locked<'a>,
        call: &'static str,
        target: Point,
    ) -> DriverResult<Locked<'a>> {
        while !sim.reached(target) {
            if sim.policy == Policy::Random
                && sim.random.below(2) == 0
                && let Some(index) = sim.random_runnable(Self::other_bodies())
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
                        self.execute_by_policy(sim, index, Self::other_bodies())
                    }
                }
                Err(_) => self.sleep(sim, call, target)?,
            };
        }
        sim.observe_answer(WAIT_ENDED);
        Ok(sim)
    }

    /// Sleeps until another thread has executed an operation. Returns a deadlock error if the thread of each running host
    /// function and body sleeps here, too: then no thread can execute any operation.
    pub(super) fn sleep<'a>(
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
