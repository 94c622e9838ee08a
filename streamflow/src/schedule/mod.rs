//! Schedulers: they decide which node runs next.

mod greedy;
mod idle;
mod report;
mod stall;
mod statistics;
mod times;

pub use crate::operator::Summary;
pub use greedy::run;
pub use report::{DropReason, Dropped, End, NodeReport, PathReport, Report};
