//! Tests of the messages that an input receives, and of the counts of messages that its edges keep.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::message::{Carried, Metadata, Origin, Payload, QueuePolicy};
use crate::turns::hooks;

fn send(edge: &mut Sender<u64>, number: u64) {
    assert!(edge.has_room());
    let (message, metadata) = (Payload::One(number), Metadata::default());
    assert!(edge.push(Envelope { message, metadata, sent: None }).is_none());
}

/// Sends one more message whenever the batch has taken a message, as another thread might.
fn send_at_each_step(mut edge: Sender<u64>, number: u64) {
    hooks::at("a batch has taken a message", move || {
        send(&mut edge, number);
        send_at_each_step(edge, number + 1);
    });
}

#[test]
fn a_batch_has_the_messages_that_wait_when_it_is_received() {
    for (at_most, expected) in [(0, 1), (2, 2), (3, 3), (9, 3)] {
        let mut inlet = Inlet::new(&"numbers");
        let options = EdgeOptions::new("edge", 3, QueuePolicy::BackPressure).unwrap();
        let mut edge = inlet.connect(options);
        (0..3).for_each(|number| send(&mut edge, number));
        send_at_each_step(edge, 3);
        inlet.receive_batch(at_most);
        assert_eq!(inlet.len(), expected, "a batch of {at_most}");
        let taken: Vec<u64> = (0..expected).map(|_| inlet.take()).collect();
        assert_eq!(taken, (0..expected as u64).collect::<Vec<_>>());
        hooks::clear();
    }
}

#[test]
fn an_input_with_one_edge_is_in_place_again_in_the_run_after_a_flush() {
    let mut inlet = Inlet::new(&"numbers");
    let options = EdgeOptions::new("edge", 3, QueuePolicy::BackPressure).unwrap();
    let mut edge = inlet.connect(options);
    for _ in 0..2 {
        inlet.begin_run();
        assert!(matches!(inlet.edges, Edges::One(_)));
        (0..3).for_each(|number| send(&mut edge, number));
        inlet.begin_flush(true);
        inlet.receive();
        assert_eq!((inlet.len(), inlet.take(), inlet.take()), (3, 0, 1));
        inlet.finish();
        inlet.clear();
    }
}

#[test]
fn flush_gets_no_message_of_an_edge_that_keeps_its_own_in_this_run() {
    let mut inlet = Inlet::new(&"numbers");
    let options = EdgeOptions::new("edge", 3, QueuePolicy::BackPressure).unwrap();
    let mut edges = [inlet.connect(options), inlet.connect(options)];
    for (kept, expected) in [(true, vec![7]), (false, vec![5, 7])] {
        inlet.begin_run();
        send(&mut edges[0], 5);
        send(&mut edges[1], 7);
        let first = inlet.edges()[0].id;
        inlet.keep(if kept { std::slice::from_ref(&first) } else { &[] });
        inlet.begin_flush(true);
        inlet.receive();
        let taken: Vec<u64> = (0..inlet.len()).map(|_| inlet.take()).collect();
        assert_eq!((taken, inlet.waiting()), (expected, usize::from(kept)));
        inlet.finish();
        inlet.clear();
    }
}

/// Returns the edge's counts of messages: sent, received, dropped by its policy, and waiting. Checks that the sender and
/// the receiver report the same counts.
fn figures(inlet: &Inlet<u64>, sender: &Sender<u64>) -> (u64, u64, u64, usize) {
    let of = |edge: EdgeStatus| (edge.sent, edge.received, edge.dropped_by_policy, edge.waiting);
    assert_eq!(of(inlet.edges()[0]), of(sender.status()));
    of(sender.status())
}

