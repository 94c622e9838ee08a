//! The race checker's journal, and its models.

#[path = "../../../../../streamflow/src/driver/race/journal.rs"]
mod journal;
pub(crate) mod models;
