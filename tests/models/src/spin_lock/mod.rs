//! The library's own locks, and their models. The models of other code use loom's mutex in place of these locks:
//! [`crate::lock`].

#[path = "../../../../crates/streamflow-driver/src/lock.rs"]
mod lock;
pub(crate) mod models;
