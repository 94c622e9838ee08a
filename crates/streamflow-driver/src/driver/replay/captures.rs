//! The library calls that are in traces. Each such call is captured once, as a CUDA graph of its own. The graphs of traces
//! contain that graph as a child graph.
//!
//! Two calls are equal if they have the same device, function, host body, parameters, and accesses with their addresses. The
//! host body identifies the plan, since each plan has its own body. The parameters of a captured call are never replaced: a
//! call with another value is a different call, and makes a different trace.
//!
//! A call is captured when it occurs a second time: most calls that differ in each tick never occur again. The captured
//! graph is then launched in place of the call, even when the call was held back and is sent by itself. So no call of
//! the program calls the library twice, and a replayed call never calls it.
//!
//! A capture can fail although the call is right. CUDA invalidates a capture if any thread waits for the whole device
//! meanwhile, as libraries do when a handle is destroyed (CUDA C++ Programming Guide, *Prohibited and Unhandled
//! Operations*). And a call without work, such as a product of empty matrices, leaves an empty capture. After a failure the
//! call is sent, and its next occurrence is captured again.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::Omission;
use super::trace::{same_accesses, same_params};
use crate::driver::{Access, BodyId, DeviceId, LibraryCall, MemoryRange, Param, RawGraph, Rows};

/// The number of known calls at which those that are in no trace are removed. If twice the number of calls that the last
/// removal left is more, that is the limit.
const MANY: usize = 256;

/// The number of failed captures after which a call is not captured again, and always sent.
const ATTEMPTS: u32 = 3;

/// The number that stands for a library call which no trace can contain.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// The known calls, in ascending order of their numbers. A number is not reused, since a trace may still contain the number
/// of a call that was removed.
#[derive(Debug, Default)]
pub(super) struct Captures {
    list: Vec<Known>,
    next: u64,
    /// The number of calls that the last removal has left in `list`.
    stayed: usize,
    /// The emptied vectors of removed calls, reused for new calls. So ticks whose calls never repeat allocate nothing.
    spare: Vec<Parts>,
}

#[derive(Debug)]
struct Known {
    number: u64,
    /// The hash of the call that [`fingerprint`] returns.
    fingerprint: u64,
    device: DeviceId,
    function: &'static str,
    body: BodyId,
    parts: Parts,
    /// The captured graph of the call; `None` before its capture has succeeded.
    graph: Option<RawGraph>,
    /// The number of failed captures of the call.
    failures: u32,
    /// Whether a trace needs the call. Set and cleared during a removal.
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

    /// Whether a call equals the known call `number`. The caller has compared the devices.
    #[inline]
    pub(super) fn is(
        &self,
        number: u64,
        call: &LibraryCall<'_>,
        left_out: Option<Omission>,
    ) -> bool {
        self.get(number).is_some_and(|known| known.is(call, left_out))
    }

    /// Returns the number of an equal call, if the program has made one before.
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

    /// Adds a call that the program makes for the first time. Returns the call's number.
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

    /// Returns the captured graph of a call, if the capture has succeeded.
    pub(super) fn graph(&self, number: u64) -> Option<RawGraph> {
        self.get(number)?.graph
    }

    /// Stores the captured graph of a call.
    pub(super) fn set_graph(&mut self, number: u64, graph: RawGraph) {
        if let Some(place) = self.place(number) {
            self.list[place].graph = Some(graph);
        }
    }

    /// Counts a failed capture of the call.
    pub(super) fn mark_failed(&mut self, number: u64) {
        if let Some(place) = self.place(number) {
            self.list[place].failures += 1;
        }
    }

    /// Whether so many captures of the call have failed that it is not captured again.
    pub(super) fn is_given_up(&self, number: u64) -> bool {
        self.get(number).is_some_and(|known| known.failures >= ATTEMPTS)
    }

    /// Returns the name of the library's function, for messages.
    pub(super) fn function(&self, number: u64) -> &'static str {
        self.get(number).map_or("?", |known| known.function)
    }

    /// Whether so many calls are known that those in no trace must be removed.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MANY.max(2 * self.stayed)
    }

    /// Removes the calls that access memory which is about to be given back. Returns their captured graphs.
    pub(super) fn give_back(&mut self, range: MemoryRange) -> Vec<RawGraph> {
        let names = |access: &Access| access.range.overlaps(range);
        self.retain(|known| !known.parts.accesses.iter().any(names))
    }

    /// Removes all calls except those with the numbers `needed`. Returns the graphs of the removed calls.
    pub(super) fn keep_only(&mut self, needed: impl Iterator<Item = u64>) -> Vec<RawGraph> {
        for number in needed {
            if let Some(place) = self.place(number) {
                self.list[place].is_needed = true;
            }
        }
        // A call whose captures have failed too often stays, too. If it were removed, its failures would be forgotten, and
        // its capture tried again.
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

/// Returns a hash that equal calls share, so that only calls with equal hashes are compared in full.
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
