//! Where accesses come from, as the history keeps it: small and without the heap.

use crate::driver::note::{Direction, SourceLocation};
use crate::driver::{MemoryRange, RawFunction};

/// How many places and names are told apart. A program has some hundreds; one that makes up new ones
/// for ever gets no more.
const MOST: usize = 1 << 16;

/// Places of the table that finds a place again.
const RECENT: usize = 256;

/// The hook that a thread is in. Names are numbers of [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hook {
    pub(super) node: u32,
    pub(super) name: u32,
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

/// A place in the program, within a node: the same in each tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) action: Action,
    pub(super) hook: Option<Hook>,
    pub(super) location: Option<SourceLocation>,
}

/// Sites by number, so that an access holds four bytes of it.
#[derive(Debug)]
pub(super) struct Sites {
    /// Each with the arguments that were seen there: a kernel's, or the sides of a copy.
    all: Vec<(Site, Vec<&'static str>)>,
    /// The number of a site that was asked for last, by some of its bits.
    recent: Box<[u32; RECENT]>,
}

impl Sites {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), recent: Box::new([0; RECENT]) }
    }

    #[inline]
    pub(super) fn number(&mut self, site: Site) -> u32 {
        let function = match site.action {
            Action::Kernel(function) => function.handle(),
            _ => 0,
        };
        let location = site.location.map_or(0, |location| std::ptr::from_ref(location).addr());
        let node = site.hook.map_or(0, |hook| hook.node as usize);
        let bits = (location >> 3) ^ (function >> 4) as usize ^ function as usize ^ (node << 3);
        let recent = self.recent[bits % RECENT];
        match self.all.get(recent as usize) {
            Some((known, _)) if *known == site => recent,
            _ => self.search(site, bits % RECENT),
        }
    }

    #[cold]
    fn search(&mut self, site: Site, recent: usize) -> u32 {
        let found = self.all.iter().position(|(known, _)| *known == site);
        let number = found.unwrap_or_else(|| {
            if self.all.len() < MOST {
                self.all.push((site, Vec::new()));
            }
            self.all.len() - 1
        }) as u32;
        self.recent[recent] = number;
        number
    }

    pub(super) fn get(&self, number: u32) -> Site {
        self.all[number as usize].0
    }

    /// The number of an argument at a site. `guess` is its place in the launch, and mostly it.
    #[inline]
    pub(super) fn argument(&mut self, site: u32, guess: u16, name: &'static str) -> u16 {
        let arguments = &mut self.all[site as usize].1;
        match arguments.get(guess as usize) {
            Some(known) if std::ptr::eq(*known, name) => guess,
            _ => {
                let found = arguments.iter().position(|known| *known == name);
                found.unwrap_or_else(|| {
                    arguments.push(name);
                    arguments.len() - 1
                }) as u16
            }
        }
    }

    pub(super) fn argument_name(&self, site: u32, argument: u16) -> &'static str {
        self.all[site as usize].1.get(argument as usize).copied().unwrap_or("?")
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
