//! Draws graphs.

use streamflow_tests::random::Random;

use super::plan::{
    Act, Call, EdgePlan, Fate, Flow, From, Full, Kind, NodePlan, Of, On, Phase, Port, REGISTERS,
    Way,
};

/// What kind of life a node leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    /// The same in each tick, for a long time.
    Steady,
    /// Sends something now and then.
    Rare,
    /// Lets messages wait, and then takes them.
    Hoarder,
    /// Looks at the first messages on the host.
    Observer,
    /// Anything.
    Wild,
}

struct Draw<'a> {
    random: &'a mut Random,
    tag: u32,
    /// From then on no node waits on the host, so that the device may be late.
    quiet: u64,
    /// Which streams are used.
    streams: &'static [On],
    /// Calls beside those that make and send data are drawn so often, out of 8.
    others: usize,
    /// Whether somebody hears of what the node emits, and of what it shares.
    sends: [bool; 2],
}

/// A graph of a few nodes.
pub(crate) fn flow(random: &mut Random) -> Flow {
    let ticks =
        if random.below(4) == 0 { 6 + random.below(12) } else { 30 + random.below(31) } as u64;
    let quiet = if random.below(6) == 0 { u64::MAX } else { 1 + random.below(8) as u64 };
    const STREAMS: [&[On]; 4] = [
        &[On::Internal],
        &[On::Internal, On::First],
        &[On::Internal, On::First, On::Second],
        &[On::Internal, On::First, On::Second, On::Default],
    ];
    let streams = STREAMS[random.below(4)];
    let others = [0, 1, 4][random.below(3)];
    let (kinds, lives, edges) = if random.below(2) == 0 { two_ways(random) } else { any(random) };
    let mut draw = Draw { random, tag: 100, quiet, streams, others, sends: [false; 2] };
    let nodes = kinds
        .iter()
        .enumerate()
        .map(|(node, kind)| {
            let mut ports: Vec<_> =
                edges.iter().filter(|edge| edge.to == node).map(|edge| edge.port).collect();
            ports.dedup();
            let sends =
                |shared| edges.iter().any(|edge| edge.from == node && edge.shared == shared);
            draw.sends = [sends(false), sends(true)];
            let mut drawn = draw.node(*kind, &ports, ticks, lives[node]);
            let narrow = edges.iter().filter(|edge| {
                edge.to == node && edge.full == Full::BackPressure && edge.capacity < 32
            });
            draw.drain(&mut drawn, &narrow.map(|edge| edge.port).collect::<Vec<_>>());
            drawn
        })
        .collect();
    Flow { ticks, nodes, edges }
}

type Shape = (Vec<Kind>, Vec<Option<Life>>, Vec<EdgePlan>);

/// Any nodes, and edges between them.
fn any(random: &mut Random) -> Shape {
    let count = [3, 3, 4, 4, 5, 6, 7][random.below(7)];
    let kind = |node| match random.below(10) {
        _ if node == 0 => Kind::Work,
        0 | 1 => Kind::Unary,
        2 => Kind::Forward,
        3 => Kind::Merge,
        _ => Kind::Work,
    };
    let kinds: Vec<_> = (0..count).map(kind).collect();
    let edges = edges(random, &kinds);
    (kinds, vec![None; count], edges)
}

/// A node hears of the work of another one by two ways, of which one is a deep queue; and somebody looks at
/// what came by it first.
fn two_ways(random: &mut Random) -> Shape {
    let lives = [Life::Steady, [Life::Rare, Life::Steady][random.below(2)], Life::Steady];
    let lives = [&lives[..], &[Life::Observer, Life::Hoarder]].concat();
    let mut last = 0;
    let mut edge = |from: usize, to: usize, deep: bool| {
        // Another one than the last.
        last = (last + 1 + random.below(4)) % 5;
        let port = Port::EACH[last];
        let capacity = if deep { 64 } else { 1 + random.below(8) };
        let full = if deep || random.below(2) == 0 { Full::BackPressure } else { Full::Pop };
        EdgePlan { from, shared: random.below(4) == 0, to, port, capacity, full }
    };
    let edges = vec![
        edge(0, 2, false),
        edge(1, 2, false),
        edge(2, 3, false),
        edge(2, 4, true),
        edge(1, 4, false),
    ];
    (vec![Kind::Work; lives.len()], lives.into_iter().map(Some).collect(), edges)
}

