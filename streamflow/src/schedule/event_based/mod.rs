//! The event-based scheduler: several workers run the nodes of a graph, each node on one worker at a time.
//!
//! | file | content |
//! |---|---|
//! | `core.rs` | the state machine: which node, on which worker, who wakes up |
//! | `board.rs` | the state machine behind a lock, with the signals that workers sleep on |
//! | `team.rs` | the state that the workers share outside of the board |
//! | `protocol.rs` | the order in which workers ask the board and sleep; the models execute this file |
//! | `worker.rs` | a worker's thread: commands, looks, spinning, parking |
//! | `poller.rs` | the work of one idle worker for all: it checks whether the events that nodes wait for have happened |
//! | `attends.rs` | finds out, when nodes have ended, whether a `flush` is due, an edge gives way or the run is over |
//! | `nap.rs` | hooks that sleep in simulated time |
//! | `collect.rs` | a report while the graph runs |
//!
//! Streams, pools and memory are used as with one thread: the data carries the order of their uses.

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

/// A run that has started, for its workers.
pub(super) struct Parts<'r> {
    pub(super) graph: &'static str,
    pub(super) control: &'r Arc<RunControl>,
    pub(super) platform: &'r Platform,
    pub(super) limit: Limit,
    /// `None` if the driver is not watched for races.
    pub(super) races: Option<&'r mut RaceWatch>,
    pub(super) shared: Option<&'r Shared>,
    pub(super) ends: Option<Box<Ends>>,
}

/// Runs the nodes until the run is over. The calling thread is the first worker. Also returns the errors that other
/// workers met after the first error, and `parts.ends`.
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
                // In an explored test the thread takes turns until all its values are dropped.
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

/// Checks that the system permits the workers' settings, and makes the calling thread the first worker until the result
/// is dropped.
///
/// # Errors
/// [`Error::WorkerThread`]; nothing was started.
pub(super) fn first_worker(workers: &Workers, nodes: Nodes<'_, '_>) -> Result<Applied> {
    for index in 1..workers.count() {
        workers.settings(index).probe(&index.to_string())?;
    }
    for name in named(nodes) {
        workers.settings_of(name).probe(name)?;
    }
    workers.settings(0).apply("0")
}

/// The workers that nodes name, in the order of their first nodes.
pub(super) fn named(nodes: Nodes<'_, '_>) -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in nodes.iter().filter_map(|node| node.worker()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The place of each node: the worker that runs it, and its neighbours.
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
        // Consumers first: the list is in the order of the ports, outputs before inputs.
        let mut neighbours: Vec<usize> =
            edges.flatten().flatten().copied().filter(|other| *other != index).collect();
        let mut seen = std::collections::HashSet::new();
        neighbours.retain(|node| seen.insert(*node));
        NodeLinks { home, neighbours: neighbours.into() }
    };
    homes.into_iter().enumerate().map(place).collect()
}
