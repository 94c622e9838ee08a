//! Runs of a graph: the report of a run ([`Report`]), runs on a thread of their own ([`Spawn`](crate::Spawn),
//! [`Running`]), and the handle of a run for other threads ([`RunHandle`]). The guide's page on
//! [running a graph](crate::guide::running_a_graph) compares the methods that run a graph.
//!
//! A scheduler decides which node runs next. The graph's methods `run`, `run_for`, `tick` and `end_run` call a scheduler. There
//! are two schedulers:
//!
//! - The greedy scheduler runs all nodes on one thread, in their static order.
//! - The event-based one has workers, set by [`Schedule`](crate::Schedule) and [`Workers`]: a slow node delays no other
//!   node. The guide's page on [workers and threads](crate::guide::threads) explains the differences.

mod asleep;
pub(crate) mod calls;
pub(crate) mod choice;
#[cfg(feature = "futures")]
mod ended;
mod ends;
mod event_based;
mod following;
mod greedy;
mod handle;
mod idle;
mod inside;
mod limit;
mod nodes;
mod outcome;
mod owner;
mod replay;
mod report;
mod run;
pub(crate) mod running;
mod shared;
#[cfg(feature = "ctrlc")]
mod signals;
mod stall;
mod statistics;
#[cfg(test)]
mod tests;
mod thread;
mod thread_settings;
mod times;
mod work;
mod workers;

pub use calls::Stepped;
pub use handle::RunHandle;
pub use limit::RunFor;
pub use report::{
    DropReason, Dropped, EdgeReport, End, Mixed, NodeReport, PathReport, Report, StoppedBy,
};
pub use running::Running;
pub use shared::{NodeState, RunStatus};
pub use thread_settings::Priority;
pub use workers::{Worker, Workers};

pub use crate::context::{activity::Activity, control::RunPhase};
pub use crate::operator::histogram::Summary;
