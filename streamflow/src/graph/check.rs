//! Law 6: A graph that fits together.
//!
//! The checks that `graph!` makes while compiling, in constants. The macro knows the names of nodes and ports; the constants of
//! their types have all other facts.
//!
//! Each check is a `#[track_caller] const fn` that `graph!` calls at a token of the user's code, so that rustc shows the error
//! text at that place. `streamflow-macros/src/graph/expand/assertions.rs` writes the calls.

use crate::error::const_text::Text;
use crate::error::{Error, Result};
use crate::port::{PortInfo, PortSize};
use crate::stream::{CudaGreenContextPool, CudaStreamPool};

pub(super) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Checks that the input of a condition `host_done` receives messages that may have downloads.
#[track_caller]
pub const fn check_host_done(node: &str, inputs: &[PortInfo], port: &str) {
    let mut i = 0;
    while i < inputs.len() {
        if same(inputs[i].name, port) && !inputs[i].downloads {
            Text::new()
                .add("`host_done` waits for downloads, but input `")
                .add(node)
                .add(".")
                .add(port)
                .add("` receives `")
                .add(inputs[i].ty)
                .add("`, which has none; remove the condition")
                .add(if inputs[i].device {
                    ", or wait for device data with `stream_done`"
                } else {
                    ""
                })
                .fail()
        }
        i += 1;
    }
}

/// Checks that a second edge may lead to an input. `input` is the text `node.input`, and `other` is the output at which the first
/// edge begins.
#[track_caller]
pub const fn check_second(input: &str, inputs: &[PortInfo], port: &str, other: &str) {
    if takes_one(inputs, port) {
        Text::new()
            .add("input `")
            .add(input)
            .add("` already has a producer, `")
            .add(other)
            .add("`; it takes exactly one edge, because it is not `#[input(many)]`")
            .fail()
    }
}

/// Whether an input takes exactly one edge.
pub(super) const fn takes_one(inputs: &[PortInfo], port: &str) -> bool {
    let mut i = 0;
    while i < inputs.len() {
        if same(inputs[i].name, port) {
            return matches!(inputs[i].size, PortSize::One);
        }
        i += 1;
    }
    false
}

/// Checks that an input inside of a graph has the options of the graph's input that leads to it. An `#[input(many)]` that `has_others`,
/// edges inside, may be without those from outside. `own` is the name
/// of the graph's input, whether it is `many`, and whether it is `optional`; `inner` is the text `node.input`.
#[track_caller]
pub const fn check_border(
    (own, many, optional): (&str, bool, bool),
    has_others: bool,
    inner: &str,
    inputs: &[PortInfo],
    port: &str,
) {
    let mut i = 0;
    while i < inputs.len() {
        let input = &inputs[i];
        let text = Text::new().add("input `").add(own).add("` of this graph is `");
        if same(input.name, port) && many && !matches!(input.size, PortSize::Many) {
            let text = text.add("many`, and input `").add(inner).add("` is not `#[input(many)]`");
            text.add("; declare both so, or none").fail()
        }
        let has_others = has_others && matches!(input.size, PortSize::Many);
        if same(input.name, port) && optional && !input.optional && !has_others {
            let text = text.add("optional`, and input `").add(inner);
            text.add("` is not `#[input(optional)]`; declare both so, or none").fail()
        }
        i += 1;
    }
}

/// Checks that each input with `size = n` has exactly `n` edges. `producers` has the inputs to which edges lead, each with the
/// number of its edges.
#[track_caller]
pub const fn check_sizes(node: &str, inputs: &[PortInfo], producers: &[(&str, usize)]) {
    let mut i = 0;
    while i < inputs.len() {
        let (input, mut j) = (&inputs[i], 0);
        while j < producers.len() {
            let (port, found) = producers[j];
            if let PortSize::Exactly(size) = input.size
                && same(input.name, port)
                && found != size
            {
                Text::new()
                    .add("input `")
                    .add(node)
                    .add(".")
                    .add(port)
                    .add("` takes ")
                    .add_number(size)
                    .add(if size == 1 { " edge" } else { " edges" })
                    .add(", but has ")
                    .add_number(found)
                    .add("; connect as many, or declare it `#[input(many)]`")
                    .fail()
            }
            j += 1;
        }
        i += 1;
    }
}

/// Checks that a pool may have as many streams as the operators of its nodes declare. `needed` has the names of these nodes, each
/// with its number of streams.
#[track_caller]
pub const fn check_pool(pool: &str, description: &CudaStreamPool, needed: &[(&str, usize)]) {
    if let Some(problem) = pool_problem(pool, description, needed) {
        problem.fail()
    }
}

