//! Conditions: what must hold, beside messages and room, for a node to run. `#[when(…)]` adds them.
//!
//! Each condition gives one of four answers; [`answers`] combines them. [`term`] is what a condition has to do,
//! [`list`] has the conditions of one node, and the other files have one kind each. [`make`] makes them for `graph!`.

mod answers;
mod handles;
mod list;
pub mod make;
mod memory;
mod messages;
mod own;
mod periodic;
mod room;
mod same_sequence;
mod streams;
mod term;

pub use handles::{AsyncHandle, BooleanHandle};
pub use list::Conditions;
pub use own::{Answer, Condition};
pub use periodic::CatchUp;
pub(super) use term::NodePorts;
