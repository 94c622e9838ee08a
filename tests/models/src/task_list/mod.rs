//! The list of objects to give back, and its models. The models of exchanges use a separate copy, within
//! memory.

#[path = "../../../../streamflow/src/memory/border/list.rs"]
mod list;
pub(crate) mod models;
