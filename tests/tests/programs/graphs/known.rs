//! Programs that once failed.

use super::plan::{
    Act, Call, EdgePlan, Fate, Flow, From, Full, Kind, NodePlan, Of, On, Phase, Port, Way,
};

fn node(script: &[(u64, &[(On, Act)])]) -> NodePlan {
    let mut tag = 0;
    let mut call = |(on, act): &(On, Act)| {
        tag += 1;
        Call { on: *on, act: *act, tag, slow: true }
    };
    let script = script
        .iter()
        .map(|(ticks, calls)| Phase {
            ticks: *ticks,
            every: 1,
            calls: calls.iter().map(&mut call).collect(),
        })
        .collect();
    NodePlan { kind: Kind::Work, adopts: false, awaits: false, script }
}

fn edge(from: usize, to: usize, port: Port, capacity: usize) -> EdgePlan {
    EdgePlan { from, shared: false, to, port, capacity, full: Full::BackPressure }
}

/// A message waits at `join` while its stream makes more records than its ring has events. Meanwhile that stream waits
/// for another stream, from which `join` also receives a message.
pub(crate) fn left_out_wait() -> Flow {
    const READ: (On, Act) = (On::Internal, Act::Receive(Port::Read, Way::Plain, 0));
    const ALSO: (On, Act) = (On::Internal, Act::Receive(Port::Also, Way::Plain, 0));
    let (read, also) = (From { of: Of::Read, skip: 0 }, From { of: Of::Also, skip: 0 });
    let made: [(On, Act); 2] = [(On::First, Act::New(2, 5)), (On::First, Act::Emit(2))];
    let map = [(On::Internal, Act::Map(2, read, 5)), (On::Internal, Act::Emit(2))];
    let map_also = [(On::Internal, Act::Map(2, also, 5)), (On::Internal, Act::Emit(2))];
    let nodes = vec![
        node(&[(30, &made)]),
        node(&[(3, &[]), (1, &made)]),
        node(&[
            (3, &[&[READ], &map[..]].concat()),
            (1, &[&[READ, ALSO], &map_also[..]].concat()),
            (30, &[&[READ], &map[..]].concat()),
        ]),
        node(&[
            (3, &[READ, (On::Internal, Act::Download(read, Fate::Awaited))]),
            (30, &[(On::Internal, Act::Discard(Port::Read))]),
        ]),
        node(&[
            (24, &[]),
            (1, &[READ, ALSO, map_also[0], (On::Internal, Act::Download(also, Fate::Awaited))]),
        ]),
    ];
    let edges = vec![
        edge(0, 2, Port::Read, 1),
        edge(1, 2, Port::Also, 1),
        edge(2, 3, Port::Read, 1),
        edge(2, 4, Port::Read, 64),
        edge(1, 4, Port::Also, 8),
    ];
    Flow { ticks: 30, nodes, edges }
}
