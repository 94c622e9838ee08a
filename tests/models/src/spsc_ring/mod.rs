//! The ring of slots between one writer and one reader, and its models.

pub(crate) mod models;
#[path = "../../../../streamflow/src/message/queue/ring.rs"]
mod ring;