/// Checks what [`check_pool`] checks, at run time, for a pool whose values are not constants.
///
/// # Errors
/// [`Error::PoolDescription`] with the text of the mistake.
pub fn verify_pool(
    pool: &str,
    description: &CudaStreamPool,
    needed: &[(&str, usize)],
) -> Result<()> {
    wrong_pool(pool, pool_problem(pool, description, needed))
}

/// Checks that a `CudaStreamPool` in a constant of a graph has no mistake.
#[track_caller]
pub const fn check_streams(pool: &str, description: &CudaStreamPool) {
    if let Some(problem) = description.problem(pool) {
        problem.fail()
    }
}

/// Checks what [`check_streams`] checks, at run time, for a pool whose values are not constants.
///
/// # Errors
/// [`Error::PoolDescription`] with the text of the mistake.
pub fn verify_streams(pool: &str, description: &CudaStreamPool) -> Result<()> {
    wrong_pool(pool, description.problem(pool))
}

/// Checks that a `CudaStreamPool` in a constant of a graph with ports has no mistake.
#[track_caller]
pub const fn check_streams_inside(pool: &str, description: &CudaStreamPool) {
    if let Some(problem) = description.problem_inside(pool) {
        problem.fail()
    }
}

/// Checks that a `CudaGreenContextPool` in a constant of a graph has no mistake.
#[track_caller]
pub const fn check_green(pool: &str, description: &CudaGreenContextPool) {
    if let Some(problem) = description.problem(pool) {
        problem.fail()
    }
}

/// Checks what [`check_green`] checks, at run time, for a pool whose values are not constants.
///
/// # Errors
/// [`Error::PoolDescription`] with the text of the mistake.
pub fn verify_green(pool: &str, description: &CudaGreenContextPool) -> Result<()> {
    wrong_pool(pool, description.problem(pool))
}

fn wrong_pool(pool: &str, problem: Option<Text>) -> Result<()> {
    let Some(problem) = problem else { return Ok(()) };
    Err(Error::PoolDescription { pool: pool.to_owned(), problem: problem.into_text() })
}

const fn pool_problem(
    pool: &str,
    description: &CudaStreamPool,
    needed: &[(&str, usize)],
) -> Option<Text> {
    if let Some(problem) = description.problem(pool) {
        return Some(problem);
    }
    let Some(max) = description.get_max_size() else { return None };
    let max = max as usize;
    let (mut sum, mut list, mut i) = (0, Text::new(), 0);
    while i < needed.len() {
        let (node, streams) = needed[i];
        if streams > 0 {
            let separator = if sum > 0 { ", " } else { "" };
            list = list.add(separator).add("`").add(node).add("` ").add_number(streams);
            sum += streams;
        }
        i += 1;
    }
    if max >= sum || description.uses_default_stream() {
        return None;
    }
    let text = Text::new()
        .add("stream pool `")
        .add(pool)
        .add("` is too small: it holds ")
        .add_number(max)
        .add(if max == 1 { " stream" } else { " streams" })
        .add(", but its operators declare ")
        .add_number(sum)
        .add(": ")
        .add_text(&list)
        .add("; give it `max_size(")
        .add_number(sum)
        .add(")`, or no maximum");
    Some(text)
}

/// Checks that a node with `#[streams(POOL)]` has a use for the pool: the operator declares a stream, or has device data at a port.
/// Streams with names that are made at run time are not known here, so an operator without device data must declare at least one
/// stream.
#[track_caller]
pub const fn check_pool_use(
    node: &str,
    (operator, is_graph): (&str, bool),
    pool: &str,
    uses_pool: bool,
) {
    if uses_pool {
        return;
    }
    let text = Text::new()
        .add("node `")
        .add(node)
        .add("` has no use for stream pool `")
        .add(pool)
        .add("`: ")
        .add(kind(is_graph))
        .add(" `")
        .add(operator);
    let why = match is_graph {
        true => "` has no node without `#[streams(…)]` that works on a device; remove `#[streams(",
        false => "` works on the host alone; remove `#[streams(",
    };
    let text = text.add(why).add(pool).add(")]`");
    let declare = ", or declare the streams that it allocates, `#[operator(streams(…))]`";
    text.add(if is_graph { "" } else { declare }).fail()
}

/// Checks that an adopting node is no graph with pools of its own. `own` is the number of streams from these pools.
#[track_caller]
pub const fn check_adopting(node: &str, graph: &str, own: usize) {
    if own > 0 {
        Text::new()
            .add("node `")
            .add(node)
            .add("` is marked `#[streams(none)]`, so it has no device, and graph `")
            .add(graph)
            .add("` makes its pools on the device of its node; name a pool of that device")
            .fail()
    }
}

/// Checks that no node inside of a graph goes on after a failure if the graph is in a cycle.
#[track_caller]
pub const fn check_goes_on(node: &str, graph: &str, goes_on: bool) {
    if goes_on {
        Text::new()
            .add("node `")
            .add(node)
            .add("` is in a cycle, and a node inside of graph `")
            .add(graph)
            .add(
                "` has `#[on_failure(…)]`: after a failure of a node in the cycle, it would stand still, since the message of the \
                 `#[feedback]` edge is lost with the failed tick; handle the failure in `compute`",
            )
            .fail()
    }
}

