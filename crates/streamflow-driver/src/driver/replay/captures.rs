//! Calls of libraries that traces have: each is captured once, as a graph of one node, and is a node of the traces' graphs.
//!
//! Two calls are equal if they have the same function, host body, parameters, and accesses with their addresses. The host
//! body stands for the plan, which has one of its own. Nothing is replaced in a graph: a call with another value is another
//! call, and so another trace.
//!
//! A call is captured when it comes a second time, since most calls that differ in each tick never do. Then, and when it was
//! held back and is sent, the graph of the one node is launched in place of it. So the library is called once for each
//! call that it gets, and never for one that is replayed.

use super::Omission;
use super::trace::{same_accesses, same_params};
use crate::driver::{Access, BodyId, LibraryCall, MemoryRange, Param, RawGraph, Rows};

/// With so many calls, those that no trace has make way for new ones.
const MOST: usize = 256;

/// The number of a call that no trace can have.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// The calls, in the order of their numbers. No number is used again: a trace that is remembered may have it.
#[derive(Debug, Default)]
pub(super) struct Captures {
    list: Vec<Known>,
    next: u64,
}

#[derive(Debug)]
struct Known {
    number: u64,
    function: &'static str,
    body: BodyId,
    params: Box<[Param]>,
    accesses: Box<[Access]>,
    rows: Box<[Rows]>,
    /// `None` for a call that came once.
    graph: Option<RawGraph>,
}

impl Captures {
    fn place(&self, number: u64) -> Option<usize> {
        self.list.binary_search_by_key(&number, |known| known.number).ok()
    }

    fn get(&self, number: u64) -> Option<&Known> {
        self.list.get(self.place(number)?)
    }

    /// Whether a call is the one with this number.
    #[inline]
    pub(super) fn is(
        &self,
        number: u64,
        call: &LibraryCall<'_>,
        left_out: Option<Omission>,
    ) -> bool {
        self.get(number).is_some_and(|known| known.is(call, left_out))
    }

    /// The number of a call that came before.
    pub(super) fn find(&self, call: &LibraryCall<'_>, left_out: Option<Omission>) -> Option<u64> {
        let found = self.list.iter().find(|known| known.is(call, left_out));
        found.map(|known| known.number)
    }

    /// Keeps a call that comes for the first time.
    pub(super) fn add(&mut self, call: &LibraryCall<'_>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.list.push(Known {
            number,
            function: call.function,
            body: call.host.id(),
            params: call.params.into(),
            accesses: call.accesses.into(),
            rows: call.rows.into(),
            graph: None,
        });
        number
    }

    /// The graph of a call that was captured.
    pub(super) fn graph(&self, number: u64) -> Option<RawGraph> {
        self.get(number)?.graph
    }

    /// The call was captured.
    pub(super) fn set_graph(&mut self, number: u64, graph: RawGraph) {
        if let Some(place) = self.place(number) {
            self.list[place].graph = Some(graph);
        }
    }

    /// The library's function, for messages.
    pub(super) fn function(&self, number: u64) -> &'static str {
        self.get(number).map_or("?", |known| known.function)
    }

    /// Whether there are so many that some have to go.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// Forgets the calls with memory that is given back. Returns their graphs.
    pub(super) fn give_back(&mut self, range: MemoryRange) -> Vec<RawGraph> {
        let names = |access: &Access| access.range.overlaps(range);
        self.retain(|known| !known.accesses.iter().any(names))
    }

    /// Forgets the calls that `is_needed` is `false` for. Returns their graphs.
    pub(super) fn forget(&mut self, is_needed: impl Fn(u64) -> bool) -> Vec<RawGraph> {
        self.retain(|known| is_needed(known.number))
    }

    fn retain(&mut self, stays: impl Fn(&Known) -> bool) -> Vec<RawGraph> {
        let gone = self.list.extract_if(.., |known| !stays(known));
        gone.filter_map(|known| known.graph).collect()
    }
}

impl Known {
    #[inline]
    fn is(&self, call: &LibraryCall<'_>, left_out: Option<Omission>) -> bool {
        let without = |rule| left_out == Some(rule);
        self.function == call.function
            && (self.body.is_of(call.host) || without(Omission::Plans))
            && (same_params(&self.params, call.params) || without(Omission::Values))
            && same_accesses((&self.accesses, &self.rows), (call.accesses, call.rows))
    }
}
