//! Each driver call of the seed's application, of `edges`, of a graph that calls a library and of one that is replayed fails in
//! turn, with each error that CUDA documents for it.
//!
//! A trial runs one program while one call fails: on a new platform, in `new`, in `run`, and in each drop. Then it runs
//! the same program and a new one without a fault. A trial is explained if exactly one error is reported, with the
//! names of the call, of the error and, from a hook, of the node; if everything was given back, except the object that
//! the failed call was to give back; and if the programs afterwards have the right data, or, after a sticky error, are
//! refused. On the simulator the race checker runs, and each call fails without it as well. A watchdog ends the process
//! when a trial hangs.
//!
//! `STREAMFLOW_FAULTS=table` prints the fault table, and `STREAMFLOW_FAULTS=all` makes each call fail with each error, and
//! prints it as well. `STREAMFLOW_FAULTS=few` makes the first call of each kind fail in two ways, for slow tools.

mod base;
mod by_library;
mod controls;
pub(crate) mod log;
mod plan;
mod replayed;
mod reports;
mod shows;
mod table;
mod trial;
mod watchdog;
mod world;

use std::collections::BTreeSet;
use std::{env, io::Write};

use streamflow_tests::forms::Form;
use streamflow_tests::{Failed, Suite, Tier, check};

use base::{Base, Way};
use plan::{Extent, Seen};
use table::Table;
use trial::Trial;
use watchdog::Watchdog;
use world::World;

/// Runs the role of a child process.
pub(crate) fn in_child(_: &str) -> Result<(), Failed> {
    controls::hang()
}

pub(crate) fn suite() -> Suite {
    let suite = World::ALL.into_iter().fold(Suite::new(), |suite, world| {
        let name = format!("each_call_of_{}_fails_with_each_documented_error", world.name());
        suite
            .plain(&format!("{name}::host"), move || on_host(world))
            .cuda(&name, move |_| on_cuda(world))
    });
    controls::add(suite)
}

const HOSTS: [Base; 4] = [
    Base::Host(Way::Eager),
    Base::Host(Way::Sleeps),
    Base::Host(Way::KeepsNothing),
    Base::Host(Way::Unwatched),
];

fn on_host(world: World) -> Result<(), Failed> {
    conclude(world, "host", &HOSTS)
}

fn on_cuda(world: World) -> Result<(), Failed> {
    conclude(world, "cuda", &[Base::Cuda])
}

/// The driver calls that are made for a CUDA graph, in place of the calls of a replayed pass.
const OF_GRAPHS: [&str; 4] = ["create_graph", "launch_graph", "set_graph_kernel", "destroy_graph"];

/// Returns the setting of `STREAMFLOW_FAULTS`: how many trials are made, and whether the whole table is printed.
fn wish() -> Result<(Extent, bool), Failed> {
    match env::var("STREAMFLOW_FAULTS").unwrap_or_default().as_str() {
        "" => {
            Ok((if Tier::from_env()? == Tier::Full { Extent::Kinds } else { Extent::Few }, false))
        }
        "table" => Ok((Extent::Kinds, true)),
        "all" => Ok((Extent::All, true)),
        "few" => Ok((Extent::Few, false)),
        other => Err(Failed::msg(format!("STREAMFLOW_FAULTS is {other}; write table, all or few"))),
    }
}

/// Makes all trials of a program, prints the table, and fails if a trial is not explained.
fn conclude(world: World, platform: &str, bases: &[Base]) -> Result<(), Failed> {
    let (extent, prints_table) = wish()?;
    let (mut table, mut seen, mut made) = (Table::default(), Seen::new(), BTreeSet::new());
    let watchdog = Watchdog::new();
    for (seed, base) in (0..).zip(bases) {
        let what = format!("{}, {base:?}", world.name());
        watchdog.begin(format!("{what}: without a fault"));
        let clean = trial::clean(*base, world).map_err(Failed::msg)?;
        made.extend(clean.calls.iter().map(|(_, call, _)| *call));
        for (target, fault) in plan::plan(&clean, seed, extent, &mut seen) {
            watchdog.begin(format!("{what}: {target}: {fault}"));
            let trial = Trial {
                base: *base,
                world,
                fault: Some((target.clone(), fault)),
                above: |driver| driver,
                expected: &clean.results,
            };
            table.add(&target, fault, &what, trial.run());
        }
    }
    let text = if prints_table { table.to_string() } else { table.summary() };
    writeln!(std::io::stdout(), "{} on {platform}: {text}", world.name())?;
    let is_replayed = world == World::Replayed && !Form::Workers.is_set();
    let missing = OF_GRAPHS.iter().find(|call| is_replayed && !made.contains(*call));
    check(missing.is_none(), || format!("nothing is replayed: `{missing:?}` is not called"))?;
    // With workers, a place does not have the same calls in each run, so some trials don't reach their call.
    check(table.reached() * 2 > table.trials, || format!("few calls were made: {text}"))?;
    check(table.unexplained == 0, || {
        let Table { trials, unexplained, first, .. } = &table;
        format!("{unexplained} of {trials} trials are not explained:\n{}", first.join("\n"))
    })
}
