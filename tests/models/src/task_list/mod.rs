//! The list of what is given back, and its models. The models of exchanges use a copy of their own, within memory.

#[path = "../../../../streamflow/src/memory/border/list.rs"]
mod list;
pub(crate) mod models;
