//! The race checker's journal, and its models. The checker's models use a separate copy, within the checker.

#[path = "../../../../../crates/streamflow-driver/src/driver/race/journal.rs"]
mod list;
pub(crate) mod models;
