//! What an allocation may be made of.

/// Which memory an allocation may be made of.
///
/// The difference is for drivers that pay for an allocation in the order of a stream of the program, as CUDA's does:
/// from then on, each record and each wait of that stream costs more, the more the more streams have allocated
/// (`tests/benches/floor/pool_history.c`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySource {
    /// Memory that is new, or whose free the device has done. The driver may allocate it on a stream of its own.
    Unused,
    /// Also memory whose free is not done: `stream` comes after the free. The allocation is in the order of `stream`.
    Freed,
}
