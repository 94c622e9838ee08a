//! Sites: the places in the program that accesses come from. The history stores a site as a number of four bytes.

use std::num::NonZeroU64;
use std::ptr;

use crate::driver::MemoryRange;
use crate::driver::note::{Direction, SourceLocation};

/// The most sites, and the most names, that get numbers of their own. A program has some hundreds; the limit is for a
/// program that makes new ones without end.
const MAX_SITES: usize = 1 << 16;

/// The number of slots of the cache of sites.
const RECENT_SLOTS: usize = 256;

/// The hook that a thread is in, as two numbers in [`Names`]: the node's name and the hook's name. Both numbers are in one
/// word, so two hooks are compared by one instruction.
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

/// The kind of work that accesses memory.
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
    Library,
}

impl Action {
    /// All actions. The index of each is its discriminant, which the journal stores.
    pub(super) const ALL: [Self; 9] = [
        Self::Kernel,
        Self::Copy,
        Self::Fill,
        Self::Allocate,
        Self::Recycle,
        Self::Free,
        Self::Foreign,
        Self::OnHost,
        Self::Library,
    ];

    /// Whether the action gives the memory another owner, or lets its address leave streamflow.
    #[inline(always)]
    pub(super) fn hands_over(self) -> bool {
        (self as u8).wrapping_sub(Self::Allocate as u8)
            <= Self::Foreign as u8 - Self::Allocate as u8
    }
}

/// A place in the program that accesses memory, within a node's hook. The place is the same in each tick.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) action: Action,
    /// The number of the kernel or of the library's function; 0 for other work.
    pub(super) function: u64,
    pub(super) hook: Option<Hook>,
    pub(super) location: Option<SourceLocation>,
}

impl Site {
    #[inline(always)]
    fn matches(&self, other: &Self) -> bool {
        // Locations are compared by address. If one location has several addresses, it counts as several sites.
        let location = |site: &Self| site.location.map_or(ptr::null(), ptr::from_ref);
        let hook = |site: &Self| site.hook.map_or(0, |hook| hook.0.get());
        self.function == other.function
            && location(self) == location(other)
            && hook(self) == hook(other)
            && self.action == other.action
    }
}

/// The content of the cache's free slots.
const BLANK: Site = Site { action: Action::OnHost, function: 0, hook: None, location: None };

/// All sites. The index of a site is its number, and an access stores only that.
#[derive(Debug)]
pub(super) struct Sites {
    all: Vec<Site>,
    /// A cache of the sites that were searched for last, with their numbers. Some bits of a site choose its slot.
    recent: Box<[(Site, u32); RECENT_SLOTS]>,
}

impl Sites {
    pub(super) fn new() -> Self {
        Self { all: vec![BLANK], recent: Box::new([(BLANK, 0); RECENT_SLOTS]) }
    }

    #[inline(always)]
    pub(super) fn number(&mut self, site: Site) -> u32 {
        let function = site.function;
        let location = site.location.map_or(0, |location| ptr::from_ref(location).addr());
        let hook = site.hook.map_or(0, |hook| hook.0.get()) << 3;
        let bits = (location >> 3) ^ ((function >> 4) ^ function ^ hook) as usize;
        let (recent, number) = &self.recent[bits % RECENT_SLOTS];
        if recent.matches(&site) { *number } else { self.search(site, bits % RECENT_SLOTS) }
    }

    #[cold]
    #[inline(never)]
    fn search(&mut self, site: Site, slot: usize) -> u32 {
        let found = self.all.iter().position(|known| known.matches(&site));
        let number = found.unwrap_or_else(|| {
            if self.all.len() < MAX_SITES {
                self.all.push(site);
            }
            self.all.len() - 1
        }) as u32;
        self.recent[slot] = (site, number);
        number
    }

    pub(super) fn get(&self, number: u32) -> Site {
        self.all[number as usize]
    }
}

/// A use of memory by a port: the memory came in or went out, in one tick of a hook.
#[derive(Debug, Clone, Copy)]
pub(super) struct PortUse {
    pub(super) hook: Hook,
    pub(super) tick: u64,
    pub(super) port: &'static str,
    pub(super) direction: Direction,
    pub(super) range: MemoryRange,
}

/// Names, each stored once. The index of a name is its number.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<Box<str>>);

impl Names {
    /// Returns the number of a name, and adds the name if it is new. Programs have few names, so a linear search is fast.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let found = self.0.iter().position(|known| **known == *name);
        found.unwrap_or_else(|| {
            if self.0.len() < MAX_SITES {
                self.0.push(name.into());
            }
            self.0.len() - 1
        }) as u32
    }

    pub(super) fn name(&self, number: u32) -> &str {
        self.0.get(number as usize).map_or("?", |name| name)
    }
}
