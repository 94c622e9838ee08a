//! Prints a graph as a program that can be compiled.

use std::fmt::Write as _;

use super::calls::Arm;
use super::plan::{Carries, Flow, FullPolicy, Kind, Port};

/// The code before each printed graph.
pub(crate) const ITEM: &str = include_str!("item.rs");

/// The code after each printed graph.
pub(crate) const LIBRARIES: &str = include_str!("libraries.rs");

/// The printed operator `Clock`, which counts ticks and ends the run.
const CLOCK: &str = "
#[operator]
struct Clock { #[output] tick: u64, ticks: u64 }
impl Compute for Clock {
    fn compute(&mut self, io: ClockIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() + 1 >= self.ticks { cx.stop_graph(); }
        io.tick.emit(cx.tick())
    }
}

/// The state of a node.
#[derive(Default)]
struct Core {
    r: [Option<Cell>; 4],
    pending: VecDeque<Pending>,
    points: Vec<streamflow::stream::Point>,
    handle: Option<OnStream<()>>,
    plans: Option<Plans>,
}
";

/// Returns the printed operators, the graph `Flow`, and the first messages of feedback edges.
pub(crate) fn print(flow: &Flow) -> String {
    let mut out = CLOCK.to_owned();
    for node in 0..flow.nodes.len() {
        print_node(&mut out, flow, node);
    }
    if let Some(shape) = flow.shape {
        let text = format!(
            "// This is the flat twin of the graph `{shape:?}` in `programs/graphs/shapes.rs`."
        );
        add(&mut out, 0, &text);
    }
    let _infallible = writeln!(out, "\n{FIRST}\ngraph! {{\n    struct Flow() {{");
    let depth = flow.depth;
    let assign = match depth {
        0 => String::new(),
        _ => format!(".assign(streamflow::stream::Assign::Planned {{ depth: {depth} }})"),
    };
    add(&mut out, 2, &format!("let POOL: CudaStreamPool = CudaStreamPool::new(){assign};"));
    let ticks = flow.ticks;
    add(&mut out, 2, &format!("#[when(count({ticks}))] let clock: Clock = Clock::new({ticks});"));
    for (index, node) in flow.nodes.iter().enumerate() {
        let adopts = node.adopts && node.kind != Kind::Work;
        let streams = if adopts { "#[streams(none)] " } else { "#[streams(POOL)] " };
        let when = if node.awaits && node.kind != Kind::Work {
            format!("#[when(stream_done({}))] ", port_name(node.kind.port()))
        } else {
            String::new()
        };
        add(
            &mut out,
            2,
            &format!("{streams}{when}let n{index}: N{index} = N{index}::new(Core::default());"),
        );
    }
    for (index, _) in flow.nodes.iter().enumerate().filter(|(_, node)| node.kind == Kind::Work) {
        add(&mut out, 2, &format!("#[capacity({})] clock.tick >> n{index}.clock;", ticks + 1));
    }
    for (edge, carries) in flow.wiring() {
        let output = if edge.shared { "passed" } else { "out" };
        let copy = if carries == Carries::Copy { "#[copy] " } else { "" };
        let full = match edge.full {
            FullPolicy::BackPressure => "",
            FullPolicy::Pop => "#[policy(pop)] ",
            FullPolicy::Reject => "#[policy(reject)] ",
        };
        let back = if edge.from > edge.to {
            format!("#[feedback(initial = first(platform, {})?)] ", edge.to)
        } else {
            String::new()
        };
        let (from, to, port, capacity) = (edge.from, edge.to, port_name(edge.port), edge.capacity);
        add(
            &mut out,
            2,
            &format!("{back}{full}{copy}#[capacity({capacity})] n{from}.{output} >> n{to}.{port};"),
        );
    }
    add(&mut out, 1, "}\n}");
    out
}

const FIRST: &str = "fn first(platform: &Platform, to: u32) -> Result<Item> {
    let s = platform.stream_pool(\"FIRST\", &CudaStreamPool::new())?.allocate(\"first\")?;
    let mut item = Item::new(platform, &s, 5)?;
    make(&s, &mut item, 10_000 + to, true)?;
    Ok(item)
}
";

fn add(to: &mut String, depth: usize, text: &str) {
    let _infallible = writeln!(to, "{}{text}", "    ".repeat(depth));
}

pub(super) fn port_name(port: Port) -> &'static str {
    match port {
        Port::Read => "read",
        Port::Also => "also",
        Port::Share => "share",
        Port::Take => "take",
        Port::All => "all",
    }
}