fn edges(random: &mut Random, kinds: &[Kind]) -> Vec<EdgePlan> {
    let mut edges = Vec::new();
    for (to, kind) in kinds.iter().enumerate().skip(1) {
        let alone = *kind == Kind::Work && random.below(5) == 0;
        for _ in 0..if alone { 0 } else { [1, 2, 2, 3][random.below(4)] } {
            let back = *kind == Kind::Work && random.below(12) == 0;
            let mut from = if back { random.below(kinds.len()) } else { random.below(to) };
            // Half of the time from where another producer has its messages from: by two ways, of which one
            // may be longer, it hears of the same work.
            let near: Vec<_> = edges.iter().filter(|edge: &&EdgePlan| edge.to == to).collect();
            if !near.is_empty() && random.below(4) > 0 {
                let through = near[random.below(near.len())].from;
                let before: Vec<_> = edges.iter().filter(|edge| edge.to == through).collect();
                if !before.is_empty() {
                    from = before[random.below(before.len())].from;
                }
            }
            let port = match kind {
                Kind::Work => Port::EACH[random.below(5)],
                other => other.port(),
            };
            let shared = kinds[from] == Kind::Forward || random.below(4) == 0;
            // Deep queues have old messages, and those that drop the oldest have new ones.
            let deep = random.below(2) == 0;
            let capacity = if deep { 64 } else { [1, 1, 2, 4, 8, 16][random.below(6)] };
            let full = match random.below(8) {
                0 => Full::Reject,
                1 => Full::Pop,
                2 | 3 if !deep => Full::Pop,
                _ => Full::BackPressure,
            };
            edges.push(EdgePlan { from, shared, to, port, capacity, full });
        }
    }
    // The first may hear of the others, too.
    if random.below(4) == 0 && kinds.len() > 1 {
        let from = 1 + random.below(kinds.len() - 1);
        let shared = kinds[from] == Kind::Forward;
        let port = Port::EACH[random.below(5)];
        edges.push(EdgePlan { from, shared, to: 0, port, capacity: 2, full: Full::Pop });
    }
    edges
}

