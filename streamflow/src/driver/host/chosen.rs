//! Execution whose order somebody else chooses: what [`testing`](crate::testing) explores with.
//!
//! Before each call that submits work or asks how far the device is, the chooser says which stream
//! executes its next operation, or that the call is made now. A call that blocks asks in the same way
//! until it may return. So every legal interleaving of submissions and executions is one sequence of
//! choices, and a question is answered "not yet" in some and "done" in others.
//!
//! With each choice goes a key of the simulator's *state*, so that two sequences which lead to the same
//! future can be told from those that don't. It covers
//! - how far each stream is (`Stream::done`), and which devices have failed;
//! - the content of device memory, and so the order of accesses that race, whatever was declared;
//! - what the host may know: how many calls it made, what each was answered, which blocks it was given,
//!   and the content of whatever was copied to host memory;
//! - the order in which host functions were called, and between which calls of the host.
//!
//! The host's own state is not looked at. It is a function of what the driver answered, so programs must
//! be deterministic otherwise. Where threads take [turns], whose turn it is, is a choice like the others, and
//! the key covers which thread was answered what, and the order in which they had their turns. What the host reads in
//! page-locked memory *while* a copy to it is under way is no part of the state. Such a read is seen in
//! some run, since every choice of every state is made in one; but not in all runs that could follow it.
//!
//! A host that asks the same again, and was only told "not yet" in between, counts as where it was: how
//! often it asked makes no difference. So a loop that waits by asking has as many states as the device
//! has steps, and it is told "not yet" again only after something was executed.

use std::hash::{DefaultHasher, Hasher};

use super::chance::mix;
use super::chooser::{Chosen, hash};
use super::point::Point;
use super::schedule::Locked;
use super::sim::Sim;
use super::{HostDriver, memory};
use crate::driver::MemoryRange;
use crate::turns;

impl Sim {
    /// The call is made: the host is one step further. `answer` is what it learns.
    pub(super) fn note_answer(&mut self, answer: u64) {
        let Some(chosen) = &mut self.chosen else { return };
        let failed = self.devices.iter().filter(|device| device.failed.is_some()).count() as u64;
        chosen.answer(hash(&[answer, failed]));
        // The call may have changed memory: a fresh block has a content of its own.
        chosen.memory = None;
    }

    /// The host asked how far the device is.
    pub(super) fn note_question(&mut self, question: Point, reached: bool) {
        match &mut self.chosen {
            Some(chosen) if !reached => chosen.refuse(question),
            // With the question, since after some in vain it may be any of them.
            Some(_) => self.note_answer(hash(&[1, question.number])),
            None => {}
        }
    }

    /// Something was executed.
    pub(super) fn note_execution(&mut self) {
        if let Some(chosen) = &mut self.chosen {
            chosen.just_now.clear();
            chosen.memory = None;
        }
    }

    /// A copy to the host was executed; `number` is its submission. The content is the source's.
    pub(super) fn note_copy_to_host(&mut self, target: u64, source: MemoryRange, number: u64) {
        let Some(chosen) = &mut self.chosen else { return };
        // SAFETY: the source of a copy is allocated device memory, by the contract of
        // `Driver::copy`, and touched by nobody else under the lock.
        let content = unsafe { memory::content(source) };
        let places = self.devices.iter().map(|device| device.pinned.place_of(target));
        match places.enumerate().find_map(|(device, place)| Some((device, place?))) {
            Some((device, (block, offset))) => {
                let before = chosen.pinned.entry((device, block)).or_default();
                *before = hash(&[*before, offset, content]);
            }
            None => chosen.copied = chosen.copied.wrapping_add(hash(&[number, content])),
        }
    }

    /// A host function is about to be called; `number` is its submission.
    pub(super) fn note_host_function(&mut self, number: u64) {
        if let Some(chosen) = &mut self.chosen {
            chosen.called = hash(&[chosen.called, number]);
            // It may have told the host something, without a call of the driver.
            chosen.in_vain.clear();
        }
    }

