//! What an allocation may be made of.

/// Which memory an allocation may be made of.
///
/// The difference is for drivers that pay for an allocation in the order of a stream, as CUDA's does: from then on, each
/// record and each wait of that stream costs more, the more other streams wait for it
/// (`tests/benches/floor/pool_history.c`). So no stream with work of a program allocates [`Freed`](Self::Freed) memory, or
/// frees any: a pool has a stream for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySource {
    /// Memory that is new, or whose free the device has done. The driver may allocate it on a stream of its own.
    Unused,
    /// Also memory whose free is not done: `stream` comes after the free. The allocation is in the order of `stream`.
    Freed,
}
