//! Schedulers: they decide which node runs next.

mod greedy;
mod idle;
mod report;
mod stall;

pub use greedy::run;
pub use report::{DropReason, Dropped, End, NodeReport, Report};
