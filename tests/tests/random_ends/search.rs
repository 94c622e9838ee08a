//! Runs graphs until one fails.

use std::time::{Duration, Instant};

use streamflow::message::QueuePolicy;
use streamflow_tests::{Failed, Search, Tier};

use super::code;
use super::draw::draw;
use super::judge::{fault, ways};
use super::plan::{EdgePlan, Fails, Kind, NodePlan, Plan, Policies, Port, When};
use super::shrink::shrink;

/// The prefix of the environment variables that select the search.
const NAME: &str = "STREAMFLOW_ENDS";

/// How many graphs run.
const COUNT: u64 = 200;

/// The seed of a graph in which one worker checks which nodes have ended, while another looks at a source without an end.
const TWO_ASK: u64 = 2307;

/// How often a graph that is selected by its seed is run in each way.
const REPEATS: u64 = 200;

/// The time limit for shrinking a graph.
const SHRINK_TIME: Duration = Duration::from_secs(30);

#[allow(clippy::print_stdout, reason = "prints the graph that is selected by its seed")]
pub(crate) fn random() -> Result<(), Failed> {
    let begun = Instant::now();
    let search = Search::from_env(NAME, COUNT)?;
    if let Search::One(seed) = search {
        println!("{}", code::print(&draw(seed)));
        return (0..REPEATS).try_for_each(|nth| check(seed, nth, &draw(seed)));
    }
    let mut graphs = 0;
    for seed in search.seeds() {
        check(seed, 0, &draw(seed))?;
        graphs += 1;
    }
    print_total(graphs, begun);
    Ok(())
}

#[allow(clippy::print_stdout, reason = "prints the number of graphs")]
fn print_total(graphs: u64, begun: Instant) {
    println!("{graphs} random graphs in {:.1?}", begun.elapsed());
}

fn check(seed: u64, nth: u64, plan: &Plan) -> Result<(), Failed> {
    let Some(first) = fault(plan, &ways(seed, nth)) else { return Ok(()) };
    // Threads that run freely may need several runs to show a fault.
    let fails = |plan: &Plan| (nth..nth + 10).find_map(|nth| fault(plan, &ways(seed, nth)));
    let (least, text) = shrink(plan.clone(), first.clone(), SHRINK_TIME, fails);
    Err(Failed::msg(format!(
        "graph {seed} fails: {first}\nreproduce it with: {NAME}_SEED={seed}\n\n{}\n\nA smaller one fails: {text}\n\n{}",
        code::print(plan),
        code::print(&least)
    )))
}

/// Runs kinds of graphs whose end once depended on the speed of threads.
pub(crate) fn known() -> Result<(), Failed> {
    let plans = [
        beside_a_counted_one(),
        from_one_source(),
        behind_a_lossy_edge(),
        beside_a_condition(),
        beside_one_that_finishes(),
        around_an_optional_input(),
        beside_room_that_is_up_to_timing(),
        for_nobody(),
        failing_before_it_receives(),
    ];
    let orders = Tier::from_env()?.cases(24);
    for (seed, plan) in plans.into_iter().enumerate() {
        (0..orders).try_for_each(|nth| check(seed as u64, nth, &plan))?;
    }
    // In this graph, two workers once checked in turn which nodes had ended, for ever.
    check(TWO_ASK, 0, &draw(TWO_ASK))
}

fn node(kind: Kind, count: Option<u64>, slow: u8) -> NodePlan {
    NodePlan {
        kind,
        count,
        every: [1, 1],
        takes: 1,
        finish: None,
        stops: None,
        fails: None,
        on_failure: Policies::Stop,
        holds: 0,
        slow,
        when: None,
    }
}

fn edge(from: usize, out: usize, to: usize, port: Port) -> EdgePlan {
    EdgePlan { from, out, to, port, capacity: 1, policy: QueuePolicy::BackPressure }
}

/// When `n0` is done, `n1` has ticks left, unless it was fast.
fn beside_a_counted_one() -> Plan {
    let source = |count, slow| node(Kind::Source, Some(count), slow);
    Plan {
        nodes: vec![source(3, 0), source(5, 3), node(Kind::One, None, 0), node(Kind::One, None, 0)],
        edges: vec![edge(0, 0, 2, Port::A), edge(1, 0, 2, Port::O), edge(1, 1, 3, Port::A)],
        graphs: Vec::new(),
    }
}

/// If `n1` is slow, `n0` waits for `n1`, `n1` waits for `n2`, and `n2` waits for `n0`.
fn from_one_source() -> Plan {
    let nodes =
        vec![node(Kind::Source, Some(10), 0), node(Kind::One, None, 10), node(Kind::One, None, 0)];
    let edges = vec![edge(0, 1, 1, Port::A), edge(1, 0, 2, Port::O), edge(0, 0, 2, Port::A)];
    Plan { nodes, edges, graphs: Vec::new() }
}

