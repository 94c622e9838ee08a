//! Schedulers: who runs when.

mod greedy;

pub use greedy::run;
