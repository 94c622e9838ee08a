//! Schedulers: they decide which node runs next.

mod greedy;

pub use greedy::run;
