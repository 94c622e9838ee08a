//! The library's claims of a block, and their models.

#[path = "../../../../streamflow/src/memory/claims.rs"]
mod claims;
#[path = "../../../../streamflow/src/memory/last_write.rs"]
mod last_write;
#[path = "../../../../streamflow/src/memory/points.rs"]
mod points;

pub(crate) mod models;

/// Asserts that the calling thread holds no lock of memory: the driver is being called.
pub(crate) fn assert_unlocked() {
    assert!(!crate::lock::holds("claims::Uses"), "a lock of memory is held in a driver call");
}