#[test]
fn an_edge_counts_its_messages_in_each_form_of_its_queue() {
    let plain = |capacity, policy| EdgeOptions::new("edge", capacity, policy).unwrap();
    let forms = [
        // Each entry has the options of the edge, how many of six messages it drops, and how many messages are in the queue
        // before the first run.
        (plain(2, QueuePolicy::Reject), 4, 0),
        (plain(2, QueuePolicy::Pop), 4, 0),
        (plain(100, QueuePolicy::Reject), 0, 0),
        (plain(8, QueuePolicy::BackPressure), 0, 0),
        (plain(100, QueuePolicy::BackPressure), 0, 0),
        (plain(8, QueuePolicy::BackPressure).feedback(), 0, 1),
    ];
    for (options, dropped, initial) in forms {
        let mut inlet = Inlet::new(&"numbers");
        let mut sender = inlet.connect(options);
        let envelope = |number| Envelope {
            message: Payload::One(number),
            metadata: Metadata::default(),
            sent: None,
        };
        (0..initial).for_each(|_| inlet.push_last(envelope(9)));
        for run in 0..3 {
            // Messages that a feedback edge has kept from the last run count as sent in this run.
            let begins = inlet.waiting() as u64;
            inlet.begin_run();
            assert_eq!(figures(&inlet, &sender), (begins, 0, 0, begins as usize), "{options:?}");
            (0..6).for_each(|number| drop(sender.push(envelope(number))));
            let sent = 6 + begins;
            assert_eq!(figures(&inlet, &sender), (sent, 0, dropped, (sent - dropped) as usize));
            // A staged message does not count as received.
            inlet.stage(&mut |_| ());
            assert_eq!(figures(&inlet, &sender).1, 0);
            inlet.receive();
            inlet.finish();
            assert_eq!(figures(&inlet, &sender).1, 1);
            // A failed tick drops the next message without having received it.
            inlet.drop_untaken(&mut false);
            let failed = inlet.edges()[0].dropped_by_failure;
            assert_eq!((figures(&inlet, &sender).1, failed), (1, 1));
            inlet.stage(&mut |_| ());
            inlet.clear();
            let EdgeStatus { waiting, dropped_at_end: at_end, .. } = inlet.edges()[0];
            let left = sent - dropped - 2;
            let expected = if options.feedback { (left, 0) } else { (0, left) };
            assert_eq!((waiting as u64, at_end), expected, "{options:?}, run {run}");
            assert_eq!(figures(&inlet, &sender), (sent, 1, dropped, waiting));
        }
    }
}

fn numbered(edge: &mut Sender<u64>, number: u64) {
    let mut metadata = Metadata::default();
    metadata.set_sequence(number);
    let message = Payload::One(number);
    assert!(edge.push(Envelope { message, metadata, sent: None }).is_none());
}

fn sequences(inlet: &mut Inlet<u64>) -> Vec<Option<u64>> {
    let mut found = Vec::new();
    inlet.heads(&mut |head| found.push(head.map(|mark| mark.sequence())));
    found
}

#[test]
fn a_message_without_a_partner_makes_room_and_the_next_one_is_staged() {
    for policy in [QueuePolicy::BackPressure, QueuePolicy::Pop] {
        let mut inlet = Inlet::<u64>::new(&"input");
        let options = EdgeOptions::new("a >> b", 1, policy).unwrap();
        let (mut one, mut other) = (inlet.connect(options), inlet.connect(options));
        numbered(&mut one, 3);
        numbered(&mut other, 5);
        assert_eq!(sequences(&mut inlet), [Some(3), Some(5)]);
        // The two edges are full, and their policy drops neither of the two staged messages.
        assert!(one.is_full() && other.is_full());
        inlet.drop_older(5);
        assert!(!one.is_full() && other.is_full());
        assert_eq!(sequences(&mut inlet), [None, Some(5)]);
        numbered(&mut one, 5);
        // Staging again includes the message that was sent after `drop_older`.
        inlet.stage(&mut |_| ());
        assert_eq!(inlet.len(), 2);
        inlet.receive();
        assert_eq!((inlet.handled, inlet.take(), inlet.take()), (Handled::Taken, 5, 5));
        let dropped: Vec<_> = inlet.edges().iter().map(|edge| edge.dropped_alone).collect();
        assert_eq!(dropped, [1, 0]);
    }
}

/// Sends a message as a source does in its tick: its data begins at node 1, at the time `at`, with the number `number`.
fn begun(edge: &mut Sender<u64>, at: Timestamp, number: u64) {
    let mut metadata = Metadata::default();
    metadata.stamp.begin(at, number, Origin::new(1));
    let message = Payload::One(number);
    assert!(edge.push(Envelope { message, metadata, sent: None }).is_none());
}

/// Runs two ticks of a node with two inputs, of which the first has `edges` edges, and returns the metadata that the ticks
/// carry on. `modes` says whether messages are compared, whether metadata is carried on, whether messages are staged, and
/// whether the message of the second input has another sequence number.
fn carried_of_ticks(policy: QueuePolicy, edges: usize, modes: [bool; 4]) -> Carried {
    let [compares, carries, is_staged, is_other] = modes;
    let mut inlets = [Inlet::new(&"left"), Inlet::new(&"right")];
    let options = EdgeOptions::new("edge", 1, policy).unwrap();
    let mut senders: Vec<_> = (0..edges).map(|_| inlets[0].connect(options)).collect();
    senders.push(inlets[1].connect(options));
    inlets.iter_mut().for_each(|inlet| {
        inlet.compares = compares;
        inlet.start(carries).unwrap();
    });
    let mut carried = Carried::default();
    for tick in [5, 6] {
        carried.clear_marks();
        carried.clear();
        for (index, sender) in senders.iter_mut().enumerate() {
            let number = if is_other && index == edges { tick + 1 } else { tick };
            begun(sender, Timestamp(tick), number);
        }
        for inlet in &mut inlets {
            if is_staged {
                inlet.stage(&mut |_| ());
            }
            inlet.receive_noted(&carried);
            assert_eq!(inlet.finish(), Handled::Taken);
        }
    }
    carried
}

