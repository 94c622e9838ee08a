//! The lock-free list of objects that the reaper gives back, and its models. The models of exchanges compile another copy
//! of the list, inside of the module `memory`.

#[path = "../../../../streamflow/src/memory/border/list.rs"]
mod list;
pub(crate) mod models;
