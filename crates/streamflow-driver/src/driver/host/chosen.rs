//! Execution in a chosen order. `streamflow::testing` explores programs exhaustively in this way.
//!
//! Before each call that submits work or queries its progress, the chooser decides: a stream executes
//! its next operation, or the call is made now. While a call blocks, the chooser decides in the same way until
//! the call can return. So every legal interleaving of submissions and executions is one sequence of
//! choices, and a query is answered "not yet" in some of them and "complete" in others.
//!
//! With each choice the chooser gets a key of the simulator's *state*. Sequences that lead to the same future
//! have the same key. The key covers
//! - the progress of each stream (`Stream::done`), and the devices that have failed;
//! - the content of device memory, and so the order of accesses that race, declared or not;
//! - everything that the host may depend on: the number of its calls, the answer of each, the blocks that it got, and the
//!   content of the data that was copied to host memory;
//! - the order in which host functions were called, among themselves and relative to the host's calls.
//!
//! The host's own state is not examined. It must follow from the driver's answers alone, so a program must be deterministic
//! otherwise. Where threads take [turns], the next turn is a choice like the others, and the key covers the thread that got each
//! answer, and the order of the turns. Data that the host reads from page-locked memory *while* a copy to it is under way is not
//! part of the state. A read of this kind happens in some run, since every choice of every state is made in some run; but the
//! read does not happen in all runs that could follow it.
//!
//! A host that repeats a query, and only got "not yet" in between, stays in the same state: the number of
//! repetitions makes no difference. So a polling loop has as many states as the device has steps, and the same
//! query is answered "not yet" again only after an operation was executed.

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
    /// Notes that the host makes a call and gets this answer: a constant of `chooser`, or a value that the call returns.
    pub(super) fn observe_answer(&mut self, answer: u64) {
        let Some(chosen) = &mut self.chosen else { return };
        let failed = self.devices.iter().filter(|device| device.failed.is_some()).count() as u64;
        chosen.answer(hash(&[answer, failed]));
        // The call may have changed memory: a fresh block has a content of its own.
        chosen.memory = None;
    }

    /// Notes that the host queries whether a point is reached.
    pub(super) fn observe_query(&mut self, query: Point, reached: bool) {
        match &mut self.chosen {
            Some(chosen) if !reached => chosen.answer_not_yet(query),
            // The answer includes the query's point: the host may have polled several points.
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

    /// Notes that a copy to the host was executed; `number` is its submission. The content is read from the source.
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

    /// Notes that a host function is about to be called; `number` is its submission.
    pub(super) fn observe_host_function(&mut self, number: u64) {
        if let Some(chosen) = &mut self.chosen {
            chosen.called = hash(&[chosen.called, number]);
            // After the function the host may go on in another way, without a call of the driver: a repeated query counts anew.
            chosen.not_yet.clear();
        }
    }

    /// Returns the stream that executes its next operation, or `None` if the host continues: the host makes the call or,
    /// where the call can't be made yet, waits for another thread.
    fn next_choice(&mut self, query: Option<Point>, may_make_call: bool) -> Option<usize> {
        let mut chosen = self.chosen.take()?;
        let mut runnable = std::mem::take(&mut self.scratch);
        // If the caller holds a lock, bodies are no options here: the next call without a lock chooses among them, and a program
        // can't see the difference. A call that blocks is made without locks.
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

    /// A hash of the content of device memory; 0 while a body that may write the memory runs on another thread. Such a body's
    /// thread has given up its turn, so the run can't be repeated anyway.
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
            // The number of a submission implies its stream. Any other call clears the queries.
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
        // The key includes the calling thread. Before a choice of the next turn, this is the thread that has the turn.
        state.write_usize(turns::thread_index());
        state.finish()
    }
}

impl HostDriver {
    /// Executes the operations that are chosen to come before a call that submits work, or makes `query`.
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

    /// Executes one chosen operation while a call blocks. Returns `false` if no operation can execute.
    pub(super) fn execute_chosen<'a>(&'a self, mut sim: Locked<'a>) -> (Locked<'a>, bool) {
        match sim.next_choice(None, false) {
            Some(index) => (self.execute_one(sim, index), true),
            None => (sim, false),
        }
    }

    /// Chooses the host thread that gets the turn.
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

    /// Ends the choices, because the program has ended: from now on work executes when a call waits for it.
    #[doc(hidden)]
    pub fn end_choices(&self) {
        let mut sim = self.lock();
        if let Some(mut chosen) = sim.chosen.take() {
            let state = sim.state_key(&mut chosen, None);
            chosen.chooser.end(state);
        }
    }
}
