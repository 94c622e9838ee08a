//! Graphs of graphs and of arrays, compared with their flat twins: the graphs of the same nodes and edges that are built by
//! hand. Both have the same plan of streams and waits, and make the same calls of the driver, in the same order.

use streamflow::prelude::*;
use streamflow::schedule::Report;
use streamflow_tests::random::Random;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Tier, check, check_equal};

use super::build::first_stream;
use super::code::port_name;
use super::generate::nested;
use super::nested::{Made, made};
use super::plan::{Flow, Kind, Shape};

/// How many graphs are compared.
const COUNT: u64 = 120;

/// The numbers of sets of planned streams. With 0, the program plans none.
const DEPTHS: [u32; 3] = [0, 1, 2];

/// Calls `check` with each graph and its flat twin.
fn each(check: impl Fn(&Flow, &Flow, Shape) -> Result<(), Failed>) -> Result<(), Failed> {
    let mut seen = Vec::new();
    for seed in 0..Tier::from_env()?.cases(COUNT) {
        let drawn = nested(&mut Random::new(seed));
        let Some(shape) = drawn.shape else { continue };
        seen.push(shape);
        for depth in DEPTHS {
            let flow = Flow { workers: 0, depth, ..drawn.clone() };
            let flat = Flow { shape: None, ..flow.clone() };
            let named = |failed| Failed::msg(format!("graph {seed}, {shape:?}, {depth}: {failed}"));
            check(&flow, &flat, shape).map_err(named)?;
        }
    }
    let missing: Vec<_> = Shape::EACH.iter().filter(|shape| !seen.contains(shape)).collect();
    check_equal(missing.len(), 0)
}

/// Calls `look` with the graph.
fn with<T>(
    flow: &Flow,
    platform: &Platform,
    look: impl FnOnce(&mut (dyn Made + 'static)) -> Result<T, Error>,
) -> Result<T, Failed> {
    let on = first_stream(platform)?;
    Ok(look(&mut *made(flow, platform, &on)?)?)
}

/// Returns a text with the paths of nodes in place of their names in the flat twin.
fn with_paths(text: &str, shape: Shape) -> String {
    let nodes = shape.nodes().into_iter().enumerate();
    nodes.fold(text.to_owned(), |text, (index, (path, ..))| {
        let name = format!("n{index}");
        let (as_label, as_stream) = (format!("\"{name}: "), format!("{name}."));
        let text = text.replace(&as_label, &format!("\"{path}: "));
        text.replace(&as_stream, &format!("{path}."))
    })
}

/// Compares the plans, and the names of the nodes and edges with those of the list of the shape.
pub(crate) fn are_the_same() -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    each(|flow, flat, shape| {
        let picture = with(flow, &platform, <dyn Made>::picture)?;
        check_equal(&*picture, &*with_paths(&with(flat, &platform, <dyn Made>::picture)?, shape))?;
        let report = with(flow, &platform, <dyn Made>::run)?;
        let names: Vec<_> = report.nodes.iter().map(|node| &*node.name).collect();
        let nodes = shape.nodes().into_iter().map(|(path, ..)| path);
        check_equal(names, ["clock"].into_iter().chain(nodes).collect())?;
        check_equal(edges(&report), wanted_edges(flow, shape))
    })
}

fn edges(report: &Report) -> Vec<String> {
    let mut edges: Vec<_> = report.edges.iter().map(|edge| edge.edge.to_owned()).collect();
    edges.sort_unstable();
    edges
}

fn wanted_edges(flow: &Flow, shape: Shape) -> Vec<String> {
    let nodes = shape.nodes();
    let mut edges: Vec<_> = flow
        .wiring()
        .into_iter()
        .map(|(edge, _)| {
            let (from, to) = (nodes[edge.from].0, nodes[edge.to].0);
            let output = if edge.shared { "passed" } else { "out" };
            format!("{from}.{output} >> {to}.{}", port_name(edge.port))
        })
        .collect();
    let work = nodes.iter().filter(|(_, kind, ..)| *kind == Kind::Work);
    edges.extend(work.map(|(path, ..)| format!("clock.tick >> {path}.clock")));
    edges.sort_unstable();
    edges
}

/// Compares the calls of the driver.
pub(crate) fn have_the_same_calls() -> Result<(), Failed> {
    each(|flow, flat, shape| {
        let nested = calls(flow)?;
        check(nested.len() > 20, || format!("too few calls to compare: {nested:?}"))?;
        let flat: Vec<_> = calls(flat)?.iter().map(|call| with_paths(call, shape)).collect();
        let differ = nested.iter().zip(&flat).position(|(a, b)| a != b);
        check(differ.is_none() && nested.len() == flat.len(), || {
            let at = differ.unwrap_or(nested.len().min(flat.len()));
            let (nested, flat) = (nested.get(at), flat.get(at));
            format!("call {at} is {nested:?}, and {flat:?} in the flat twin")
        })
    })
}

/// Returns the calls of the driver that a run makes.
fn calls(flow: &Flow) -> Result<Vec<String>, Failed> {
    let host = Platform::host().seed(5).build()?;
    let (recorder, platform) = recorded(host.driver().clone())?;
    with(flow, &platform, <dyn Made>::run)?;
    Ok(recorder.text().lines().map(str::to_owned).collect())
}
