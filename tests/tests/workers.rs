//! Graphs on several workers. A slow branch delays no other node, nodes stay on their workers, and a seed repeats
//! a run.

mod attacks;
mod places;
mod polling;
mod priorities;
mod replay;
mod shared_memory;
mod slow_branch;

use streamflow_tests::Suite;

pub(crate) fn suite() -> Suite {
    let suite = slow_branch::add_to(Suite::new());
    let suite = polling::add_to(replay::add_to(places::add_to(suite)));
    priorities::add_to(attacks::add_to(shared_memory::add_to(suite)))
}
