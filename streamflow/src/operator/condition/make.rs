//! Functions that make conditions. `graph!` generates calls of them. `text` is the condition as the user wrote it, for reports.

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

/// Makes the list of a node's conditions.
pub fn all(all: Vec<Entry>) -> Conditions {
    Conditions::new(all)
}

/// Makes the condition `any(…)`.
pub fn any(text: &'static str, any: Vec<Entry>) -> Entry {
    Entry::new(text, Any(any))
}

/// Makes the condition `count(n)` in `any(…)`.
pub fn count(text: &'static str, count: u64) -> Entry {
    Entry::new(text, Count(count))
}

/// Makes the condition `periodic(interval, policy)`.
pub fn periodic(text: &'static str, interval: Duration, catch_up: CatchUp) -> Entry {
    Entry::new(text, Periodic::new(interval, catch_up))
}

/// Makes the condition `message_available(input, n)`.
pub fn message_available(text: &'static str, input: &'static str, messages: usize) -> Entry {
    Entry::new(text, Messages::new(&[input], Need::Sum(messages)))
}

/// Makes the condition `multi_message([a, b], sum(n))`.
pub fn sum_of_messages(text: &'static str, inputs: &[&'static str], sum: usize) -> Entry {
    Entry::new(text, Messages::new(inputs, Need::Sum(sum)))
}

/// Makes the condition `multi_message([a, b], each(n, m))`.
pub fn messages_of_each(text: &'static str, inputs: &[&'static str], each: &[usize]) -> Entry {
    Entry::new(text, Messages::new(inputs, Need::Each(each.to_vec())))
}

/// Makes the condition `expiring(input, timeout)`.
pub fn expiring(text: &'static str, input: &'static str, timeout: Duration) -> Entry {
    Entry::new(text, Expiring::new(input, timeout))
}

/// Makes the condition `room(output)`.
pub fn room(text: &'static str, output: &'static str) -> Entry {
    Entry::new(text, Room::new(output))
}

/// Makes the condition `same_sequence` or `same_sequence([a, b])`.
pub fn same_sequence(text: &'static str, inputs: &[&'static str]) -> Entry {
    Entry::new(text, SameSequence::new(inputs))
}

/// Makes the condition `memory_available(allocator, bytes(n))`.
pub fn memory_bytes(text: &'static str, allocator: &Allocator, bytes: u64) -> Entry {
    Entry::new(text, Memory::new(allocator, MemoryAmount::Bytes(bytes)))
}

/// Makes the condition `memory_available(allocator, blocks(n))`.
pub fn memory_blocks(text: &'static str, allocator: &Allocator, blocks: u64) -> Entry {
    Entry::new(text, Memory::new(allocator, MemoryAmount::Blocks(blocks)))
}

/// Makes the condition `boolean(handle)`.
pub fn boolean(text: &'static str, handle: &BooleanHandle) -> Entry {
    Entry::new(text, Gate::new(handle))
}

/// Makes the condition `asynchronous(handle)`.
pub fn asynchronous(text: &'static str, handle: &AsyncHandle) -> Entry {
    Entry::new(text, Notices::new(handle))
}

/// Makes the condition `stream_done(input)`.
pub fn stream_done(text: &'static str, input: &'static str) -> Entry {
    Entry::new(text, Done::new(input, Awaited::Stream))
}

/// Makes the condition `host_done(input)`.
pub fn host_done(text: &'static str, input: &'static str) -> Entry {
    Entry::new(text, Done::new(input, Awaited::Downloads))
}

/// Makes the condition `condition(value)`, of a user's own type.
pub fn own<C: Condition>(text: &'static str, condition: C) -> Entry {
    Entry::new(text, Own(condition))
}
