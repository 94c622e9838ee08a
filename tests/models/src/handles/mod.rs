//! The counts of the handles and conditions that share a state, as the library has them, and their models.

pub(crate) mod models;
#[path = "../../../../streamflow/src/operator/condition/handles/sharers.rs"]
mod sharers;