impl Draw<'_> {
    fn node(&mut self, kind: Kind, ports: &[Port], ticks: u64, life: Option<Life>) -> NodePlan {
        let required = kind != Kind::Work;
        let adopts = required && self.random.below(4) == 0;
        let awaits = required && self.random.below(12) == 0;
        // Producers keep the others busy; what is done with messages is seen at the ends.
        let lives: &[Life] = match (ports.is_empty(), self.sends != [false; 2]) {
            (true, _) => &[Life::Steady, Life::Steady, Life::Rare],
            (false, true) => &[
                Life::Steady,
                Life::Steady,
                Life::Steady,
                Life::Steady,
                Life::Steady,
                Life::Rare,
                Life::Hoarder,
                Life::Wild,
            ],
            (false, false) => {
                &[Life::Hoarder, Life::Hoarder, Life::Observer, Life::Steady, Life::Wild]
            }
        };
        let life = life.unwrap_or_else(|| lives[self.random.below(lives.len())]);
        let script = match life {
            Life::Hoarder => self.hoards(ports),
            Life::Observer => self.observes(ports, ticks),
            Life::Rare => self.rare(ports, ticks),
            Life::Wild => self.wild(ports),
            Life::Steady => self.steady(ports, ticks),
        };
        NodePlan { kind, adopts, awaits, script }
    }

    /// Nearly always: what nobody takes from a narrow queue would soon stop its producer, and with that
    /// most of the graph.
    fn drain(&mut self, node: &mut NodePlan, narrow: &[Port]) {
        if self.random.below(16) == 0 {
            return;
        }
        node.script.push(Self::phase(1000, Vec::new()));
        for phase in &mut node.script {
            for port in narrow {
                let takes = |call: &Call| match call.act {
                    Act::Receive(taken, ..) | Act::Discard(taken) => taken == *port,
                    _ => false,
                };
                if !phase.calls.iter().any(takes) {
                    phase.calls.push(self.call(Act::Discard(*port)));
                }
            }
        }
    }

    fn call(&mut self, act: Act) -> Call {
        self.tag += 1;
        let on = self.streams[self.random.below(self.streams.len())];
        Call { on, act, tag: self.tag, slow: self.random.below(8) == 0 }
    }

    fn internal(&mut self, act: Act) -> Call {
        Call { on: On::Internal, ..self.call(act) }
    }

    fn phase(ticks: usize, calls: Vec<Call>) -> Phase {
        Phase { ticks: ticks as u64, every: 1, calls }
    }

    fn register(&mut self) -> usize {
        self.random.below(REGISTERS)
    }

    fn len(&mut self) -> usize {
        [1, 3, 5, 7, 13, 33][self.random.below(6)]
    }

    /// One of the ports that are read, or a register.
    fn from(&mut self, ports: &[Port]) -> From {
        let skip = [0, 0, 0, 1, 4, 50][self.random.below(6)];
        let port = ports.get(self.random.below(ports.len().max(1)));
        let of = match port {
            Some(Port::Read) => Of::Read,
            Some(Port::Also) => Of::Also,
            Some(Port::All) => Of::All(self.random.below(3)),
            // Where `receives` keeps them.
            Some(Port::Share) => Of::Register(0),
            Some(Port::Take) => Of::Register(1),
            None => Of::Register(self.register()),
        };
        From {
            of: if self.random.below(8) == 0 { Of::Register(self.register()) } else { of },
            skip,
        }
    }

    /// Receives most of the messages, in any order.
    fn receives(&mut self, ports: &[Port]) -> Vec<Call> {
        let mut ports: Vec<_> =
            ports.iter().copied().filter(|_| self.random.below(10) > 0).collect();
        for index in 1..ports.len() {
            ports.swap(index, self.random.below(index + 1));
        }
        let one = |draw: &mut Self, port| {
            let way = match draw.random.below(16) {
                0 => Way::OrAdopt,
                1 => Way::ToDefault,
                2 => Way::Synchronized,
                _ => Way::Plain,
            };
            let register = usize::from(port != Port::Share);
            draw.call(Act::Receive(port, way, register))
        };
        ports.into_iter().map(|port| one(self, port)).collect()
    }

    /// Something made of what was received.
    fn makes(&mut self, ports: &[Port], register: usize) -> Call {
        let (from, len) = (self.from(ports), self.len());
        let act = match self.random.below(6) {
            _ if ports.is_empty() => Act::New(register, len),
            0 => Act::New(register, len),
            1 => Act::Upload(register, len),
            2 | 3 => Act::Join(register, from, self.from(ports), len),
            _ => Act::Map(register, from, len),
        };
        self.call(act)
    }

    /// Calls that are neither data nor messages.
    fn other(&mut self, ports: &[Port], at: u64) -> Option<Call> {
        if self.random.below(8) >= self.others {
            return None;
        }
        let (from, register) = (self.from(ports), self.register());
        let act = match self.random.below(16) {
            0 => Act::Record,
            1 => Act::Wait(self.random.below(4)),
            2 if at < self.quiet => Act::IsComplete,
            3 if at < self.quiet => Act::Synchronize,
            4 => Act::Timing,
            5 => Act::Raw,
            6 | 7 => Act::Unseen(register, from),
            8 | 9 => Act::CopyRaw(register, from),
            10 | 11 => Act::OnStream(register, from),
            12 => Act::Change(register, from),
            13 => Act::Drop(register),
            14 => Act::Look,
            _ => Act::Forget,
        };
        Some(self.call(act))
    }

    fn download(&mut self, ports: &[Port], at: u64) -> Call {
        let fate = match self.random.below(3) {
            0 if at < self.quiet => Fate::Awaited,
            1 => Fate::Dropped,
            _ => Fate::Kept,
        };
        let from = self.from(ports);
        self.call(Act::Download(from, fate))
    }

    /// What a tick of work is.
    fn work(&mut self, ports: &[Port], at: u64) -> Vec<Call> {
        let mut calls = self.receives(ports);
        calls.extend(self.other(ports, at));
        for (shared, register) in [(false, 2), (true, 3)] {
            if !self.sends[usize::from(shared)] {
                continue;
            }
            // Something new, or what came.
            let handed = self.random.below(4) == 0;
            let register = match shared {
                false if handed && ports.contains(&Port::Take) => 1,
                true if handed && ports.contains(&Port::Share) => 0,
                _ => register,
            };
            if register > 1 {
                calls.push(self.makes(ports, register));
            }
            if register > 0 && self.random.below(4) == 0 {
                let from = self.from(ports);
                let acts = [Act::Change(register, from), Act::Copy(register, from)];
                let act = acts[self.random.below(2)];
                calls.push(self.call(act));
            }
            calls.extend(self.other(ports, at));
            calls.push(self.internal(if shared {
                Act::Pass(register)
            } else {
                Act::Emit(register)
            }));
        }
        if self.sends == [false; 2] {
            calls.push(self.makes(ports, 2));
        }
        if self.sends == [false; 2] || self.random.below(6) == 0 {
            calls.push(self.download(ports, at));
        }
        calls.extend(self.other(ports, at));
        calls
    }

    fn steady(&mut self, ports: &[Port], ticks: u64) -> Vec<Phase> {
        if self.random.below(2) == 0 {
            let calls = self.work(ports, ticks);
            return vec![Phase { every: 1, ticks, calls }];
        }
        let first = 1 + self.random.below(10);
        let (early, late) = (self.work(ports, 0), self.work(ports, ticks));
        let every = 1 + self.random.below(2) as u64;
        vec![Self::phase(first, early), Phase { ticks, every, calls: late }]
    }

    fn rare(&mut self, ports: &[Port], ticks: u64) -> Vec<Phase> {
        let before = self.random.below(8);
        let calls = self.work(ports, before as u64);
        let mut phases = vec![Self::phase(before, Vec::new()), Self::phase(1, calls)];
        if self.random.below(2) == 0 {
            let between = 10 + self.random.below(25);
            let calls = vec![self.call(Act::Look)];
            phases.push(Self::phase(between, Vec::new()));
            let work = self.work(ports, ticks);
            phases.push(Self::phase(1, work));
            phases.push(Self::phase(ticks as usize, calls));
        }
        phases
    }

    fn hoards(&mut self, ports: &[Port]) -> Vec<Phase> {
        // More than the records that a stream has events for, most often.
        let waits = [1, 16, 16][self.random.below(3)] + self.random.below(15);
        // What comes to the others is taken meanwhile, or dropped: it is new when that is old.
        let hoarded = ports[self.random.below(ports.len())];
        let all = self.random.below(4) == 0;
        let others: Vec<_> =
            ports.iter().copied().filter(|port| !all && *port != hoarded).collect();
        let meanwhile = match self.random.below(3) {
            0 => self.receives(&others),
            _ => others.iter().map(|port| self.call(Act::Discard(*port))).collect(),
        };
        let first = self.receives(ports);
        let mut phases =
            vec![Self::phase(self.random.below(3), first), Self::phase(waits, meanwhile)];
        for _ in 0..1 + self.random.below(3) {
            let at = waits as u64;
            let mut calls = self.receives(ports);
            calls.extend(self.other(ports, at));
            calls.push(self.makes(ports, 2));
            // Each of what came is looked at.
            for port in ports {
                calls.push(self.download(&[*port], at));
            }
            if at < self.quiet {
                calls.push(self.call(Act::Await));
            }
            phases.push(Self::phase(1 + self.random.below(8), calls));
            phases.push(Self::phase(self.random.below(10), Vec::new()));
        }
        phases
    }

    fn observes(&mut self, ports: &[Port], ticks: u64) -> Vec<Phase> {
        let mut calls = self.receives(ports);
        let from = self.from(ports);
        calls.push(self.call(Act::Download(from, Fate::Awaited)));
        let looks = 1 + self.random.below(self.quiet.min(20) as usize);
        let after = if self.random.below(2) == 0 {
            ports.iter().map(|port| self.call(Act::Discard(*port))).collect()
        } else {
            let mut calls = self.receives(ports);
            calls.push(self.download(ports, ticks));
            calls
        };
        vec![Self::phase(looks, calls), Phase { ticks, every: 1, calls: after }]
    }

    fn wild(&mut self, ports: &[Port]) -> Vec<Phase> {
        let phases = 1 + self.random.below(5);
        let mut begins = 0;
        (0..phases)
            .map(|_| {
                let ticks = [1, 1, 3, 8, 20][self.random.below(5)];
                let at = begins;
                begins += ticks as u64;
                let work = self.work(ports, at);
                let calls = work.into_iter().filter(|_| self.random.below(4) > 0).collect();
                Phase { ticks: ticks as u64, every: 1 + self.random.below(3) as u64, calls }
            })
            .collect()
    }
}