    /// The stream whose next operation is to be executed, or `None` for what the host waits for: the
    /// call, or, where the call must not be made yet, another thread.
    fn next_choice(&mut self, question: Option<Point>, may_go_on: bool) -> Option<usize> {
        let mut chosen = self.chosen.take()?;
        let mut runnable = std::mem::take(&mut self.scratch);
        self.runnable_into(&mut runnable);
        let again = question
            .map(|question| (turns::me(), question))
            .is_some_and(|asked| chosen.just_now.contains(&asked) && !self.reached(asked.1));
        let go_on = may_go_on && (runnable.is_empty() || !again);
        let options = runnable.len() + usize::from(go_on);
        let choice = if options == 0 {
            None
        } else {
            let state = self.state(&mut chosen, question);
            runnable.get(chosen.chooser.choose(state, options)).copied()
        };
        self.scratch = runnable;
        self.chosen = Some(chosen);
        choice
    }

    fn state(&self, chosen: &mut Chosen, question: Option<Point>) -> u64 {
        let mut state = DefaultHasher::new();
        for stream in &self.streams {
            state.write_u64(stream.done);
            state.write_u32(stream.generation);
        }
        for device in &self.devices {
            state.write_u8(u8::from(device.failed.is_some()));
        }
        if let Some(question) = question {
            // The number of a submission says its stream, too. Any other call forgets what was asked.
            state.write_u64(question.number);
            let just_now = chosen.just_now.iter();
            let just_now = just_now.map(|(thread, asked)| hash(&[*thread as u64, asked.number]));
            state.write_u64(just_now.fold(0, u64::wrapping_add));
        }
        for (&(device, block), &content) in &chosen.pinned {
            state.write_u64(hash(&[device as u64, block as u64, content]));
        }
        let memory = *chosen.memory.get_or_insert_with(|| {
            self.devices.iter().fold(0, |hash, device| mix(hash ^ device.memory.digest()))
        });
        state.write_u64(hash(&[chosen.history, chosen.copied, chosen.called, memory]));
        // Whose call it is. Before a choice of the turn, who has it.
        state.write_usize(turns::me());
        state.finish()
    }
}

impl HostDriver {
    /// Before a call that submits, or asks `question`: executes what is chosen to come first.
    pub(super) fn before_call<'a>(
        &'a self,
        mut sim: Locked<'a>,
        question: Option<Point>,
    ) -> Locked<'a> {
        while let Some(index) = sim.next_choice(question, true) {
            sim = self.step(sim, index);
        }
        sim
    }

    /// While a call blocks: executes one operation that is chosen. `false` if there is none.
    pub(super) fn while_blocked<'a>(&'a self, mut sim: Locked<'a>) -> (Locked<'a>, bool) {
        match sim.next_choice(None, false) {
            Some(index) => (self.step(sim, index), true),
            None => (sim, false),
        }
    }

    /// Which thread of the host has the turn, of several.
    pub(crate) fn choose_turn(&self, threads: &[usize]) -> usize {
        let mut sim = self.lock();
        let Some(mut chosen) = sim.chosen.take() else { return threads[0] };
        let mut choice = 0;
        if threads.len() > 1 {
            let state = hash(&[sim.state(&mut chosen, None), threads.len() as u64]);
            choice = chosen.chooser.choose(state, threads.len());
        }
        let next = threads.get(choice).copied().unwrap_or(threads[0]);
        chosen.history = hash(&[chosen.history, next as u64]);
        sim.chosen = Some(chosen);
        next
    }

    /// Says that the program is at its end: from here on nobody chooses, and work is executed when it
    /// is waited for.
    pub(crate) fn end_choices(&self) {
        let mut sim = self.lock();
        if let Some(mut chosen) = sim.chosen.take() {
            let state = sim.state(&mut chosen, None);
            chosen.chooser.end(state);
        }
    }
}
