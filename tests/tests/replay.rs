//! Replay, by `#[replay]` on a graph. A replayed graph must compute the same, and each rule of `driver::replay`
//! must be needed.

mod calls;
mod data;
mod devices;
mod ends;
mod library;
mod lost;
mod nodes;
mod scalars;
mod share;
mod threads;

use streamflow_tests::Suite;
use streamflow_tests::forms::Form;

pub(crate) fn suite() -> Suite {
    let replayed = [
        data::add,
        devices::add,
        ends::add,
        library::add,
        lost::add,
        scalars::add,
        share::add,
        threads::add,
        calls::add,
    ];
    let suite = Suite::new().except(Form::Workers, "workers switch replay off", |suite| {
        replayed.into_iter().fold(suite, |suite, add| add(suite))
    });
    ends::add_others(suite)
}
