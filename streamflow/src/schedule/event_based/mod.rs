//! The event-based scheduler: several workers run the nodes of a graph, each node on one worker at a time.
//!
//! | file | content |
//! |---|---|
//! | `core.rs` | the state machine: which node runs next, on which worker, and which worker wakes up |
//! | `board.rs` | the state machine behind a lock, and the signals on which workers sleep |
//! | `team.rs` | the state that the workers share outside of the board |
//! | `protocol.rs` | the order in which a worker calls the board and sleeps; the models execute this file |
//! | `worker.rs` | a worker's thread: obeys commands, looks at nodes, spins, parks |
//! | `poller.rs` | what the poller does for all workers: it checks whether the events that nodes wait for have happened |
//! | `attends.rs` | finds out, when nodes have ended, whether a `flush` is due, an edge gives way or the run is over |
//! | `nap.rs` | hooks that sleep in simulated time |
//! | `collect.rs` | makes a report while the graph runs |
//!
//! Streams, pools and memory are used in the same way as with one thread, because the data carries the order of its uses.

mod attends;
mod board;
mod collect;
mod core;
mod nap;
mod poller;
mod protocol;
mod team;
mod worker;

use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Arc, Mutex};
use std::thread;

use self::board::Board;
use self::core::NodeLinks;
use self::nap::Naps;
use self::team::{Attends, Collection, Ended, Poller, Team};
use super::ends::Ends;
use super::inside;
use super::limit::Limit;
use super::nodes::{Nodes, statuses};
use super::outcome::Outcome;
use super::shared::Shared;
use super::thread_settings::Applied;
use super::workers::Workers;
use crate::context::RunControl;
use crate::driver::race::RaceWatch;
use crate::error::{Error, Result};
use crate::platform::Platform;
use crate::turns::{self, Thread};

/// The parts of a run that has started, which its workers need.
pub(super) struct Parts<'r> {
    pub(super) graph: &'static str,
    pub(super) control: &'r Arc<RunControl>,
    pub(super) platform: &'r Platform,
    pub(super) limit: Limit,
    /// The watch for new races; `None` if the driver has no race checker.
    pub(super) races: Option<&'r mut RaceWatch>,
    pub(super) shared: Option<&'r Shared>,
    pub(super) ends: Option<Box<Ends>>,
}

/// Runs the nodes on workers until the run is over. The calling thread is the first worker. Returns the outcome or the first
/// error, the errors of other workers after the first one, and `parts.ends`.
pub(super) fn run(
    parts: Parts<'_>,
    nodes: Nodes<'_, '_>,
    workers: &Workers,
) -> (Result<Outcome>, Vec<Error>, Option<Box<Ends>>) {
    let Parts { graph, control, platform, limit, races, shared, ends } = parts;
    let names = named(nodes);
    let places = places(nodes, workers.count(), &names);
    let (count, all) = (places.len(), workers.count() + names.len());
    let board = Board::new(places, workers.count(), all, control.signal().clone());
    let board = Arc::new(board);
    let naps = Naps { board: board.clone(), clock: platform.clock().clone() };
    control.set_sleeper(Arc::new(naps));
    let team = Team {
        board,
        nodes: nodes.iter_mut().map(|node| Mutex::new(&mut **node)).collect(),
        control,
        platform,
        limit,
        is_crowded: thread::available_parallelism().is_ok_and(|cores| all > cores.get()),
        poller: Mutex::new(Poller::new(platform, control, count)),
        waiting: Mutex::new((0..count).map(|_| Default::default()).collect()),
        races: races.map(Mutex::new),
        shared,
        attends: Attends::new(ends, count),
        collects: false.into(),
        collection: Mutex::new(Collection::default()),
        ended: Mutex::new(Ended::default()),
    };
    let turn = turns::current();
    let number = turn.as_ref().map_or(0, Thread::new_scope);
    let outer = inside::runs();
    thread::scope(|scope| {
        for worker in 1..all {
            let named = names.get(worker.wrapping_sub(workers.count())).copied();
            let (label, name, settings) = match named {
                Some(name) => (name.to_owned(), name.to_owned(), workers.settings_of(name)),
                None => (worker.to_string(), format!("{graph}-{worker}"), workers.settings(worker)),
            };
            let registration = turn.as_ref().map(|turn| turn.register(number, Location::caller()));
            let (team, outer) = (&team, &outer);
            let body = move || {
                // In an explored test, the thread takes turns until this value is dropped, after all its other values.
                let _participation = registration.map(turns::Registration::begin);
                let _inside = inside::inherit(outer);
                match settings.apply(&label) {
                    Ok(_applied) => team.work(worker),
                    Err(error) => team.fail(error),
                }
            };
            if let Err(error) = thread::Builder::new().name(name).spawn_scoped(scope, body) {
                team.fail(Error::NoThread { graph, cause: error.to_string() });
                break;
            }
            turn.iter().for_each(Thread::spawned);
        }
        team.work(0);
        turn.iter().for_each(|turn| turn.join_scope(number));
    });
    let ended = team.ended.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ends = team.attends.into_inner();
    (ended.first.unwrap_or(Ok(Outcome::Over)), ended.followed, ends)
}

/// Checks that the system permits the workers' settings. Makes the calling thread the first worker, with that worker's settings,
/// until the result is dropped.
///
/// # Errors
/// [`Error::WorkerThread`]; no worker was started.
pub(super) fn first_worker(workers: &Workers, nodes: Nodes<'_, '_>) -> Result<Applied> {
    for index in 1..workers.count() {
        workers.settings(index).probe(&index.to_string())?;
    }
    for name in named(nodes) {
        workers.settings_of(name).probe(name)?;
    }
    workers.settings(0).apply("0")
}

/// Returns the names of workers that nodes name, in the order of the nodes that name them first.
pub(super) fn named(nodes: Nodes<'_, '_>) -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in nodes.iter().filter_map(|node| node.worker()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the connections of each node: the worker that may run it, and its neighbours.
fn places(nodes: Nodes<'_, '_>, shared: usize, names: &[&str]) -> Vec<NodeLinks> {
    let homes = nodes.iter().map(|node| match node.worker() {
        Some(worker) => names.iter().position(|name| *name == worker).map(|index| shared + index),
        None => node.stays().then_some(0),
    });
    let homes: Vec<_> = homes.collect();
    let statuses = statuses(nodes);
    let mut ends: HashMap<usize, [Vec<usize>; 2]> = HashMap::new();
    for (index, node) in statuses.iter().enumerate() {
        for (end, ports) in [&node.outputs, &node.inputs].into_iter().enumerate() {
            for edge in ports.iter().flat_map(|port| &port.edges) {
                ends.entry(edge.id).or_default()[end].push(index);
            }
        }
    }
    let place = |(index, home): (usize, Option<usize>)| {
        let ports = statuses[index].outputs.iter().chain(&statuses[index].inputs);
        let edges = ports.flat_map(|port| &port.edges).filter_map(|edge| ends.get(&edge.id));
        // Consumers come before producers in the list of neighbours, since a node's outputs are listed before its inputs.
        let mut neighbours: Vec<usize> =
            edges.flatten().flatten().copied().filter(|other| *other != index).collect();
        let mut seen = std::collections::HashSet::new();
        neighbours.retain(|node| seen.insert(*node));
        NodeLinks { home, neighbours: neighbours.into() }
    };
    homes.into_iter().enumerate().map(place).collect()
}
