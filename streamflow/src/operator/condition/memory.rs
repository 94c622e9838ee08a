//! `#[when(memory_available(allocator, …))]`: a node that runs while an allocator has free memory.

use super::answers::Verdict;
use super::term::{Lack, NodePorts, Situation, Term};
use crate::context::Waker;
use crate::error::Result;
use crate::memory::{Allocator, MemoryAmount};

/// The condition that the allocator has this amount of free memory.
#[derive(Debug)]
pub(super) struct Memory {
    allocator: Allocator,
    amount: MemoryAmount,
    /// The waker that the allocator calls when memory was given back; `None` outside of a run.
    waker: Option<Waker>,
    /// Whether the condition has asked the allocator to call the waker.
    waits: bool,
}

impl Memory {
    pub(super) fn new(allocator: &Allocator, amount: MemoryAmount) -> Self {
        Self { allocator: allocator.clone(), amount, waker: None, waits: false }
    }

    fn set_waits(&mut self, waits: bool) {
        if waits != self.waits {
            self.waits = waits;
            let listeners = self.allocator.listeners();
            if waits { listeners.begin_wait() } else { listeners.end_wait() }
        }
    }

    fn end(&mut self) {
        self.set_waits(false);
        if let Some(waker) = self.waker.take() {
            self.allocator.listeners().remove(waker.signal());
        }
    }
}

impl Term for Memory {
    fn bind(&mut self, _: &NodePorts<'_>) -> Result<(), String> {
        self.allocator.reason_for_never(self.amount).map_or(Ok(()), Err)
    }

    fn start(&mut self, waker: &Waker) -> Result<()> {
        self.end();
        self.allocator.listeners().add(waker.signal());
        self.waker = Some(waker.clone());
        Ok(())
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        let mut is_free = self.allocator.has_free(self.amount);
        if !is_free && !self.waits {
            self.set_waits(true);
            // Check again: memory that was given back before `set_waits` did not wake the scheduler.
            is_free = self.allocator.has_free(self.amount);
        }
        if is_free {
            self.set_waits(false);
            return Ok(Verdict::Ready);
        }
        at.waits.for_others();
        Ok(Verdict::OUTSIDE)
    }

    fn stop(&mut self) -> Result<()> {
        self.end();
        Ok(())
    }

    fn lack(&self, _: &NodePorts<'_>) -> Option<Lack> {
        if self.allocator.has_free(self.amount) {
            return None;
        }
        let (name, used) = (self.allocator.name(), self.allocator.used());
        Some(Lack::outside(format!(
            "memory of allocator `{name}`, of which {used} bytes are in use"
        )))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.end();
    }
}
