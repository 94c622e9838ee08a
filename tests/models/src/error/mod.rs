//! Stands for the library's error type, with only the errors of memory and streams.

#[allow(dead_code, reason = "no model makes an allocator by a description")]
#[path = "../../../../streamflow/src/error/const_text.rs"]
pub(crate) mod const_text;

use std::fmt;

use crate::driver::{DeviceId, DriverError};

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Stands for the library's error type, with the variants that the memory and stream modules return.
#[derive(Debug)]
pub(crate) enum Error {
    Driver(DriverError),
    Foreign(&'static str),
    BlockSize {
        pool: String,
        block_bytes: u64,
        requested: u64,
    },
    BlocksExhausted {
        pool: String,
        who: String,
        blocks: u64,
        holders: Vec<(String, usize)>,
    },
    MemoryExhausted {
        pool: String,
        who: String,
        requested: u64,
        used: u64,
        max_size: u64,
        holders: Vec<(String, usize)>,
    },
    OutOfMemory {
        device: DeviceId,
        requested: u64,
        total: u64,
        pools: Vec<(String, u64, u64)>,
        is_simulated: bool,
    },
    PinnedExhausted {
        device: DeviceId,
        requested: u64,
        used: u64,
        limit: u64,
    },
    WrongDevice {
        what: String,
        memory: DeviceId,
        stream: DeviceId,
    },
    Exchange {
        what: String,
        reason: String,
        remedy: String,
    },
    LengthMismatch {
        what: &'static str,
        source_len: usize,
        target_len: usize,
    },
    Shape {
        shape: Vec<usize>,
        reason: &'static str,
    },
    ShapeMismatch {
        what: &'static str,
        source_shape: Vec<usize>,
        target_shape: Vec<usize>,
        remedy: String,
    },
    Strided {
        shape: Vec<usize>,
        strides: Vec<usize>,
        problem: &'static str,
        remedy: &'static str,
    },
}

impl Error {
    pub(crate) fn foreign(what: &'static str) -> Self {
        Self::Foreign(what)
    }

    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Driver(DriverError::Sticky { .. }))
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
