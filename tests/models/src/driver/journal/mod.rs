//! The race checker's journal, and its models. Those of the checker use a copy of their own, within the checker.

#[path = "../../../../../crates/streamflow-driver/src/driver/race/journal.rs"]
mod list;
pub(crate) mod models;
