//! The count of who shares the state of a handle, and its models.

pub(crate) mod models;
#[path = "../../../../streamflow/src/operator/condition/handles/sharers.rs"]
mod sharers;
