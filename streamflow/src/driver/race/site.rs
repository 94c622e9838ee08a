//! Where accesses come from, as the history keeps it: small and without the heap.

use std::num::NonZeroU64;
use std::ptr;

use crate::driver::MemoryRange;
use crate::driver::note::{Direction, SourceLocation};

/// How many places and names are told apart. A program has some hundreds; one that makes up new ones
/// for ever gets no more.
const MOST: usize = 1 << 16;

/// Places of the table that finds a place again.
const RECENT: usize = 256;

/// The hook that a thread is in: two numbers of [`Names`] as one, which is compared at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hook(NonZeroU64);

impl Hook {
    pub(super) fn new(node: u32, name: u32) -> Self {
        Self(NonZeroU64::MIN.saturating_add(u64::from(name) << 32 | u64::from(node)))
    }

    pub(super) fn node(self) -> u32 {
        (self.0.get() - 1) as u32
    }

    pub(super) fn name(self) -> u32 {
        ((self.0.get() - 1) >> 32) as u32
    }
}

/// What touched memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Action {
    Kernel,
    Copy,
    Fill,
    Allocate,
    Recycle,
    Free,
    Foreign,
    OnHost,
}

impl Action {
    /// All, each at the place that its number says.
    pub(super) const ALL: [Self; 8] = [
        Self::Kernel,
        Self::Copy,
        Self::Fill,
        Self::Allocate,
        Self::Recycle,
        Self::Free,
        Self::Foreign,
        Self::OnHost,
    ];
}

/// A place in the program, within a node: the same in each tick.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) action: Action,
    /// The kernel, if it is one.
    pub(super) function: u64,
    pub(super) hook: Option<Hook>,
    pub(super) location: Option<SourceLocation>,
}

impl Site {
    #[inline(always)]
    fn is(&self, other: &Self) -> bool {
        // By address: the same place may have several, and then counts as several.
        let location = |site: &Self| site.location.map_or(ptr::null(), ptr::from_ref);
        let hook = |site: &Self| site.hook.map_or(0, |hook| hook.0.get());
        self.function == other.function
            && location(self) == location(other)
            && hook(self) == hook(other)
            && self.action == other.action
    }
}

/// What stands in free places.
const BLANK: Site = Site { action: Action::OnHost, function: 0, hook: None, location: None };

/// Sites by number, so that an access holds four bytes of it.
#[derive(Debug)]
pub(super) struct Sites {
    all: Vec<Site>,
    /// A site that was asked for last, and its number, by some of its bits.
    recent: Box<[(Site, u32); RECENT]>,
}

impl Sites {
    pub(super) fn new() -> Self {
        Self { all: vec![BLANK], recent: Box::new([(BLANK, 0); RECENT]) }
    }

    #[inline(always)]
    pub(super) fn number(&mut self, site: Site) -> u32 {
        let function = site.function;
        let location = site.location.map_or(0, |location| ptr::from_ref(location).addr());
        let hook = site.hook.map_or(0, |hook| hook.0.get()) << 3;
        let bits = (location >> 3) ^ ((function >> 4) ^ function ^ hook) as usize;
        let (recent, number) = &self.recent[bits % RECENT];
        if recent.is(&site) { *number } else { self.search(site, bits % RECENT) }
    }

    #[cold]
    #[inline(never)]
    fn search(&mut self, site: Site, recent: usize) -> u32 {
        let found = self.all.iter().position(|known| known.is(&site));
        let number = found.unwrap_or_else(|| {
            if self.all.len() < MOST {
                self.all.push(site);
            }
            self.all.len() - 1
        }) as u32;
        self.recent[recent] = (site, number);
        number
    }

    pub(super) fn get(&self, number: u32) -> Site {
        self.all[number as usize]
    }
}

/// Memory that passed a port.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passage {
    pub(super) hook: Hook,
    pub(super) tick: u64,
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
            if self.0.len() < MOST {
                self.0.push(name.into());
            }
            self.0.len() - 1
        }) as u32
    }

    pub(super) fn name(&self, number: u32) -> &str {
        self.0.get(number as usize).map_or("?", |name| name)
    }
}
