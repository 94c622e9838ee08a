//! The race checker's journal, and its models. The models of the checker compile another copy of the journal, inside of
//! the module `checker`.

#[path = "../../../../../crates/streamflow-driver/src/driver/race/journal.rs"]
mod list;
pub(crate) mod models;
