//! Prints a graph as code.

use std::fmt::Write;

use streamflow::message::QueuePolicy;

use super::build::edge_name;
use super::plan::{Kind, NodePlan, Plan, Policies, When};

/// Returns the text of the graph in the syntax of `graph!`, with the operators of `random_ends/operators.rs`.
pub(crate) fn print(plan: &Plan) -> String {
    let mut text = String::new();
    for graph in &plan.graphs {
        let _ = writeln!(
            text,
            "// A graph inside has the nodes n{} to n{}.",
            graph.start,
            graph.end - 1
        );
    }
    text.push_str("graph! {\n    struct Ends() {\n");
    for (index, node) in plan.nodes.iter().enumerate() {
        let _ =
            writeln!(text, "        {}let n{index}: {};{}", when(node), operator(node), does(node));
    }
    for (index, edge) in plan.edges.iter().enumerate() {
        let policy = match edge.policy {
            QueuePolicy::Pop => "#[policy(pop)] ",
            QueuePolicy::Reject => "#[policy(reject)] ",
            QueuePolicy::Fault => "#[policy(fault)] ",
            _ => "",
        };
        let feedback = if edge.is_feedback() { "#[feedback(initial = 0)] " } else { "" };
        let (out, input) = (["x", "y"][edge.out], edge.port.name());
        let _ = writeln!(
            text,
            "        #[capacity({})] {policy}{feedback}n{}.{out} >> n{}.{input}; // {}",
            edge.capacity,
            edge.from,
            edge.to,
            edge_name(index)
        );
    }
    text + "    }\n}"
}

fn operator(node: &NodePlan) -> &'static str {
    match node.kind {
        Kind::Source => "Source",
        Kind::One => "One",
        Kind::Hold => "Hold",
        Kind::Two => "Two",
        Kind::Merge => "Merge",
    }
}

fn when(node: &NodePlan) -> String {
    let count = node.count.map(|count| format!("count({count})"));
    let other = node.when.map(|when| match when {
        When::Available(n) => format!("message_available(a, {n})"),
        When::Room => "room(x)".to_owned(),
        When::Credits(n) => format!("asynchronous(closed after {n})"),
        When::Periodic => "periodic(1ms)".to_owned(),
        When::SameSequence => "same_sequence([a, b])".to_owned(),
    });
    let all: Vec<_> = count.into_iter().chain(other).collect();
    let when = if all.is_empty() { String::new() } else { format!("#[when({})] ", all.join(", ")) };
    let on_failure = match node.on_failure {
        Policies::Stop => "",
        Policies::Skip => "#[on_failure(skip)] ",
        Policies::Restart => "#[on_failure(restart(9, 0s))] ",
    };
    when + on_failure
}

/// Returns a text with the unusual things that the operator does.
fn does(node: &NodePlan) -> String {
    let NodePlan { kind, every: [x, y], takes, finish, stops, fails, holds, slow, .. } = node;
    let mut does = Vec::new();
    if (*x, *y) != (1, 1) {
        does.push(format!("emits x in each {x}. and y in each {y}. tick"));
    }
    if *takes > 1 {
        does.push(format!("takes b in each {takes}. tick and else leaves it"));
    }
    if *kind == Kind::Hold {
        does.push(format!("holds {holds} messages for x back"));
    }
    does.extend(finish.map(|tick| format!("finishes in its {tick}. tick")));
    does.extend(stops.map(|tick| format!("stops the graph in its {tick}. tick")));
    does.extend(fails.map(|(tick, how)| format!("fails in its {tick}. tick, {how:?}")));
    if *slow > 0 {
        does.push(format!("yields {slow} times"));
    }
    if does.is_empty() { String::new() } else { format!(" // {}", does.join(", ")) }
}
