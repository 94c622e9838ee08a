//! Conditions: statements that must hold, beside messages and room, for a node to run. `#[when(…)]` adds them.
//!
//! Each condition gives a verdict; [`answers`] combines them. [`term`] has the functions of a condition, [`list`] has
//! the conditions of one node, and each other file has one kind of condition. [`make`] makes them for `graph!`.

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
