//! Execution in an order that a chooser decides. With it `streamflow::testing` explores all orders of a program.
//!
//! Before each call that submits work or queries its progress, the chooser decides whether a stream executes its next
//! operation or the call is made now. While a call blocks, the chooser decides which stream executes its next operation,
//! until the call can return. So every legal interleaving of submissions and executions is one sequence of choices. A query
//! is answered "not yet" in some of the sequences and "complete" in others.
//!
//! With each choice the chooser gets a key of the simulator's *state*. Two sequences of choices after which the same can
//! happen have the same key. The key covers
//! - the progress of each stream (`Stream::done`), and which devices have failed;
//! - the content of device memory, and so the order of accesses that race, even if they are not declared;
//! - all that the host may depend on: the number of its calls, the answer of each call, the blocks that it was given, and
//!   the content of the data that was copied to host memory;
//! - the order in which host functions were called, among themselves and relative to the host's calls.
//!
//! The host's own state is not examined. A program must be deterministic: the host's state must follow from the driver's
//! answers alone. Where threads take [turns], the next turn is a choice, too, and the key covers which thread got each
//! answer, and the order of the turns. Data that the host reads from page-locked memory *while* a copy to it is under way is
//! not part of the state. Such a read happens in some run, since every choice of every state is made in some run; but what
//! can follow the read is not explored completely.
//!
//! A host that repeats a query stays in the same state as long as it gets only "not yet": the number of repetitions makes no
//! difference. So a polling loop has as many states as the device has steps, and a query that was answered "not yet" is
//! answered again only after an operation was executed.

use std::hash::{DefaultHasher, Hasher};

use super::body::Bodies;
use super::chooser::{ChosenOrder, QUERY_COMPLETE, hash};
use super::point::Point;
use super::schedule::Locked;
use super::sim::Sim;
use super::{HostDriver, memory};
use crate::driver::MemoryRange;
use crate::splitmix::mix;
use crate::turns;

impl Sim {
    /// Notes that the host made a call, and its answer: a constant of `chooser`, or a value that the call returned.
    pub(super) fn observe_answer(&mut self, answer: u64) {
        let Some(chosen) = &mut self.chosen else { return };
        let failed = self.devices.iter().filter(|device| device.failed.is_some()).count() as u64;
        chosen.answer(hash(&[answer, failed]));
        // The cached hash of memory is discarded: the call may have allocated a block, and its content is part of the hash.
        chosen.memory = None;
    }

    /// Notes that the host queried whether a point is reached, and the answer.
    pub(super) fn observe_query(&mut self, query: Point, reached: bool) {
        match &mut self.chosen {
            Some(chosen) if !reached => chosen.answer_not_yet(query),
            // The answer's hash includes the number of the point, since the host may poll several points.
            Some(_) => self.observe_answer(hash(&[QUERY_COMPLETE, query.number])),
            None => {}
        }
    }

    /// Notes that an operation was executed.
    pub(super) fn observe_execution(&mut self) {
        if let Some(chosen) = &mut self.chosen {
            chosen.not_yet_since_step.clear();
            chosen.memory = None;
        }
    }

    /// Notes that a copy to the host was executed. `number` is that of the copy's submission. The data's hash is computed
    /// from the source.
    pub(super) fn observe_copy_to_host(&mut self, target: u64, source: MemoryRange, number: u64) {
        let Some(chosen) = &mut self.chosen else { return };
        // SAFETY: the source of a copy is allocated device memory, by the contract of
        // `Driver::copy`, and no other code touches it under the lock.
        let content = unsafe { memory::content(source) };
        let places = self.devices.iter().map(|device| device.pinned.locate(target));
        match places.enumerate().find_map(|(device, place)| Some((device, place?))) {
            Some((device, (block, offset))) => {
                let before = chosen.pinned.entry((device, block)).or_default();
                *before = hash(&[*before, offset, content]);
            }
            None => chosen.copied = chosen.copied.wrapping_add(hash(&[number, content])),
        }
    }

    /// Notes that a host function is about to be called. `number` is that of its submission.
    pub(super) fn observe_host_function(&mut self, number: u64) {
        if let Some(chosen) = &mut self.chosen {
            chosen.called = hash(&[chosen.called, number]);
            // The function may change how the host goes on, without a call of the driver. So a repeated query counts as a
            // new one from here on.
            chosen.not_yet.clear();
        }
    }

