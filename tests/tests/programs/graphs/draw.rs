//! Draws random scripts: the calls of each node of a graph, tick by tick.

use streamflow_tests::random::Random;

use super::plan::{
    Action, Call, DownloadUse, Kind, Memory, NodePlan, On, Operand, Phase, Port, REGISTERS,
    Receiving,
};

/// How a node behaves over its ticks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// Does the same work in each tick, for many ticks.
    Steady,
    /// Sends a message in few of its ticks.
    Rare,
    /// Leaves messages in their queues, and receives them some ticks later.
    Delayed,
    /// Reads the first messages on the host.
    Observer,
    /// Makes random calls.
    Wild,
}

pub(super) struct Draw<'a> {
    pub(super) random: &'a mut Random,
    pub(super) tag: u32,
    /// The tick from which on no node waits on the host, so that the device may fall behind.
    pub(super) quiet: u64,
    /// The streams that the drawn calls may use.
    pub(super) streams: &'static [On],
    /// How many times out of 8 a call is drawn that neither makes nor sends data.
    pub(super) others: usize,
    /// Whether the node's output has consumers, and whether its shared output has consumers.
    pub(super) sends: [bool; 2],
}

impl Draw<'_> {
    pub(super) fn node(
        &mut self,
        kind: Kind,
        ports: &[Port],
        ticks: u64,
        behaviour: Option<Behaviour>,
    ) -> NodePlan {
        let required = kind != Kind::Work;
        let adopts = required && self.random.below(4) == 0;
        let awaits = required && self.random.below(12) == 0;
        // Producers mostly behave steadily, to keep other nodes busy. Variety matters most at the last consumers.
        let behaviours: &[Behaviour] = match (ports.is_empty(), self.sends != [false; 2]) {
            (true, _) => &[Behaviour::Steady, Behaviour::Steady, Behaviour::Rare],
            (false, true) => &[
                Behaviour::Steady,
                Behaviour::Steady,
                Behaviour::Steady,
                Behaviour::Steady,
                Behaviour::Steady,
                Behaviour::Rare,
                Behaviour::Delayed,
                Behaviour::Wild,
            ],
            (false, false) => &[
                Behaviour::Delayed,
                Behaviour::Delayed,
                Behaviour::Observer,
                Behaviour::Steady,
                Behaviour::Wild,
            ],
        };
        let behaviour =
            behaviour.unwrap_or_else(|| behaviours[self.random.below(behaviours.len())]);
        let script = match behaviour {
            Behaviour::Delayed => self.delays(ports),
            Behaviour::Observer => self.observes(ports, ticks),
            Behaviour::Rare => self.rare(ports, ticks),
            Behaviour::Wild => self.wild(ports),
            Behaviour::Steady => self.steady(ports, ticks),
        };
        NodePlan { kind, adopts, awaits, script }
    }

    /// Adds calls that discard the messages which a script leaves in narrow queues, in most graphs. A full queue
    /// would soon stop its producer, and with it most of the graph.
    pub(super) fn drain(&mut self, node: &mut NodePlan, narrow: &[Port]) {
        if self.random.below(16) == 0 {
            return;
        }
        node.script.push(Self::phase(1000, Vec::new()));
        for phase in &mut node.script {
            for port in narrow {
                let takes = |call: &Call| match call.act {
                    Action::Receive(taken, ..) | Action::Discard(taken) => taken == *port,
                    _ => false,
                };
                if !phase.calls.iter().any(takes) {
                    phase.calls.push(self.call(Action::Discard(*port)));
                }
            }
        }
    }

    fn call(&mut self, act: Action) -> Call {
        self.tag += 1;
        let on = self.streams[self.random.below(self.streams.len())];
        Call { on, act, tag: self.tag, slow: self.random.below(8) == 0 }
    }

    fn internal(&mut self, act: Action) -> Call {
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

    /// Returns a random port, or a register if none is drawn.
    fn from(&mut self, ports: &[Port]) -> Operand {
        let skip = [0, 0, 0, 1, 4, 50][self.random.below(6)];
        let port = ports.get(self.random.below(ports.len().max(1)));
        let of = match port {
            Some(Port::Read) => Memory::Read,
            Some(Port::Also) => Memory::Also,
            Some(Port::All) => Memory::All(self.random.below(3)),
            // The register in which `receives` keeps the message of this port.
            Some(Port::Share) => Memory::Register(0),
            Some(Port::Take) => Memory::Register(1),
            None => Memory::Register(self.register()),
        };
        Operand {
            of: if self.random.below(8) == 0 { Memory::Register(self.register()) } else { of },
            skip,
        }
    }

    /// Draws calls that receive most of the messages, in any order.
    fn receives(&mut self, ports: &[Port]) -> Vec<Call> {
        let mut ports: Vec<_> =
            ports.iter().copied().filter(|_| self.random.below(10) > 0).collect();
        for index in 1..ports.len() {
            ports.swap(index, self.random.below(index + 1));
        }
        let one = |draw: &mut Self, port| {
            let way = match draw.random.below(16) {
                0 => Receiving::OrAdopt,
                1 => Receiving::ToDefault,
                2 => Receiving::Synchronized,
                _ => Receiving::Plain,
            };
            let register = usize::from(port != Port::Share);
            draw.call(Action::Receive(port, way, register))
        };
        ports.into_iter().map(|port| one(self, port)).collect()
    }

    /// Draws a call that makes new data from received data.
    fn makes(&mut self, ports: &[Port], register: usize) -> Call {
        let (from, len) = (self.from(ports), self.len());
        let act = match self.random.below(7) {
            _ if ports.is_empty() => Action::New(register, len),
            0 => Action::New(register, len),
            1 => Action::Upload(register, len),
            2 => Action::Calculate(register, from),
            3 | 4 => Action::Join(register, from, self.from(ports), len),
            _ => Action::Map(register, from, len),
        };
        self.call(act)
    }

    /// Draws a call that neither makes data nor sends a message.
    fn other(&mut self, ports: &[Port], at: u64) -> Option<Call> {
        if self.random.below(8) >= self.others {
            return None;
        }
        let (from, register) = (self.from(ports), self.register());
        let act = match self.random.below(16) {
            0 => Action::Record,
            1 => Action::Wait(self.random.below(4)),
            2 if at < self.quiet => Action::IsComplete,
            3 if at < self.quiet => Action::Synchronize,
            4 => Action::Timing,
            5 => Action::Raw,
            6 | 7 => Action::CopyBypassing(register, from),
            8 | 9 => Action::CopyRaw(register, from),
            10 | 11 => Action::OnStream(register, from),
            12 => Action::Change(register, from),
            13 => Action::Drop(register),
            14 => Action::Look,
            _ => Action::Forget,
        };
        Some(self.call(act))
    }

    fn download(&mut self, ports: &[Port], at: u64) -> Call {
        let fate = match self.random.below(3) {
            0 if at < self.quiet => DownloadUse::Awaited,
            1 => DownloadUse::Dropped,
            _ => DownloadUse::Kept,
        };
        let from = self.from(ports);
        self.call(Action::Download(from, fate))
    }

    /// Draws the calls of one tick.
    fn work(&mut self, ports: &[Port], at: u64) -> Vec<Call> {
        let mut calls = self.receives(ports);
        calls.extend(self.other(ports, at));
        for (shared, register) in [(false, 2), (true, 3)] {
            if !self.sends[usize::from(shared)] {
                continue;
            }
            // The node sends new data, or the received message itself.
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
                let acts = [Action::Change(register, from), Action::Copy(register, from)];
                let act = acts[self.random.below(2)];
                calls.push(self.call(act));
            }
            calls.extend(self.other(ports, at));
            calls.push(self.internal(if shared {
                Action::Pass(register)
            } else {
                Action::Emit(register)
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
            let calls = vec![self.call(Action::Look)];
            phases.push(Self::phase(between, Vec::new()));
            let work = self.work(ports, ticks);
            phases.push(Self::phase(1, work));
            phases.push(Self::phase(ticks as usize, calls));
        }
        phases
    }

    fn delays(&mut self, ports: &[Port]) -> Vec<Phase> {
        // The number of ticks for which messages wait. In two of three cases this is more than a stream has events.
        let waits = [1, 16, 16][self.random.below(3)] + self.random.below(15);
        // While one port is delayed, the other ports receive or discard, so that their messages are new when the delayed
        // message is old.
        let delayed = ports[self.random.below(ports.len())];
        let all = self.random.below(4) == 0;
        let others: Vec<_> =
            ports.iter().copied().filter(|port| !all && *port != delayed).collect();
        let meanwhile = match self.random.below(3) {
            0 => self.receives(&others),
            _ => others.iter().map(|port| self.call(Action::Discard(*port))).collect(),
        };
        let first = self.receives(ports);
        let mut phases =
            vec![Self::phase(self.random.below(3), first), Self::phase(waits, meanwhile)];
        for _ in 0..1 + self.random.below(3) {
            let at = waits as u64;
            let mut calls = self.receives(ports);
            calls.extend(self.other(ports, at));
            calls.push(self.makes(ports, 2));
            // Each received message is downloaded.
            for port in ports {
                calls.push(self.download(&[*port], at));
            }
            if at < self.quiet {
                calls.push(self.call(Action::Await));
            }
            phases.push(Self::phase(1 + self.random.below(8), calls));
            phases.push(Self::phase(self.random.below(10), Vec::new()));
        }
        phases
    }

    fn observes(&mut self, ports: &[Port], ticks: u64) -> Vec<Phase> {
        let mut calls = self.receives(ports);
        let from = self.from(ports);
        calls.push(self.call(Action::Download(from, DownloadUse::Awaited)));
        let looks = 1 + self.random.below(self.quiet.min(20) as usize);
        let after = if self.random.below(2) == 0 {
            ports.iter().map(|port| self.call(Action::Discard(*port))).collect()
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