fn print_node(out: &mut String, flow: &Flow, index: usize) {
    let node = &flow.nodes[index];
    let work = node.kind == Kind::Work;
    let wiring = flow.wiring();
    let mut ports: Vec<_> =
        wiring.iter().filter(|(edge, _)| edge.to == index).map(|(edge, _)| edge.port).collect();
    ports.dedup();
    let sends = |shared| wiring.iter().any(|(edge, _)| (edge.from, edge.shared) == (index, shared));
    let scope =
        Node { work, adopts: node.adopts && !work, ports, sends: [sends(false), sends(true)] };
    add(
        out,
        0,
        if scope.adopts { "\n#[operator]" } else { "\n#[operator(streams(first, second))]" },
    );
    add(out, 0, &format!("struct N{index} {{"));
    if work {
        add(out, 1, "#[input] clock: &u64,");
    }
    for port in &scope.ports {
        let mark = match (port, work) {
            (Port::All, true) => "input(many, optional)",
            (Port::All, false) => "input(many)",
            (_, true) => "input(optional)",
            (_, false) => "input",
        };
        let ty = match port {
            Port::Share => "Shared<Item>",
            Port::Take => "Item",
            _ => "&Item",
        };
        add(out, 1, &format!("#[{mark}] {}: {ty},", port_name(*port)));
    }
    for (name, ty, sends) in
        [("out", "Item", scope.sends[0]), ("passed", "Shared<Item>", scope.sends[1])]
    {
        if sends {
            add(out, 1, &format!("#[output] {name}: {ty},"));
        }
    }
    add(out, 1, "core: Core,\n}");
    add(out, 0, &format!("impl Compute for N{index} {{"));
    add(
        out,
        1,
        &format!(
            "fn compute(&mut self, io: N{index}Io<'_>, cx: &ExecutionContext) -> Result<()> {{"
        ),
    );
    add(out, 2, "let (core, platform) = (&mut self.core, cx.platform());");
    let tick = if work { "*io.clock.receive().into_data()" } else { "cx.tick()" };
    add(out, 2, &format!("let tick = {tick};"));
    add(out, 2, "let tag = |tag: u32| tag.wrapping_add((tick as u32).wrapping_mul(7919));");
    add(out, 2, "match tick {");
    let mut begins = 0;
    for phase in &node.script {
        let ends = begins + phase.ticks;
        if ends > begins && !phase.calls.is_empty() {
            let every = match phase.every {
                0 | 1 => String::new(),
                every => format!(" if tick % {every} == 0"),
            };
            add(out, 3, &format!("{begins}..{ends}{every} => {{"));
            let mut arm = Arm::default();
            for call in &phase.calls {
                if let Some(text) = arm.print(&scope, call) {
                    let before = std::mem::take(&mut arm.before);
                    add(out, 4, &(before + &text));
                }
            }
            scope.leave(out, &arm);
            add(out, 3, "}");
        }
        begins = ends;
    }
    add(out, 3, "_ => {");
    scope.leave(out, &Arm::default());
    add(out, 3, "}");
    add(out, 2, "}\n        Ok(())\n    }");
    add(out, 1, "fn stop(&mut self, _: &ExecutionContext) -> Result<()> {");
    add(out, 2, "self.core.pending.drain(..).try_for_each(|pending| pending.wait())");
    add(out, 1, "}\n}");
}

/// The facts about a node that decide how its code is printed.
pub(super) struct Node {
    pub(super) work: bool,
    pub(super) adopts: bool,
    pub(super) ports: Vec<Port>,
    pub(super) sends: [bool; 2],
}

impl Node {
    /// Prints calls that drop the required messages that no other call has handled.
    fn leave(&self, out: &mut String, arm: &Arm) {
        for port in self.ports.iter().filter(|port| !self.work && !arm.handled.contains(port)) {
            add(out, 4, &format!("io.{}.discard();", port_name(*port)));
        }
    }
}