    /// Returns the stream that executes its next operation, or `None` if the host continues: it makes the call or, where the
    /// call can't be made yet, waits for another thread.
    fn next_choice(&mut self, query: Option<Point>, may_make_call: bool) -> Option<usize> {
        let mut chosen = self.chosen.take()?;
        let mut runnable = std::mem::take(&mut self.scratch);
        // If the caller holds a lock, no body is among the options: a later call without a lock chooses among the bodies,
        // and a program can't tell the difference. A call that blocks is made without locks.
        let is_held = may_make_call && crate::lock::is_held();
        self.runnable_into(&mut runnable, if is_held { Bodies::None } else { Bodies::All });
        let is_repeated = query
            .map(|query| (turns::thread_index(), query))
            .is_some_and(|made| chosen.not_yet_since_step.contains(&made) && !self.reached(made.1));
        let make_call = may_make_call && (runnable.is_empty() || !is_repeated);
        let options = runnable.len() + usize::from(make_call);
        let choice = if options == 0 {
            None
        } else {
            let state = self.state_key(&mut chosen, query);
            runnable.get(chosen.chooser.choose(state, options)).copied()
        };
        self.scratch = runnable;
        self.chosen = Some(chosen);
        choice
    }

    /// A hash of the content of device memory; 0 while any body runs, since the body may be writing. Another thread runs
    /// that body and has given up its turn, so the run can't be repeated anyway.
    pub(super) fn memory_key(&self) -> u64 {
        if self.bodies > 0 {
            return 0;
        }
        self.devices.iter().fold(0, |hash, device| mix(hash ^ device.digest()))
    }

    fn state_key(&self, chosen: &mut ChosenOrder, query: Option<Point>) -> u64 {
        let mut state = DefaultHasher::new();
        for stream in &self.streams {
            state.write_u64(stream.done);
            state.write_u32(stream.generation);
        }
        for device in &self.devices {
            state.write_u8(u8::from(device.failed.is_some()));
        }
        if let Some(query) = query {
            // The number of a submission implies its stream. A call that is no query clears `not_yet_since_step`.
            state.write_u64(query.number);
            let not_yet = chosen.not_yet_since_step.iter();
            let not_yet = not_yet.map(|(thread, query)| hash(&[*thread as u64, query.number]));
            state.write_u64(not_yet.fold(0, u64::wrapping_add));
        }
        for (&(device, block), &content) in &chosen.pinned {
            state.write_u64(hash(&[device as u64, block as u64, content]));
        }
        let memory = *chosen.memory.get_or_insert_with(|| self.memory_key());
        state.write_u64(hash(&[chosen.history, chosen.copied, chosen.called, memory]));
        // The key includes the calling thread. Before a choice of the next turn, the calling thread is the one that has the
        // turn.
        state.write_usize(turns::thread_index());
        state.finish()
    }
}

impl HostDriver {
    /// Before a call that submits work or makes `query`, executes the operations that the chooser puts before the call.
    pub(super) fn before_call<'a>(
        &'a self,
        mut sim: Locked<'a>,
        query: Option<Point>,
    ) -> Locked<'a> {
        while let Some(index) = sim.next_choice(query, true) {
            sim = self.execute_one(sim, index);
        }
        sim
    }

    /// Executes one operation that the chooser picks, while a call blocks. Returns `false` if no operation can execute.
    pub(super) fn execute_chosen<'a>(&'a self, mut sim: Locked<'a>) -> (Locked<'a>, bool) {
        match sim.next_choice(None, false) {
            Some(index) => (self.execute_one(sim, index), true),
            None => (sim, false),
        }
    }

    /// Chooses the thread of the host that gets the next turn.
    #[doc(hidden)]
    pub fn choose_turn(&self, threads: &[usize]) -> usize {
        let mut sim = self.lock();
        let Some(mut chosen) = sim.chosen.take() else { return threads[0] };
        let mut choice = 0;
        if threads.len() > 1 {
            let state = hash(&[sim.state_key(&mut chosen, None), threads.len() as u64]);
            choice = chosen.chooser.choose(state, threads.len());
        }
        let next = threads.get(choice).copied().unwrap_or(threads[0]);
        chosen.history = hash(&[chosen.history, next as u64]);
        sim.chosen = Some(chosen);
        next
    }

    /// Ends the choices when the program has ended. From now on an operation executes only when a call waits for it.
    #[doc(hidden)]
    pub fn end_choices(&self) {
        let mut sim = self.lock();
        if let Some(mut chosen) = sim.chosen.take() {
            let state = sim.state_key(&mut chosen, None);
            chosen.chooser.end(state);
        }
    }
}