/// Checks that the operator of a node with `#[worker(name)]` is not `#[operator(stays)]`, which only the thread of the run may
/// call.
#[track_caller]
pub const fn check_worker(
    node: &str,
    (operator, is_graph): (&str, bool),
    worker: &str,
    stays: bool,
) {
    if stays {
        let text = Text::new()
            .add("node `")
            .add(node)
            .add("` can't run on worker `")
            .add(worker)
            .add("`: ")
            .add(kind(is_graph))
            .add(" `")
            .add(operator);
        let has = if is_graph { "` has an operator with " } else { "` is " };
        text.add(has)
            .add("`#[operator(stays)]`, so its hooks run on the thread that runs the graph; remove `#[worker(")
            .add(worker)
            .add(")]`")
            .fail()
    }
}

/// Returns the word for a type of nodes.
pub(super) const fn kind(is_graph: bool) -> &'static str {
    if is_graph { "graph" } else { "operator" }
}

/// Checks that a node with the attribute or the condition `what` is an operator: it is about the ticks of one node.
#[track_caller]
pub const fn check_one_node(node: &str, graph: &str, is_graph: bool, what: &str) {
    if is_graph {
        Text::new()
            .add("`")
            .add(what)
            .add("` is about the ticks of one node, and `")
            .add(node)
            .add("` is graph `")
            .add(graph)
            .add("`; write it at a node inside of that graph")
            .fail()
    }
}

/// One end of an edge, for the checks of devices.
#[derive(Debug)]
pub struct EdgeEnd<'a> {
    /// The node's name.
    pub node: &'a str,
    /// The port's name.
    pub port: &'a str,
    /// All inputs, or all outputs, of the operator. They include this port.
    pub ports: &'a [PortInfo],
    /// The pool that `#[streams(POOL)]` names; `None` for a node without it, which is on device 0.
    pub pool: Option<&'a CudaStreamPool>,
}

impl EdgeEnd<'_> {
    /// Returns whether the port has device data; `false` if it does not exist, which rustc reports at the edge.
    const fn carries_device_data(&self) -> bool {
        let mut i = 0;
        while i < self.ports.len() {
            if same(self.ports[i].name, self.port) {
                return self.ports[i].device;
            }
            i += 1;
        }
        false
    }

    const fn device(&self) -> usize {
        match self.pool {
            Some(pool) => pool.get_device().index(),
            None => 0,
        }
    }

    /// Adds to the text which device the port is on, as `` `node.port` is on device 0 ``.
    const fn add_to(&self, text: Text) -> Text {
        let text = text.add("`").add(self.node).add(".").add(self.port).add("` is on device ");
        let text = text.add_number(self.device());
        let why =
            if self.pool.is_none() { ", as every node without `#[streams(…)]`" } else { "" };
        text.add(why)
    }
}

/// Checks that both ends of an edge with device data are on the same device.
#[track_caller]
pub const fn check_devices(output: &EdgeEnd<'_>, input: &EdgeEnd<'_>) {
    if let Some(problem) = devices_problem(output, input) {
        problem.fail()
    }
}

/// Checks what [`check_devices`] checks, at run time, for ends whose devices are not constants.
///
/// # Errors
/// [`Error::EdgeDevices`] with the text of the mistake.
pub fn verify_devices(output: &EdgeEnd<'_>, input: &EdgeEnd<'_>) -> Result<()> {
    let Some(problem) = devices_problem(output, input) else { return Ok(()) };
    let edge = format!("{}.{} >> {}.{}", output.node, output.port, input.node, input.port);
    Err(Error::EdgeDevices { edge, problem: problem.into_text() })
}

const fn devices_problem(output: &EdgeEnd<'_>, input: &EdgeEnd<'_>) -> Option<Text> {
    let carries = output.carries_device_data() && input.carries_device_data();
    if !carries || output.device() == input.device() {
        return None;
    }
    let text = output.add_to(Text::new()).add(", but ");
    let how = "; the data must be copied between them: mark the edge `#[transfer]`";
    Some(input.add_to(text).add(how))
}

/// Checks that an edge with `#[transfer]` leads from one device to another.
#[track_caller]
pub const fn check_transfer(output: &EdgeEnd<'_>, input: &EdgeEnd<'_>) {
    let carries = output.carries_device_data() && input.carries_device_data();
    if carries && output.device() == input.device() {
        let text = output.add_to(Text::new()).add(", and so is `");
        let text = text.add(input.node).add(".").add(input.port).add("`");
        text.add(": there is nothing to transfer; remove `#[transfer]`").fail()
    }
}
