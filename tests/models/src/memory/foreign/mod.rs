//! The library's code that exchanges memory with other code, without the C structures of DLPack, and its models.

#[path = "../../../../../streamflow/src/memory/foreign/adopt.rs"]
mod adopt;
#[path = "../../../../../streamflow/src/memory/foreign/bound.rs"]
mod bound;
#[path = "../../../../../streamflow/src/memory/foreign/lent.rs"]
mod lent;
#[path = "../../../../../streamflow/src/memory/foreign/reaper.rs"]
mod reaper;
#[path = "../../../../../streamflow/src/memory/foreign/returned.rs"]
mod returned;

pub(crate) mod exchanges;
pub(crate) mod owners;
