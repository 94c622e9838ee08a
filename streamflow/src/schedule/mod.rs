//! Runs of a graph: how one ends and what it did ([`Report`]), runs on a thread of their own ([`Spawn`], [`Running`]),
//! and what other threads see of a run ([`RunHandle`]). The guide's page on
//! [running a graph](crate::guide::running_a_graph) compares the methods that run a graph.
//!
//! The scheduler decides which node runs next. The graph's methods `run`, `run_for`, `tick` and `end_run` are its entries.

mod asleep;
mod calls;
#[cfg(feature = "ctrlc")]
mod ctrl_c;
mod greedy;
mod handle;
mod idle;
mod limit;
mod nodes;
mod owner;
mod report;
mod run;
mod running;
mod shared;
mod stall;
mod statistics;
#[cfg(test)]
mod tests;
mod thread;
mod times;

pub use calls::Stepped;
#[doc(hidden)]
pub use calls::{end_run, run, run_for, tick};
pub use handle::RunHandle;
pub use limit::RunFor;
pub use report::{DropReason, Dropped, End, NodeReport, PathReport, Report, StoppedBy};
pub use running::{Running, Spawn};
pub use shared::{NodeState, RunStatus};

pub use crate::context::{Activity, RunPhase};
pub use crate::operator::Summary;
