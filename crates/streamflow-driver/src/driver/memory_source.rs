//! Which memory an allocation may use.

/// The memory that an allocation may use.
///
/// The distinction matters for drivers such as CUDA's: after an allocation in the order of a stream, each record and wait
/// of that stream costs more, and the extra cost rises with the number of streams that wait for it
/// (`tests/benches/floor/pool_history.c`). So no stream with work of a program allocates [`Freed`](Self::Freed) memory or
/// frees memory: a pool has a separate stream for its allocations and frees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySource {
    /// Memory that is new, or that was freed by a call that the device has executed. The driver may allocate it on a
    /// stream of its own.
    Unused,
    /// Unused memory, or memory whose free has not executed yet: then the driver orders `stream` after that free. The
    /// allocation is in the order of `stream`.
    Freed,
}
