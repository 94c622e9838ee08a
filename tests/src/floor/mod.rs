//! The task graphs that the benchmark `floor` measures in several forms: the tasks that each task reads, the values that
//! it makes, and the waits of a program that is wired by hand.

mod kernels;
pub mod patterns;
mod plan;
mod tasks;

pub use kernels::{ELEMENTS, absorb, begin, take};
pub use plan::{Plan, SLOTS};
pub use tasks::{Layout, TaskGraph, tag};
