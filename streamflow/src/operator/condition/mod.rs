//! Conditions: statements that must hold before a node may run, in addition to messages at its inputs and room at its outputs.
//! `#[when(…)]` adds them.
//!
//! Each condition returns a verdict, and [`answers`] combines the verdicts. [`term`] has the trait of conditions, [`list`] the
//! conditions of one node, and [`make`] the functions that `graph!` calls to make them. Each other file has one kind of
//! condition.

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
