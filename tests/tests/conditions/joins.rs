//! Nodes that join ways of one source, of which one drops or delays messages: the mixed ticks in the report, and
//! `#[when(same_sequence)]`, by what the consumers see.

use std::time::Duration;

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule;
use streamflow::schedule::{DropReason, Mixed, Report, Workers};
use streamflow::testing::explore;
use streamflow_tests::greedy::greedy;
use streamflow_tests::random::Random;
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text, stalled};

use super::operators::simulated;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .seeded("frames_with_the_boxes_of_other_frames_are_in_the_report", mixed_video)
        .seeded("frames_wait_for_their_boxes", paired_video)
        .both("a_way_that_leaves_out_messages_mixes_ticks", thinned)
        .both("messages_without_a_partner_are_dropped_and_counted", paired)
        .both("sources_of_a_join_are_compared_each_with_itself", several_sources)
        .both("messages_of_one_input_are_compared", one_input)
        .both("state_and_optional_messages_are_no_mixed_tick", no_mixed_tick)
        .both("a_partner_that_never_comes_stalls_a_producer_that_has_no_room", no_room)
        .seeded("random_ways_are_joined_as_their_messages_say", random_ways)
        .both("a_tick_receives_the_pair_that_was_compared", pairs_in_explored_orders)
        .both("a_message_without_a_partner_that_panics_on_drop_fails_its_node", panics)
        .both("a_tick_that_leaves_its_messages_after_a_mixed_one_changes_nothing", left)
        .both("messages_of_different_origins_are_an_error", other_origin)
        .both("a_join_without_a_common_source_is_refused", refused)
}

/// Sends the numbers of its ticks.
#[operator]
struct Camera {
    #[output]
    frame: u64,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.emit(cx.tick())
    }
}

/// Needs 100 ms for a frame.
#[operator]
struct Detect {
    #[input]
    frame: &u64,
    #[output]
    found: u64,
}

impl Compute for Detect {
    fn compute(&mut self, io: DetectIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        cx.sleep(Duration::from_millis(100));
        io.found.emit(frame)
    }
}

/// Sends every second frame on.
#[operator]
struct Half {
    #[input]
    frame: &u64,
    #[output]
    found: u64,
}

impl Compute for Half {
    fn compute(&mut self, io: HalfIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        if frame.is_multiple_of(2) { io.found.emit(frame) } else { Ok(()) }
    }
}

/// Sends frames on as data of its own.
#[operator]
struct Renew {
    #[input]
    frame: &u64,
    #[output]
    found: u64,
}

impl Compute for Renew {
    fn compute(&mut self, io: RenewIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        io.found.emit(cx.tick())
    }
}

/// Notes what it receives together.
#[operator]
struct Overlay {
    #[input]
    frame: &u64,
    #[input]
    found: u64,
    seen: Seen<(u64, u64)>,
}

impl Compute for Overlay {
    fn compute(&mut self, io: OverlayIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        push_seen(&self.seen, (frame, io.found.receive().into_data()));
        Ok(())
    }
}

macro_rules! video {
    ($name:ident, [$($condition:tt)*], $capacity:literal) => {
        graph! {
            struct $name(seen: Seen<(u64, u64)>) {
                #[when(count(12), periodic(33ms))]
                let camera: Camera = Camera::new();
                #[worker(slow)]
                let detect: Detect = Detect::new();
                $($condition)*
                let overlay: Overlay = Overlay::new(seen);
                #[policy(pop)]
                camera.frame >> detect.frame;
                #[policy(pop)]
                #[capacity($capacity)]
                camera.frame >> overlay.frame;
                detect.found >> overlay.found;
            }
        }
    };
}

