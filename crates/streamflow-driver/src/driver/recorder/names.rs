//! Numbers for handles and addresses, in order of first appearance.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::driver::{DeviceId, MemoryRange, RawEvent, RawStream};

/// A stream in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamLabel {
    /// The legacy default stream of a device.
    Default(DeviceId),
    /// Any other stream, counted from 0 over all devices.
    Numbered(u32),
}

impl fmt::Display for StreamLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default(device) => write!(f, "default stream of {device}"),
            Self::Numbered(number) => write!(f, "stream {number}"),
        }
    }
}

/// Memory in a log. Lengths and offsets are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordedRange {
    /// Part of a device allocation, counted from 0 in order of allocation.
    Device {
        /// The allocation's number.
        buffer: u32,
        /// The offset in it.
        offset: u64,
        /// The length.
        bytes: u64,
    },
    /// Part of a page-locked allocation, counted from 0 in order of allocation.
    Pinned {
        /// The allocation's number.
        buffer: u32,
        /// The offset in it.
        offset: u64,
        /// The length.
        bytes: u64,
    },
    /// Memory that was not allocated through the recorder: ordinary host memory, or memory that was allocated
    /// below or before the recorder. Such memory has no number, because its address may differ from run to
    /// run.
    Other {
        /// The length.
        bytes: u64,
    },
}

impl fmt::Display for RecordedRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device { buffer, offset, bytes } => {
                write!(f, "buffer {buffer}[{offset}+{bytes}]")
            }
            Self::Pinned { buffer, offset, bytes } => {
                write!(f, "pinned {buffer}[{offset}+{bytes}]")
            }
            Self::Other { bytes } => write!(f, "memory [{bytes}]"),
        }
    }
}

/// An allocation in the map of blocks, whose key is the allocation's first address.
#[derive(Debug, Clone, Copy)]
struct Block {
    number: u32,
    bytes: u64,
    pinned: bool,
}

/// All numbers and labels that were assigned so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    streams: HashMap<RawStream, StreamLabel>,
    next_stream: u32,
    events: HashMap<RawEvent, u32>,
    next_event: u32,
    /// Addresses are unique over devices and host (CUDA's unified addressing; the simulator uses host
    /// memory), so one map is enough.
    blocks: BTreeMap<u64, Block>,
    next_device: u32,
    next_pinned: u32,
    kernels: HashSet<Arc<str>>,
}

impl Names {
    /// Assigns a number to a stream that was just created. An earlier stream may have had the same handle.
    pub(super) fn new_stream(&mut self, stream: RawStream) -> StreamLabel {
        let name = StreamLabel::Numbered(next(&mut self.next_stream));
        self.streams.insert(stream, name);
        name
    }

    /// The label of a stream; `default` is the default stream of its device.
    pub(super) fn stream(&mut self, stream: RawStream, default: RawStream) -> StreamLabel {
        if stream == default {
            return StreamLabel::Default(stream.device());
        }
        match self.streams.get(&stream) {
            Some(name) => *name,
            None => self.new_stream(stream),
        }
    }

    /// Assigns a number to an event that was just created.
    pub(super) fn new_event(&mut self, event: RawEvent) -> u32 {
        let number = next(&mut self.next_event);
        self.events.insert(event, number);
        number
    }

    pub(super) fn event(&mut self, event: RawEvent) -> u32 {
        match self.events.get(&event) {
            Some(number) => *number,
            None => self.new_event(event),
        }
    }

    /// Assigns a number to memory that was just allocated. Earlier blocks that overlap it are forgotten.
    pub(super) fn new_block(&mut self, range: MemoryRange, pinned: bool) -> RecordedRange {
        let counter = if pinned { &mut self.next_pinned } else { &mut self.next_device };
        let number = next(counter);
        // An empty block has no address of its own, so it could not be found again.
        if range.bytes > 0 {
            // Freed blocks stay in the map until their memory is allocated again, so that a use after the free has a
            // number. Blocks don't overlap each other, so only the last ones that begin before the new block's end can
            // overlap it.
            while let Some((&address, _)) = self
                .blocks
                .range(..range.end())
                .next_back()
                .filter(|(address, block)| *address + block.bytes > range.address)
            {
                self.blocks.remove(&address);
            }
            self.blocks.insert(range.address, Block { number, bytes: range.bytes, pinned });
        }
        recorded(number, pinned, 0, range.bytes)
    }

    /// Returns the recorded form of memory: the number of its allocation, and its offset there.
    pub(super) fn range_of(&self, range: MemoryRange) -> RecordedRange {
        let MemoryRange { address, bytes } = range;
        match self.blocks.range(..=address).next_back() {
            Some((start, block))
                if range.end() <= start + block.bytes && address < start + block.bytes =>
            {
                recorded(block.number, block.pinned, address - start, bytes)
            }
            _ => RecordedRange::Other { bytes },
        }
    }

    /// A kernel's name, shared by all its calls.
    pub(super) fn kernel(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.kernels.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        self.kernels.insert(name.clone());
        name
    }
}

fn recorded(buffer: u32, pinned: bool, offset: u64, bytes: u64) -> RecordedRange {
    if pinned {
        RecordedRange::Pinned { buffer, offset, bytes }
    } else {
        RecordedRange::Device { buffer, offset, bytes }
    }
}

fn next(counter: &mut u32) -> u32 {
    let number = *counter;
    *counter = counter.wrapping_add(1);
    number
}
