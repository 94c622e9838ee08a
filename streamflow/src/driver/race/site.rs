//! Who touched memory, as the history keeps it: small and without the heap.

use crate::driver::note::{Direction, SourceLocation};
use crate::driver::{MemoryRange, RawFunction};

/// The hook that a thread is in. Names are numbers of [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) node: u32,
    pub(super) hook: u32,
    pub(super) tick: u64,
}

/// What touched memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Kernel(RawFunction),
    Copy,
    Fill,
    Allocate,
    Recycle,
    Free,
    Foreign,
    Host,
}

/// Where an access came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) action: Action,
    /// The kernel's argument, or the side of a copy.
    pub(super) argument: &'static str,
    pub(super) scope: Option<Scope>,
    pub(super) location: Option<SourceLocation>,
}

/// Memory that passed a port.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passage {
    pub(super) scope: Scope,
    pub(super) port: &'static str,
    pub(super) direction: Direction,
    pub(super) range: MemoryRange,
}

/// Names, each stored once.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<Box<str>>);

impl Names {
    /// The number of a name. Programs have few, so looking through them is fast.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let found = self.0.iter().position(|known| **known == *name);
        found.unwrap_or_else(|| {
            self.0.push(name.into());
            self.0.len() - 1
        }) as u32
    }

    pub(super) fn name(&self, number: u32) -> &str {
        self.0.get(number as usize).map_or("?", |name| name)
    }
}
