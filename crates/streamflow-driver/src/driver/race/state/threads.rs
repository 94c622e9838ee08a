//! The host threads that made calls.

use std::sync::Arc;

use super::State;
use crate::driver::race::order::HostThread;
use crate::driver::race::site::Hook;
use crate::sync::{AtomicBool, Ordering};

/// A host thread that made a call.
#[derive(Debug)]
pub(super) struct Thread {
    id: u64,
    alive: Arc<AtomicBool>,
    pub(super) hook: Option<Hook>,
    pub(super) tick: u64,
}

impl Thread {
    fn is_running(&self) -> bool {
        // Acquire: if the thread is seen to have ended, all its published calls are seen, too.
        self.alive.load(Ordering::Acquire)
    }
}

/// A thread with its hook and the version of its clock, as they are when it makes a call.
#[derive(Debug, Clone, Copy)]
pub(in crate::driver::race) struct Caller {
    pub(super) host: HostThread,
    pub(in crate::driver::race) hook: Option<Hook>,
    pub(in crate::driver::race) tick: u64,
}

impl State {
    /// Whether `index` is that of the thread with this number.
    pub(in crate::driver::race) fn is_thread(&self, index: u32, id: u64) -> bool {
        self.threads.get(index as usize).is_some_and(|thread| thread.id == id)
    }

    /// Whether a thread still runs.
    pub(in crate::driver::race) fn is_alive(&self, id: u64) -> bool {
        self.threads.iter().any(|thread| thread.id == id && thread.is_running())
    }

    /// The index of a thread. A new thread takes the index of one that has ended, except that of the journal's
    /// `owner`: its last calls may not have been read yet.
    pub(in crate::driver::race) fn thread(
        &mut self,
        id: u64,
        alive: Arc<AtomicBool>,
        owner: u64,
    ) -> u32 {
        if let Some(index) = self.threads.iter().position(|thread| thread.id == id) {
            return index as u32;
        }
        let fresh = Thread { id, alive, hook: None, tick: 0 };
        match self.threads.iter().position(|thread| thread.id != owner && !thread.is_running()) {
            Some(index) => {
                self.threads[index] = fresh;
                self.order.forget_thread(index as u32);
                index as u32
            }
            None => {
                self.threads.push(fresh);
                self.order.add_thread()
            }
        }
    }

    pub(in crate::driver::race) fn enter(
        &mut self,
        thread: u32,
        node: &str,
        hook: &str,
        tick: u64,
    ) {
        let (node, hook) = (self.names.number(node), self.names.number(hook));
        let thread = &mut self.threads[thread as usize];
        thread.hook = Some(Hook::new(node, hook));
        thread.tick = tick;
    }

    pub(in crate::driver::race) fn leave(&mut self, thread: u32) {
        self.threads[thread as usize].hook = None;
    }

    /// The thread with its current hook, tick and version of its clock.
    pub(in crate::driver::race) fn caller(&self, thread: u32) -> Caller {
        let Thread { hook, tick, .. } = self.threads[thread as usize];
        Caller { host: self.order.host(thread), hook, tick }
    }
}
