//! Random programs that once failed, written out.

use super::plan::{
    Action, Call, DownloadUse, EdgePlan, Flow, FullPolicy, Kind, Memory, NodePlan, On, Operand,
    Phase, Port, Receiving,
};

fn node(script: &[(u64, &[(On, Action)])]) -> NodePlan {
    let mut tag = 0;
    let mut call = |(on, act): &(On, Action)| {
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
    EdgePlan { from, shared: false, to, port, capacity, full: FullPolicy::BackPressure }
}

/// A graph in which a message waits at `join` while its stream makes more records than its ring has events.
/// Meanwhile that stream waits for another stream, and `join` also receives a message of that other stream.
pub(crate) fn left_out_wait() -> Flow {
    const READ: (On, Action) = (On::Internal, Action::Receive(Port::Read, Receiving::Plain, 0));
    const ALSO: (On, Action) = (On::Internal, Action::Receive(Port::Also, Receiving::Plain, 0));
    let (read, also) =
        (Operand { of: Memory::Read, skip: 0 }, Operand { of: Memory::Also, skip: 0 });
    let made: [(On, Action); 2] = [(On::First, Action::New(2, 5)), (On::First, Action::Emit(2))];
    let map = [(On::Internal, Action::Map(2, read, 5)), (On::Internal, Action::Emit(2))];
    let map_also = [(On::Internal, Action::Map(2, also, 5)), (On::Internal, Action::Emit(2))];
    let nodes = vec![
        node(&[(30, &made)]),
        node(&[(3, &[]), (1, &made)]),
        node(&[
            (3, &[&[READ], &map[..]].concat()),
            (1, &[&[READ, ALSO], &map_also[..]].concat()),
            (30, &[&[READ], &map[..]].concat()),
        ]),
        node(&[
            (3, &[READ, (On::Internal, Action::Download(read, DownloadUse::Awaited))]),
            (30, &[(On::Internal, Action::Discard(Port::Read))]),
        ]),
        node(&[
            (24, &[]),
            (
                1,
                &[
                    READ,
                    ALSO,
                    map_also[0],
                    (On::Internal, Action::Download(also, DownloadUse::Awaited)),
                ],
            ),
        ]),
    ];
    let edges = vec![
        edge(0, 2, Port::Read, 1),
        edge(1, 2, Port::Also, 1),
        edge(2, 3, Port::Read, 1),
        edge(2, 4, Port::Read, 64),
        edge(1, 4, Port::Also, 8),
    ];
    Flow { ticks: 30, nodes, edges, ..Flow::default() }
}
