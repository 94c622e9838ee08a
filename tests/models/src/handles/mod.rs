//! The library's code that counts the handles and conditions which share a state, and its models.

pub(crate) mod models;
#[path = "../../../../streamflow/src/operator/condition/handles/sharers.rs"]
mod sharers;
