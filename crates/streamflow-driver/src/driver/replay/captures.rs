//! The calls of libraries that traces have. Each is captured once, as a graph of one node, and is a node of the traces' graphs.
//!
//! Two calls are equal if they have the same device, function, host body, parameters, and accesses with their addresses. The host
//! body stands for the plan, since each plan has a body of its own. Nothing is replaced in a graph: a call with another value
//! is another call, and so another trace.
//!
//! A call is captured when it occurs a second time: most calls that differ in each tick never occur again. The graph of the
//! one node is then launched in place of the call, and also when the call was held back and is sent. So the library itself is
//! called once for the capture, and not for replayed or held-back calls.
//!
//! A capture can fail although the call is right: CUDA ends it if any thread waits for the whole device meanwhile, as libraries do
//! where a handle is destroyed (CUDA C++ Programming Guide, *Prohibited and Unhandled Operations*); and a call that has nothing to
//! do, as a product of empty matrices, leaves nothing to replay. Then the call is sent, and captured when it comes again.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::Omission;
use super::trace::{same_accesses, same_params};
use crate::driver::{Access, BodyId, DeviceId, LibraryCall, MemoryRange, Param, RawGraph, Rows};

/// The number of known calls at which those that no trace has are forgotten. The limit is twice the number of calls that were
/// kept the last time, if that is more.
const MANY: usize = 256;

/// The number of failed captures after which a call is always sent.
const ATTEMPTS: u32 = 3;

/// The number of a call that no trace can have.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// The known calls, in the order of their numbers. No number is reused: a remembered trace may have the number.
#[derive(Debug, Default)]
pub(super) struct Captures {
    list: Vec<Known>,
    next: u64,
    /// The number of calls that were kept when others were forgotten.
    stayed: usize,
    /// The buffers of forgotten calls, for reuse by new ones: so ticks that never repeat allocate nothing.
    spare: Vec<Parts>,
}

#[derive(Debug)]
struct Known {
    number: u64,
    /// See [`fingerprint`].
    fingerprint: u64,
    device: DeviceId,
    function: &'static str,
    body: BodyId,
    parts: Parts,
    /// The graph of the call; `None` if it came only once.
    graph: Option<RawGraph>,
    /// How many captures of the call have failed.
    failures: u32,
    /// Whether the call is kept when others are forgotten.
    is_needed: bool,
}

#[derive(Debug, Default)]
struct Parts {
    params: Vec<Param>,
    accesses: Vec<Access>,
    rows: Vec<Rows>,
}

impl Captures {
    fn place(&self, number: u64) -> Option<usize> {
        self.list.binary_search_by_key(&number, |known| known.number).ok()
    }

    fn get(&self, number: u64) -> Option<&Known> {
        self.list.get(self.place(number)?)
    }

    /// Whether a call is the one with this number, if it is of the same device.
    #[inline]
    pub(super) fn is(
        &self,
        number: u64,
        call: &LibraryCall<'_>,
        left_out: Option<Omission>,
    ) -> bool {
        self.get(number).is_some_and(|known| known.is(call, left_out))
    }

    /// The number of a known call.
    pub(super) fn find(
        &self,
        device: DeviceId,
        call: &LibraryCall<'_>,
        left_out: Option<Omission>,
    ) -> Option<u64> {
        let fingerprint = fingerprint(call, left_out);
        let is = |known: &&Known| {
            known.fingerprint == fingerprint && known.device == device && known.is(call, left_out)
        };
        let found = self.list.iter().find(is);
        found.map(|known| known.number)
    }

    /// Adds a call that occurs for the first time. Returns its number.
    pub(super) fn add(
        &mut self,
        device: DeviceId,
        call: &LibraryCall<'_>,
        left_out: Option<Omission>,
    ) -> u64 {
        let number = self.next;
        self.next += 1;
        let mut parts = self.spare.pop().unwrap_or_default();
        parts.params.extend_from_slice(call.params);
        parts.accesses.extend_from_slice(call.accesses);
        parts.rows.extend_from_slice(call.rows);
        self.list.push(Known {
            number,
            fingerprint: fingerprint(call, left_out),
            device,
            function: call.function,
            body: call.host.id(),
            parts,
            graph: None,
            failures: 0,
            is_needed: false,
        });
        number
    }

    /// The graph of a call that was captured.
    pub(super) fn graph(&self, number: u64) -> Option<RawGraph> {
        self.get(number)?.graph
    }

    /// Notes the graph of a call that was captured.
    pub(super) fn set_graph(&mut self, number: u64, graph: RawGraph) {
        if let Some(place) = self.place(number) {
            self.list[place].graph = Some(graph);
        }
    }

    /// Notes that a capture of the call has failed.
    pub(super) fn mark_failed(&mut self, number: u64) {
        if let Some(place) = self.place(number) {
            self.list[place].failures += 1;
        }
    }

    /// Whether the call is no longer captured, since too many captures have failed.
    pub(super) fn is_given_up(&self, number: u64) -> bool {
        self.get(number).is_some_and(|known| known.failures >= ATTEMPTS)
    }

    /// The library's function, for messages.
    pub(super) fn function(&self, number: u64) -> &'static str {
        self.get(number).map_or("?", |known| known.function)
    }

    /// Whether there are so many calls that some have to go.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MANY.max(2 * self.stayed)
    }

    /// Forgets the calls with memory that is given back. Returns their graphs.
    pub(super) fn give_back(&mut self, range: MemoryRange) -> Vec<RawGraph> {
        let names = |access: &Access| access.range.overlaps(range);
        self.retain(|known| !known.parts.accesses.iter().any(names))
    }

    /// Forgets the calls without these numbers. Returns their graphs.
    pub(super) fn keep_only(&mut self, needed: impl Iterator<Item = u64>) -> Vec<RawGraph> {
        for number in needed {
            if let Some(place) = self.place(number) {
                self.list[place].is_needed = true;
            }
        }
        // A call with too many failed captures is kept: else its captures would begin anew.
        let gone =
            self.retain(|known| std::mem::take(&mut known.is_needed) || known.failures >= ATTEMPTS);
        self.stayed = self.list.len();
        gone
    }

    fn retain(&mut self, stays: impl Fn(&mut Known) -> bool) -> Vec<RawGraph> {
        let gone = self.list.extract_if(.., |known| !stays(known));
        let graphs = gone.filter_map(|Known { mut parts, graph, .. }| {
            parts.params.clear();
            parts.accesses.clear();
            parts.rows.clear();
            self.spare.push(parts);
            graph
        });
        graphs.collect()
    }
}

/// A number that equal calls share. Calls that differ in each tick are many, and few of them are compared.
fn fingerprint(call: &LibraryCall<'_>, left_out: Option<Omission>) -> u64 {
    let mut hash = FxHasher::default();
    if left_out != Some(Omission::Values) {
        call.params.iter().for_each(|param| hash.write(param.bytes()));
    }
    call.accesses.iter().for_each(|access| hash.write_u64(access.range.address));
    hash.finish()
}

impl Known {
    #[inline]
    fn is(&self, call: &LibraryCall<'_>, left_out: Option<Omission>) -> bool {
        let without = |rule| left_out == Some(rule);
        self.function == call.function
            && (self.body.is_of(call.host) || without(Omission::Plans))
            && (same_params(&self.parts.params, call.params) || without(Omission::Values))
            && same_accesses((&self.parts.accesses, &self.parts.rows), (call.accesses, call.rows))
    }
}
