//! The library's workers of a run: the state that they share, and models of the protocols by which they sleep and wake
//! each other.

#[path = "../../../../streamflow/src/schedule/event_based/board.rs"]
mod board;
#[path = "../../../../streamflow/src/schedule/event_based/core.rs"]
mod core;
#[path = "../../../../streamflow/src/schedule/event_based/protocol.rs"]
mod protocol;
#[path = "../../../../streamflow/src/message/queue/ring.rs"]
mod ring;

pub(crate) mod protocols;
mod team;
