//! Functions that make conditions: `graph!` writes calls of them. `text` is the condition as the user wrote it, for reports.

use std::time::Duration;

use super::handles::{Gate, Notices};
use super::list::{Any, Count};
use super::memory::Memory;
use super::messages::{Expiring, Messages, Need};
use super::own::Own;
use super::periodic::Periodic;
use super::room::Room;
use super::same_sequence::SameSequence;
use super::streams::{Awaited, Done};
use super::{AsyncHandle, BooleanHandle, Condition, Conditions};
use crate::memory::{Allocator, MemoryAmount};

pub use super::CatchUp;
pub use super::list::Entry;

/// All conditions of a node.
pub fn all(all: Vec<Entry>) -> Conditions {
    Conditions::new(all)
}

/// `any(…)`
pub fn any(text: &'static str, any: Vec<Entry>) -> Entry {
    Entry::new(text, Any(any))
}

/// `count(n)`, in `any(…)`.
pub fn count(text: &'static str, count: u64) -> Entry {
    Entry::new(text, Count(count))
}

/// `periodic(interval, policy)`
pub fn periodic(text: &'static str, interval: Duration, catch_up: CatchUp) -> Entry {
    Entry::new(text, Periodic::new(interval, catch_up))
}

/// `message_available(input, n)`
pub fn message_available(text: &'static str, input: &'static str, messages: usize) -> Entry {
    Entry::new(text, Messages::new(&[input], Need::Sum(messages)))
}

/// `multi_message([a, b], sum(n))`
pub fn sum_of_messages(text: &'static str, inputs: &[&'static str], sum: usize) -> Entry {
    Entry::new(text, Messages::new(inputs, Need::Sum(sum)))
}

/// `multi_message([a, b], each(n, m))`
pub fn messages_of_each(text: &'static str, inputs: &[&'static str], each: &[usize]) -> Entry {
    Entry::new(text, Messages::new(inputs, Need::Each(each.to_vec())))
}

/// `expiring(input, timeout)`
pub fn expiring(text: &'static str, input: &'static str, timeout: Duration) -> Entry {
    Entry::new(text, Expiring::new(input, timeout))
}

/// `room(output)`
pub fn room(text: &'static str, output: &'static str) -> Entry {
    Entry::new(text, Room::new(output))
}

/// `same_sequence`, `same_sequence([a, b])`
pub fn same_sequence(text: &'static str, inputs: &[&'static str]) -> Entry {
    Entry::new(text, SameSequence::new(inputs))
}

/// `memory_available(allocator, bytes(n))`
pub fn memory_bytes(text: &'static str, allocator: &Allocator, bytes: u64) -> Entry {
    Entry::new(text, Memory::new(allocator, MemoryAmount::Bytes(bytes)))
}

/// `memory_available(allocator, blocks(n))`
pub fn memory_blocks(text: &'static str, allocator: &Allocator, blocks: u64) -> Entry {
    Entry::new(text, Memory::new(allocator, MemoryAmount::Blocks(blocks)))
}

/// `boolean(handle)`
pub fn boolean(text: &'static str, handle: &BooleanHandle) -> Entry {
    Entry::new(text, Gate::new(handle))
}

/// `asynchronous(handle)`
pub fn asynchronous(text: &'static str, handle: &AsyncHandle) -> Entry {
    Entry::new(text, Notices::new(handle))
}

/// `stream_done(input)`
pub fn stream_done(text: &'static str, input: &'static str) -> Entry {
    Entry::new(text, Done::new(input, Awaited::Stream))
}

/// `host_done(input)`
pub fn host_done(text: &'static str, input: &'static str) -> Entry {
    Entry::new(text, Done::new(input, Awaited::Downloads))
}

/// `condition(value)`
pub fn own<C: Condition>(text: &'static str, condition: C) -> Entry {
    Entry::new(text, Own(condition))
}
