//! The code that streamflow's tests share.
//!
//! [`Suite`] runs one body on both platforms, in the [`forms`] of the environment, and [`child`] runs one in a separate
//! process. [`setup`] makes streams, data and recorded platforms. [`layers`] are drivers that are wrong on purpose.
//! [`kernels`] are slow, broken or generic. [`allocations`] counts heap allocations, [`logged`](fn@logged) collects log
//! lines, and [`wakers`] call the test. [`each_order`] runs a graph in each order, and [`greedy`] is for tests of the
//! order on one thread. [`floor`] has the task graphs of the benchmark of that name. [`relays`] are operators on
//! numbers, [`tensors`] and [`flags`] on device data and on its copies. [`cudss`] is for tests of a library that a
//! machine with a GPU may lack. [`built`] is a graph that is built at run time, and [`borders`] has the ports of graphs in it. [`border`] has programs that exchange
//! memory and streams with cudarc. [`kernels_without_warnings`] compiles the kernels of a program.

pub mod allocations;
pub mod border;
pub mod borders;
pub mod built;
mod checks;
pub mod child;
pub mod cudss;
pub mod each_order;
pub mod flags;
pub mod floor;
pub mod foreign;
pub mod forms;
pub mod frames;
pub mod graph_runs;
pub mod greedy;
mod harness;
pub mod kernels;
pub mod layers;
pub mod libraries;
mod logged;
pub mod numbers;
pub mod operators;
pub mod ordered;
pub mod plans;
pub mod races;
pub mod random;
pub mod relays;
mod search;
mod seeds;
pub mod seen;
pub mod setup;
pub mod soak;
mod started;
pub mod stereo;
pub mod tensors;
mod tier;
pub mod wakers;
mod warnings;

pub use checks::{
    Failed, check, check_close, check_equal, check_error, check_races, check_text, stalled,
};
pub use harness::{Binary, Suite};
pub use logged::{EachLine, logged};
pub use search::Search;
pub use seeds::from_env as seeds_from_env;
pub use tier::Tier;
pub use warnings::kernels_without_warnings;