video!(Video, [], 1);
video!(PairedVideo, [#[when(same_sequence)]], 8);
video!(PairedInOne, [#[when(same_sequence([found, frame]))]], 1);

const TO_FRAME: &str = "camera.frame >> overlay.frame";
const TO_FOUND: &str = "detect.found >> overlay.found";

fn lost(report: &Report, edge: &str, reason: Option<DropReason>) -> u64 {
    let of_edge = report.dropped.iter().filter(|dropped| dropped.edge == edge);
    let counted = of_edge.filter(|dropped| reason.is_none_or(|reason| dropped.reason == reason));
    counted.map(|dropped| dropped.messages).sum()
}

/// Checks that each message of an edge was received, dropped or left.
fn all_accounted(report: &Report, edge: &str, sent: u64, received: usize) -> Result<(), Failed> {
    check_equal((edge, sent), (edge, received as u64 + lost(report, edge, None)))
}

fn mixed_video(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    let report = Video::new(&simulated(seed)?.0, seen.clone())?.run()?;
    let pairs = take(&seen);
    let wrong: Vec<_> = pairs.iter().filter(|(frame, found)| frame != found).collect();
    let [Mixed { node, ticks, source, inputs, sequences, .. }] = &report.mixed[..] else {
        return Err(Failed::msg(report));
    };
    check_equal((&**node, &**source, *inputs), ("overlay", "camera", ["frame", "found"]))?;
    check_equal(*ticks, wrong.len() as u64)?;
    check_equal(Some(&&(sequences[0], sequences[1])), wrong.first())?;
    let [frame, found] = sequences;
    let line = format!("`frame` had number {frame} of `camera`, and `found` had {found}");
    check_text(&report.to_string(), &[&line, "`#[when(same_sequence)]`"])?;
    all_accounted(&report, TO_FRAME, 12, pairs.len())
}

fn paired_video(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    let report = PairedVideo::new(&simulated(seed)?.0, seen.clone())?.run()?;
    let pairs = take(&seen);
    // The camera runs for 363 ms.
    check(pairs.len() >= 4 && pairs.iter().all(|(frame, found)| frame == found), || {
        format!("{pairs:?}")
    })?;
    check_equal(report.mixed.clone(), Vec::new())?;
    all_accounted(&report, TO_FRAME, 12, pairs.len())?;
    let sent = report.ticks("detect").unwrap_or_default();
    all_accounted(&report, TO_FOUND, sent, pairs.len())?;
    check(lost(&report, TO_FRAME, Some(DropReason::Alone)) > 0, || report.to_string())?;
    check_text(&report.to_string(), &["`same_sequence`: without a partner"])?;
    // An edge that holds one frame has lost the frame of each box. The report says so.
    let report = PairedInOne::new(&simulated(seed)?.0, seen.clone())?.run()?;
    let pairs = take(&seen);
    check(pairs.iter().all(|(frame, found)| frame == found), || format!("{pairs:?}"))?;
    all_accounted(&report, TO_FRAME, 12, pairs.len())?;
    let sent = report.ticks("detect").unwrap_or_default();
    all_accounted(&report, TO_FOUND, sent, pairs.len())
}

macro_rules! halved {
    ($name:ident, [$($condition:tt)*], $capacity:literal) => {
        graph! {
            struct $name(seen: Seen<(u64, u64)>) {
                #[when(count(9))]
                let camera: Camera = Camera::new();
                let half: Half = Half::new();
                $($condition)*
                let overlay: Overlay = Overlay::new(seen);
                camera.frame >> half.frame;
                #[capacity($capacity)]
                camera.frame >> overlay.frame;
                half.found >> overlay.found;
            }
        }
    };
}

halved!(Halved, [], 9);
halved!(PairedHalves, [#[when(same_sequence)]], 9);
halved!(PairedWithoutRoom, [#[when(same_sequence)]], 1);
halved!(PairsOfFew, [#[when(message_available(frame, 2), same_sequence)]], 9);

/// Runs a graph on one thread and with workers.
fn each_way<G: Graph>(
    make: impl Fn() -> Result<G, Error>,
    mut test: impl FnMut(Result<Report, Error>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    test(schedule::run(&mut greedy(make()?)?))?;
    for workers in [1, 2] {
        let mut graph = make()?;
        graph.workers(Workers::new(workers))?;
        test(schedule::run(&mut graph))?;
    }
    Ok(())
}

fn thinned(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    each_way(
        || Halved::new(platform, seen.clone()),
        |done| {
            // Four frames wait for boxes that never come.
            let text = stalled(done)?;
            check_equal(take(&seen), vec![(0, 0), (1, 2), (2, 4), (3, 6), (4, 8)])?;
            check_text(&text, &["waits for a message of `half.found >> overlay.found`"])
        },
    )
}

fn paired(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let pairs = vec![(0, 0), (2, 2), (4, 4), (6, 6), (8, 8)];
    each_way(
        || PairedHalves::new(platform, seen.clone()),
        |done| {
            let report = done?;
            check_equal(take(&seen), pairs.clone())?;
            check_equal(lost(&report, TO_FRAME, Some(DropReason::Alone)), 4)?;
            check_equal((report.dropped.len(), report.mixed.len()), (1, 0))
        },
    )?;
    // With another condition, both must hold; messages without a partner are dropped meanwhile.
    each_way(
        || PairsOfFew::new(platform, seen.clone()),
        |done| {
            let report = done?;
            let taken = take(&seen);
            check(taken.iter().all(|(frame, found)| frame == found), || format!("{taken:?}"))?;
            all_accounted(&report, TO_FRAME, 9, taken.len())?;
            all_accounted(&report, "half.found >> overlay.found", 5, taken.len())
        },
    )
}

fn no_room(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    each_way(
        || PairedWithoutRoom::new(platform, seen.clone()),
        |done| {
            let text = stalled(done)?;
            check_equal(take(&seen), vec![(0, 0)])?;
            let chain = "`camera`, after 2 of 9 ticks, waits for room in `camera.frame >> overlay.frame`, which is full \
                         (1 of 1) → `overlay`, after 1 tick, has the message of `camera.frame >> overlay.frame`, but \
                         waits for a message of `half.found >> overlay.found`";
            check_text(&text, &[chain])
        },
    )
}

/// Sends the number of its tick twice, once with the number of the next tick as its sequence.
#[operator]
struct Skewed {
    #[output]
    a: u64,
    #[output]
    b: u64,
}

impl Compute for Skewed {
    fn compute(&mut self, io: SkewedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.a.emit(cx.tick())?;
        io.b.sequence(cx.tick() + 1).emit(cx.tick())
    }
}

/// Receives in its first tick, and leaves its messages in all others.
#[operator]
struct Leaves {
    #[input]
    a: u64,
    #[input]
    b: u64,
}

impl Compute for Leaves {
    fn compute(&mut self, io: LeavesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() > 0 {
            io.a.leave();
            io.b.leave();
        } else {
            io.a.receive().into_data();
            io.b.receive().into_data();
        }
        Ok(())
    }
}

graph! {
    struct Left {
        #[when(count(3))]
        let skewed: Skewed = Skewed::new();
        let leaves: Leaves = Leaves::new();
        skewed.a >> leaves.a;
        skewed.b >> leaves.b;
    }
}

fn left(platform: &Platform) -> Result<(), Failed> {
    each_way(
        || Left::new(platform),
        |done| check_text(&stalled(done)?, &["`leaves`, after", "runs, but leaves the message"]),
    )
}

/// Receives three messages together.
#[operator]
struct Three {
    #[input]
    a: u64,
    #[input]
    b: u64,
    #[input]
    c: u64,
    #[input(optional)]
    extra: u64,
    seen: Seen<[u64; 3]>,
}

impl Compute for Three {
    fn compute(&mut self, io: ThreeIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.extra.receive().into_data();
        let (a, b) = (io.a.receive().into_data(), io.b.receive().into_data());
        push_seen(&self.seen, [a, b, io.c.receive().into_data()]);
        Ok(())
    }
}

macro_rules! sources {
    ($name:ident, [$($condition:tt)*], $first:ident, $second:ident, $halved:ident) => {
        graph! {
            struct $name(seen: Seen<[u64; 3]>) {
                #[when(count(5))]
                let one: Camera = Camera::new();
                #[when(count(5))]
                let other: Camera = Camera::new();
                let half: Half = Half::new();
                $($condition)*
                let three: Three = Three::new(seen);
                #[copy]
                one.frame >> half.frame;
                #[capacity(5)] #[copy]
                one.frame >> three.$first;
                #[capacity(5)]
                other.frame >> three.$second;
                half.found >> three.$halved;
            }
        }
    };
}

sources!(LastMixed, [], a, b, c);
sources!(MiddleMixed, [], b, a, c);
sources!(FirstMixed, [], c, b, a);
sources!(NamedPairs, [#[when(same_sequence([c, a]))]], a, b, c);

fn several_sources(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mixed = |report: &Report| {
        let pair =
            |mixed: &Mixed| (mixed.ticks, mixed.source.clone(), mixed.inputs, mixed.sequences);
        report.mixed.iter().map(pair).collect::<Vec<_>>()
    };
    // The run stalls at the end; the handle has its report.
    macro_rules! report_of {
        ($graph:ident) => {{
            let running = $graph::new(platform, seen.clone())?.spawn()?;
            let handle = running.handle();
            stalled(running.join())?;
            handle.report()?
        }};
    }
    let one = || "one".to_owned();
    let report = report_of!(LastMixed);
    check_equal(take(&seen), vec![[0, 0, 0], [1, 1, 2], [2, 2, 4]])?;
    check_equal(mixed(&report), vec![(2, one(), ["a", "c"], [1, 2])])?;
    let report = report_of!(MiddleMixed);
    check_equal(mixed(&report), vec![(2, one(), ["b", "c"], [1, 2])])?;
    let report = report_of!(FirstMixed);
    check_equal(mixed(&report), vec![(2, one(), ["a", "c"], [2, 1])])?;
    take(&seen);
    each_way(
        || NamedPairs::new(platform, seen.clone()),
        |done| {
            // The other source's frames are not compared, and two of them are left.
            stalled(done)?;
            check_equal(take(&seen), vec![[0, 0, 0], [2, 1, 2], [4, 2, 4]])
        },
    )
}

/// Receives one message of each edge.
#[operator]
struct Many {
    #[input(many)]
    frames: &u64,
    seen: Seen<Vec<u64>>,
}

impl Compute for Many {
    fn compute(&mut self, io: ManyIo<'_>, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, io.frames.receive().into_data().copied().collect());
        Ok(())
    }
}

macro_rules! to_one_input {
    ($name:ident, [$($condition:tt)*]) => {
        graph! {
            struct $name(seen: Seen<Vec<u64>>) {
                #[when(count(5))]
                let camera: Camera = Camera::new();
                let half: Half = Half::new();
                $($condition)*
                let many: Many = Many::new(seen);
                camera.frame >> half.frame;
                #[capacity(5)]
                camera.frame >> many.frames;
                half.found >> many.frames;
            }
        }
    };
}

to_one_input!(MixedInput, []);
to_one_input!(PairedInput, [#[when(same_sequence)]]);

fn one_input(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let running = MixedInput::new(platform, seen.clone())?.spawn()?;
    let handle = running.handle();
    stalled(running.join())?;
    check_equal(take(&seen), vec![vec![0, 0], vec![1, 2], vec![2, 4]])?;
    let report = handle.report()?;
    let mixed = report.mixed.iter().map(|mixed| (mixed.ticks, mixed.inputs, mixed.sequences));
    check_equal(mixed.collect(), vec![(2, ["frames", "frames"], [1, 2])])?;
    each_way(
        || PairedInput::new(platform, seen.clone()),
        |done| {
            let report = done?;
            check_equal(take(&seen), vec![vec![0, 0], vec![2, 2], vec![4, 4]])?;
            check_equal(lost(&report, "camera.frame >> many.frames", None), 2)
        },
    )
}

/// Adds what it sent in the tick before, and an optional message.
#[operator]
struct Sum {
    #[input]
    frame: u64,
    #[input]
    before: u64,
    #[input(optional)]
    extra: u64,
    #[output]
    sum: u64,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        let extra = io.extra.receive().into_data().unwrap_or_default();
        let sum = io.frame.receive().into_data() + io.before.receive().into_data() + extra;
        io.sum.emit(sum)
    }
}

graph! {
    struct State {
        #[when(count(5))]
        let camera: Camera = Camera::new();
        let half: Half = Half::new();
        let sum: Sum = Sum::new();
        #[copy]
        camera.frame >> half.frame;
        #[copy]
        camera.frame >> sum.frame;
        #[capacity(5)]
        half.found >> sum.extra;
        #[feedback(initial = 0)]
        sum.sum >> sum.before;
    }
}

graph! {
    struct Extra(seen: Seen<[u64; 3]>) {
        #[when(count(5))]
        let one: Camera = Camera::new();
        #[when(count(5))]
        let two: Camera = Camera::new();
        #[when(count(5))]
        let other: Camera = Camera::new();
        let half: Half = Half::new();
        let three: Three = Three::new(seen);
        #[copy]
        one.frame >> half.frame;
        #[copy]
        one.frame >> three.a;
        two.frame >> three.b;
        other.frame >> three.c;
        #[capacity(5)]
        half.found >> three.extra;
    }
}

fn no_mixed_tick(platform: &Platform) -> Result<(), Failed> {
    each_way(|| State::new(platform), |done| check_equal(done?.mixed, Vec::new()))?;
    let seen = Seen::default();
    each_way(
        || Extra::new(platform, seen.clone()),
        |done| {
            check_equal(done?.mixed, Vec::new())?;
            check_equal(take(&seen).len(), 5)
        },
    )
}

/// Sends those frames on whose bit is set.
#[operator]
struct Way {
    #[input]
    frame: &u64,
    #[output]
    frames: u64,
    keeps: u64,
}

impl Compute for Way {
    fn compute(&mut self, io: WayIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        if self.keeps >> frame & 1 == 1 { io.frames.emit(frame) } else { Ok(()) }
    }
}

macro_rules! ways {
    ($name:ident, $($policy:tt)*) => {
        graph! {
            struct $name(left: u64, right: u64, capacity: usize, seen: Seen<(u64, u64)>) {
                #[when(count(16))]
                let camera: Camera = Camera::new();
                let one: Way = Way::new(left);
                let other: Way = Way::new(right);
                #[when(same_sequence)]
                let overlay: Overlay = Overlay::new(seen);
                camera.frame >> (one.frame, other.frame);
                $($policy)* #[capacity(capacity)]
                one.frames >> overlay.frame;
                $($policy)* #[capacity(capacity)]
                other.frames >> overlay.found;
            }
        }
    };
}

ways!(Ways,);
ways!(LossyWays, #[policy(pop)]);

/// Joins two lists as the guide says: pairs, dropped messages and those that are left, for each list.
fn join(ways: [Vec<u64>; 2]) -> (Vec<(u64, u64)>, [u64; 2], [u64; 2]) {
    let (mut pairs, mut dropped, mut at) = (Vec::new(), [0, 0], [0, 0]);
    while let (Some(one), Some(other)) = (ways[0].get(at[0]), ways[1].get(at[1])) {
        if one == other {
            pairs.push((*one, *other));
        }
        for (way, drops) in [one < other, other < one].into_iter().enumerate() {
            at[way] += usize::from(drops || one == other);
            dropped[way] += u64::from(drops);
        }
    }
    let left = [0, 1].map(|way| (ways[way].len() - at[way]) as u64);
    (pairs, dropped, left)
}

fn random_ways(seed: u64) -> Result<(), Failed> {
    let mut random = Random::new(seed);
    let platform = Platform::host().seed(seed).build()?;
    let edges = ["one.frames >> overlay.frame", "other.frames >> overlay.found"];
    for _ in 0..8 {
        let keeps = [0, 1].map(|_| (random.below(1 << 16) | random.below(1 << 16)) as u64);
        let sent = keeps.map(|keeps| (0..16).filter(|frame| keeps >> frame & 1 == 1).collect());
        let lens = [0, 1].map(|way: usize| keeps[way].count_ones().into());
        let (pairs, dropped, left) = join(sent);
        let seen = Seen::default();
        each_way(
            || Ways::new(&platform, keeps[0], keeps[1], 16, seen.clone()),
            |done| {
                let report = done?;
                check_equal(take(&seen), pairs.clone())?;
                let of = |reason| edges.map(|edge| lost(&report, edge, Some(reason)));
                check_equal((of(DropReason::Alone), of(DropReason::RunEnded)), (dropped, left))
            },
        )?;
        let capacity = 1 + random.below(3);
        each_way(
            || LossyWays::new(&platform, keeps[0], keeps[1], capacity, seen.clone()),
            |done| {
                let report = done?;
                let found = take(&seen);
                check(found.iter().all(|pair| pairs.contains(pair)), || format!("{found:?}"))?;
                let checked = |(edge, sent)| all_accounted(&report, edge, sent, found.len());
                edges.into_iter().zip(lens).try_for_each(checked)
            },
        )?;
    }
    Ok(())
}

graph! {
    /// The policy `pop` may take a frame away at any moment.
    struct Raced(seen: Seen<(u64, u64)>) {
        #[when(count(6))]
        let camera: Camera = Camera::new();
        let half: Half = Half::new();
        #[when(same_sequence)]
        let overlay: Overlay = Overlay::new(seen);
        #[policy(pop)]
        camera.frame >> half.frame;
        #[policy(pop)] #[capacity(2)]
        camera.frame >> overlay.frame;
        #[policy(pop)]
        half.found >> overlay.found;
    }
}

fn pairs_in_explored_orders(_: &Platform) -> Result<(), Failed> {
    Ok(explore(|platform| {
        let seen = Seen::default();
        let mut graph = Raced::new(platform, seen.clone())?;
        graph.workers(Workers::new(2))?;
        let report = graph.run()?;
        let pairs = take(&seen);
        let is_right = pairs.iter().all(|(frame, found)| frame == found);
        let (lost, received) = (lost(&report, TO_FRAME, None), pairs.len() as u64);
        let right = is_right && report.mixed.is_empty() && lost + received == 6;
        if right { Ok(()) } else { Err(Failure::msg(format!("{pairs:?}\n{report}"))) }
    })?)
}

/// A frame that panics when it is dropped, if it is odd.
#[derive(Message)]
struct Fragile {
    number: Number,
}

/// Panics on its drop if it is odd.
struct Odd(u64);

impl Drop for Odd {
    fn drop(&mut self) {
        assert!(self.0.is_multiple_of(2), "{} is odd", self.0);
    }
}

type Number = HostData<Odd>;

/// Sends fragile frames, and the even numbers.
#[operator]
struct FragileCamera {
    #[output]
    frame: Fragile,
    #[output]
    number: u64,
}

impl Compute for FragileCamera {
    fn compute(&mut self, io: FragileCameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.emit(Fragile { number: HostData(Odd(cx.tick())) })?;
        if cx.tick().is_multiple_of(2) { io.number.emit(cx.tick()) } else { Ok(()) }
    }
}

/// Receives both.
#[operator]
struct Both {
    #[input]
    frame: &Fragile,
    #[input]
    number: u64,
}

impl Compute for Both {
    fn compute(&mut self, io: BothIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = io.frame.receive().into_data().number.0.0;
        check_equal(frame, io.number.receive().into_data()).map_err(Failure::msg)
    }
}

graph! {
    struct Breaks {
        #[when(count(3))]
        let camera: FragileCamera = FragileCamera::new();
        #[when(same_sequence)]
        let both: Both = Both::new();
        #[capacity(3)]
        camera.frame >> both.frame;
        #[capacity(3)]
        camera.number >> both.number;
    }
}

fn panics(platform: &Platform) -> Result<(), Failed> {
    each_way(
        || Breaks::new(platform),
        |done| {
            let is_of_node = |error: &Error| matches!(error, Error::Operator { node, hook: "readiness", .. } if node == "both");
            check_text(&check_error("a panic", done, is_of_node)?, &["1 is odd"])
        },
    )
}

graph! {
    struct OtherOrigin(seen: Seen<(u64, u64)>) {
        #[when(count(3))]
        let camera: Camera = Camera::new();
        let renew: Renew = Renew::new();
        #[when(same_sequence)]
        let overlay: Overlay = Overlay::new(seen);
        camera.frame >> renew.frame;
        camera.frame >> overlay.frame;
        renew.found >> overlay.found;
    }
}

fn other_origin(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    each_way(
        || OtherOrigin::new(platform, seen.clone()),
        |done| {
            let is_of_node =
                |error: &Error| matches!(error, Error::Operator { node, .. } if node == "overlay");
            let text = check_error("other origins", done, is_of_node)?;
            check_equal(take(&seen), Vec::new())?;
            check_text(&text, &["the message of `found` with that of `frame`", "different nodes"])
        },
    )
}

macro_rules! refused_graph {
    ($name:ident, [$($condition:tt)*]) => {
        graph! {
            struct $name(seen: Seen<[u64; 3]>) {
                #[when(count(5))]
                let one: Camera = Camera::new();
                #[when(count(5))]
                let other: Camera = Camera::new();
                let half: Half = Half::new();
                $($condition)*
                let three: Three = Three::new(seen);
                #[copy]
                one.frame >> half.frame;
                #[copy]
                one.frame >> three.a;
                other.frame >> three.b;
                half.found >> three.c;
            }
        }
    };
}

refused_graph!(AllThree, [#[when(same_sequence)]]);
refused_graph!(NoneInCommon, [#[when(same_sequence([b, c]))]]);

macro_rules! refused_sum {
    ($name:ident, [$($condition:tt)*]) => {
        graph! {
            struct $name {
                #[when(count(5))]
                let camera: Camera = Camera::new();
                $($condition)*
                let sum: Sum = Sum::new();
                #[copy]
                camera.frame >> sum.frame;
                #[copy]
                camera.frame >> sum.extra;
                #[feedback(initial = 0)]
                sum.sum >> sum.before;
            }
        }
    };
}

refused_sum!(OneInput, [#[when(same_sequence)]]);
refused_sum!(OptionalInput, [#[when(same_sequence([frame, extra]))]]);
refused_sum!(StateInput, [#[when(same_sequence([frame, before]))]]);

fn refused(platform: &Platform) -> Result<(), Failed> {
    let refused = |made: Result<(), Error>, parts: &[&str]| {
        let is_refused = |error: &Error| matches!(error, Error::ImpossibleCondition { .. });
        check_text(&check_error(parts[0], made, is_refused)?, parts)
    };
    let three = |made: Result<AllThree, Error>| made.map(drop);
    refused(
        three(AllThree::new(platform, Seen::default())),
        &["`three` can't have the condition `same_sequence`", "no node sends to both `a` and `b`"],
    )?;
    refused(
        NoneInCommon::new(platform, Seen::default()).map(drop),
        &["`same_sequence([b, c])`", "no node sends to both `b` and `c`"],
    )?;
    refused(OneInput::new(platform).map(drop), &["two edges or more"])?;
    refused(OptionalInput::new(platform).map(drop), &["`extra` is an optional input"])?;
    refused(StateInput::new(platform).map(drop), &["`before` carries the state"])
}