#[test]
fn messages_are_compared_and_carried_on_in_each_way_in_which_a_tick_receives_them() {
    let policies = [QueuePolicy::BackPressure, QueuePolicy::Pop];
    for (policy, edges) in policies.into_iter().flat_map(|policy| [1, 2, 3].map(|n| (policy, n))) {
        for bits in 0..16 {
            let modes = [1, 2, 4, 8].map(|bit| bits & bit != 0);
            let [compares, carries, _, is_other] = modes;
            let carried = carried_of_ticks(policy, edges, modes);
            let pair = (compares && is_other).then_some((0, ["left", "right"], [5, 6]));
            let mixed = (if pair.is_some() { 2 } else { 0 }, pair);
            let (ticks, first) = carried.mixed();
            let first = first.map(|pair| (pair.origin, pair.inputs, pair.sequences));
            assert_eq!((ticks, first), mixed, "{policy:?}, {edges} edges, {modes:?}");
            let number = carries.then_some(6);
            assert_eq!(carried.metadata().sequence(), number, "{policy:?}, {edges}, {modes:?}");
        }
    }
}

/// A staged message belongs to the consumer. On an edge with the policy `pop`, it takes no room and is not dropped.
#[test]
fn a_held_message_takes_no_room_on_an_edge_that_pops() {
    let mut inlet = Inlet::new(&"numbers");
    let mut edge = inlet.connect(EdgeOptions::new("edge", 2, QueuePolicy::Pop).unwrap());
    (0..2).for_each(|number| send(&mut edge, number));
    inlet.stage(&mut |_| ());
    send(&mut edge, 2);
    assert_eq!(edge.status().dropped_by_policy, 0);
    let next = |inlet: &mut Inlet<u64>| {
        inlet.receive();
        let taken = inlet.take();
        inlet.finish();
        taken
    };
    assert_eq!([(); 3].map(|()| next(&mut inlet)), [0, 1, 2]);
}

/// `flush` receives all messages in order, even if the first one was staged before.
#[test]
fn a_held_message_is_the_first_again_when_it_is_put_back() {
    for policy in [QueuePolicy::BackPressure, QueuePolicy::Pop] {
        let mut inlet = Inlet::new(&"numbers");
        let mut edge = inlet.connect(EdgeOptions::new("edge", 3, policy).unwrap());
        (0..3).for_each(|number| send(&mut edge, number));
        inlet.stage(&mut |_| ());
        inlet.begin_flush(true);
        inlet.receive();
        assert_eq!([(); 3].map(|()| inlet.take()), [0, 1, 2], "{policy:?}");
    }
}

/// The oldest acquisition time is that of all edges' messages, whether a message is staged or not.
#[test]
fn the_oldest_message_is_that_of_all_edges() {
    for policy in [QueuePolicy::BackPressure, QueuePolicy::Pop] {
        let mut inlet = Inlet::<u64>::new(&"numbers");
        let options = EdgeOptions::new("edge", 2, policy).unwrap();
        let mut edges = [7, 3, 5].map(|acquired| (inlet.connect(options), acquired));
        assert_eq!(inlet.oldest(), None);
        for (edge, acquired) in &mut edges {
            let mut metadata = Metadata::default();
            metadata.set_acquired(Timestamp(*acquired));
            let message = Payload::One(0);
            assert!(edge.push(Envelope { message, metadata, sent: None }).is_none());
        }
        assert_eq!(inlet.oldest(), Some(Timestamp(3)));
        inlet.stage(&mut |_| ());
        assert_eq!(inlet.oldest(), Some(Timestamp(3)));
    }
}

/// The producer may send to a full edge that has given way, for a ring and for a queue behind a lock, and the message that
/// finds no room is counted.
#[test]
fn an_edge_that_gives_way_has_room_and_drops_what_it_can_t_hold() {
    for capacity in [1, 100] {
        let mut inlet = Inlet::new(&"numbers");
        let options = EdgeOptions::new("edge", capacity, QueuePolicy::BackPressure).unwrap();
        let mut edge = inlet.connect(options);
        (0..capacity as u64).for_each(|number| send(&mut edge, number));
        assert!(!edge.has_room() && edge.lacks_room());
        inlet.give_way(&[inlet.edges()[0].id]);
        assert!(edge.has_room() && !edge.lacks_room());
        let (message, metadata) = (Payload::One(500), Metadata::default());
        assert!(edge.push(Envelope { message, metadata, sent: None }).is_some());
        assert_eq!((inlet.edges()[0].dropped_to_go_on, inlet.waiting()), (1, capacity));
        inlet.begin_run();
        assert!(!edge.has_room());
    }
}
