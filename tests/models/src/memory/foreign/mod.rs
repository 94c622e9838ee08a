//! The library's exchange of memory with other code, without the structures of DLPack, and its models.

#[path = "../../../../../streamflow/src/memory/foreign/adopt.rs"]
mod adopt;
#[path = "../../../../../streamflow/src/memory/foreign/border.rs"]
pub(super) mod border;
#[path = "../../../../../streamflow/src/memory/foreign/counts.rs"]
mod counts;
#[path = "../../../../../streamflow/src/memory/foreign/lent.rs"]
mod lent;
#[path = "../../../../../streamflow/src/memory/foreign/list.rs"]
mod list;
#[path = "../../../../../streamflow/src/memory/foreign/reaper.rs"]
mod reaper;
#[path = "../../../../../streamflow/src/memory/foreign/returned.rs"]
mod returned;
#[path = "../../../../../streamflow/src/memory/foreign/task.rs"]
mod task;

pub(crate) mod exchanges;
pub(crate) mod owners;

pub(crate) use counts::{ForeignCounts, foreign_counts};