/// A condition waits for the message of `n0`. The message of `n1` arrives in time for that tick, or is left in its queue.
fn beside_a_condition() -> Plan {
    let mut nodes =
        vec![node(Kind::Source, Some(1), 0), node(Kind::One, None, 1), node(Kind::One, None, 0)];
    nodes[2].when = Some(When::Available(1));
    let edges = vec![edge(0, 0, 1, Port::A), edge(0, 1, 2, Port::A), edge(1, 0, 2, Port::O)];
    Plan { nodes, edges, graphs: Vec::new() }
}

/// When `n1` has finished, `n0` waits for room on the edge to it. If a `flush` of `n1` made room, `n0` could send to
/// `n2`, which is flushed as well.
fn beside_one_that_finishes() -> Plan {
    let mut nodes =
        vec![node(Kind::Source, Some(3), 0), node(Kind::Hold, None, 0), node(Kind::Hold, None, 1)];
    nodes[1].holds = 1;
    nodes[1].finish = Some(1);
    nodes[2].holds = 1;
    Plan { nodes, edges: vec![edge(0, 0, 1, Port::A), edge(0, 1, 2, Port::A)], graphs: Vec::new() }
}

/// The messages that `n1` flushes wait for room at `n3`, which waits for the messages that `n2` flushes. `n1` also sends
/// to an optional input of `n2`.
fn around_an_optional_input() -> Plan {
    let mut nodes = vec![
        node(Kind::Source, Some(7), 0),
        node(Kind::Hold, None, 3),
        node(Kind::Hold, None, 10),
        node(Kind::Two, None, 0),
    ];
    nodes[1].holds = 3;
    nodes[2].holds = 4;
    let edges = vec![
        edge(0, 0, 1, Port::A),
        edge(0, 0, 2, Port::A),
        edge(1, 1, 2, Port::O),
        edge(2, 0, 3, Port::A),
        edge(1, 0, 3, Port::B),
    ];
    Plan { nodes, edges, graphs: Vec::new() }
}

/// Timing decides whether the edge from `n2` to the optional input gives way or is full at the end. The error names the
/// other edge.
fn beside_room_that_is_up_to_timing() -> Plan {
    let mut nodes = vec![
        node(Kind::Source, Some(5), 0),
        node(Kind::Source, Some(1), 0),
        node(Kind::One, None, 10),
        node(Kind::One, None, 0),
        node(Kind::Two, None, 0),
    ];
    nodes[2].when = Some(When::Room);
    let edges = vec![
        edge(0, 0, 2, Port::A),
        edge(1, 0, 3, Port::A),
        edge(2, 0, 3, Port::O),
        edge(1, 0, 4, Port::A),
        edge(2, 0, 4, Port::B),
    ];
    Plan { nodes, edges, graphs: Vec::new() }
}

/// `n0` has no end, `n2` ends, and `n3` lacks messages of `n1`.
fn for_nobody() -> Plan {
    let mut nodes = vec![
        node(Kind::Source, None, 0),
        node(Kind::Source, Some(3), 1),
        node(Kind::One, None, 1),
        node(Kind::Two, None, 0),
    ];
    nodes[2].when = Some(When::Credits(2));
    let lossy = |policy, to, port| EdgePlan { policy, ..edge(0, 0, to, port) };
    let edges = vec![lossy(QueuePolicy::Pop, 2, Port::A), lossy(QueuePolicy::Reject, 3, Port::A)];
    Plan { nodes, edges: [edges, vec![edge(1, 0, 3, Port::B)]].concat(), graphs: Vec::new() }
}

/// `n2` fails in the tick of its last message, before it has received that message. `n0` may run after that.
fn failing_before_it_receives() -> Plan {
    let source = |count| node(Kind::Source, Some(count), 0);
    let mut merge = node(Kind::Merge, None, 0);
    merge.fails = Some((4, Fails::Early));
    merge.on_failure = Policies::Skip;
    Plan {
        nodes: vec![source(1), source(4), merge],
        edges: vec![edge(1, 1, 2, Port::O)],
        graphs: Vec::new(),
    }
}

/// How many messages of `n0` come to `n2` is up to timing, and so is how many of `n1` it takes.
fn behind_a_lossy_edge() -> Plan {
    let nodes = vec![
        node(Kind::Source, Some(9), 0),
        node(Kind::Source, Some(4), 1),
        node(Kind::Two, None, 3),
        node(Kind::One, None, 0),
    ];
    let lossy = EdgePlan { policy: QueuePolicy::Pop, ..edge(0, 0, 2, Port::A) };
    Plan {
        nodes,
        edges: vec![lossy, edge(1, 0, 2, Port::B), edge(1, 1, 3, Port::A)],
        graphs: Vec::new(),
    }
}
