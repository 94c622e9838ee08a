//! The host threads that have made calls.

use std::sync::Arc;

use super::State;
use crate::driver::race::order::HostThread;
use crate::driver::race::site::Hook;
use crate::sync::{AtomicBool, Ordering};

/// A host thread that has made a call.
#[derive(Debug)]
pub(super) struct Thread {
    id: u64,
    alive: Arc<AtomicBool>,
    pub(super) hook: Option<Hook>,
    pub(super) tick: u64,
}

impl Thread {
    fn is_running(&self) -> bool {
        // Acquire: if the thread is seen to have ended, all lines that it has published are seen, too.
        self.alive.load(Ordering::Acquire)
    }
}

/// The thread that makes a call, with the version of its clock, its hook and its tick at that moment.
#[derive(Debug, Clone, Copy)]
pub(in crate::driver::race) struct Caller {
    pub(super) host: HostThread,
    pub(in crate::driver::race) hook: Option<Hook>,
    pub(in crate::driver::race) tick: u64,
}

impl State {
    /// Whether the thread with index `index` has the number `id`.
    pub(in crate::driver::race) fn is_thread(&self, index: u32, id: u64) -> bool {
        self.threads.get(index as usize).is_some_and(|thread| thread.id == id)
    }

    /// Whether the thread with the number `id` still runs.
    pub(in crate::driver::race) fn is_alive(&self, id: u64) -> bool {
        self.threads.iter().any(|thread| thread.id == id && thread.is_running())
    }

    /// Returns the index of the thread with the number `id`. A new thread gets the index of one that has ended. The index of
    /// the journal's `owner` is not reused, since the owner's last calls may not have been read yet.
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

    /// Returns the thread with the current version of its clock, its hook and its tick.
    pub(in crate::driver::race) fn caller(&self, thread: u32) -> Caller {
        let Thread { hook, tick, .. } = self.threads[thread as usize];
        Caller { host: self.order.host(thread), hook, tick }
    }
}
