//! The library's locks as they are, and their models. The models of other code take the lock for granted, and use
//! loom's mutex in its place: [`crate::lock`].

#[path = "../../../../crates/streamflow-driver/src/lock.rs"]
mod lock;
pub(crate) mod models;
