//! Mixed ticks, as the report of a run lists them: ticks that combined different sequence numbers of one origin.

use streamflow::prelude::*;
use streamflow::schedule::{Mixed, Report};
use streamflow_tests::frames::{Camera, Detect, Half, Overlay, Renew};
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check_equal, check_text, stalled};

use super::super::operators::simulated;
use super::{Many, TO_FRAME, Three, all_accounted, each_way, halved, sources, to_one_input, video};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .seeded("frames_with_the_boxes_of_other_frames_are_in_the_report", mixed_video)
        .both("a_way_that_leaves_out_messages_mixes_ticks", thinned)
        .both("sources_of_a_join_are_compared_each_with_itself", several_sources)
        .both("messages_of_one_input_are_compared", one_input)
        .both("each_pair_of_a_tick_is_compared", every_edge)
        .both("data_that_begins_behind_an_input_is_compared", renewed)
        .both("lists_of_messages_are_no_mixed_tick", lists)
        .both("state_and_optional_messages_are_no_mixed_tick", no_mixed_tick)
        .both("a_tick_that_leaves_its_messages_after_a_mixed_one_changes_nothing", left)
}

video!(Video, [], 1);

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

halved!(Halved, [], 9);

fn thinned(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    each_way(
        || Halved::new(platform, seen.clone()),
        |done| {
            // The run stalls, since four frames wait at `overlay.frame` for findings that `half` never sends.
            let text = stalled(done)?;
            check_equal(take(&seen), vec![(0, 0), (1, 2), (2, 4), (3, 6), (4, 8)])?;
            check_text(&text, &["waits for a message of `half.found >> overlay.found`"])
        },
    )
}

/// An operator that sends the number of its tick at two outputs, at one of them with the next tick's number as
/// sequence number.
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

/// An operator that receives both messages in its first tick, and leaves them in the queues in every later tick.
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

sources!(LastMixed, [], a, b, c);
sources!(MiddleMixed, [], b, a, c);
sources!(FirstMixed, [], c, b, a);

/// Returns the mixed ticks of a report by source: how many, the source, and the inputs and sequence numbers of
/// the first pair.
fn mixed(report: &Report) -> Vec<(u64, String, [&'static str; 2], [u64; 2])> {
    let pair = |mixed: &Mixed| (mixed.ticks, mixed.source.clone(), mixed.inputs, mixed.sequences);
    report.mixed.iter().map(pair).collect()
}

/// Runs a graph that stalls at its end, and returns the report of that run.
macro_rules! report_of {
    ($graph:expr) => {{
        let running = $graph?.spawn()?;
        let handle = running.handle();
        stalled(running.join())?;
        handle.report()?
    }};
}

fn several_sources(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let one = || "one".to_owned();
    let report = report_of!(LastMixed::new(platform, seen.clone()));
    check_equal(take(&seen), vec![[0, 0, 0], [1, 1, 2], [2, 2, 4]])?;
    check_equal(mixed(&report), vec![(2, one(), ["a", "c"], [1, 2])])?;
    let report = report_of!(MiddleMixed::new(platform, seen.clone()));
    check_equal(mixed(&report), vec![(2, one(), ["b", "c"], [1, 2])])?;
    let report = report_of!(FirstMixed::new(platform, seen.clone()));
    check_equal(mixed(&report), vec![(2, one(), ["a", "c"], [2, 1])])
}

to_one_input!(MixedInput, []);

fn one_input(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let report = report_of!(MixedInput::new(platform, seen.clone()));
    check_equal(take(&seen), vec![vec![0, 0], vec![1, 2], vec![2, 4]])?;
    check_equal(mixed(&report), vec![(2, "camera".into(), ["frames", "frames"], [1, 2])])
}

graph! {
    /// A graph whose `many` receives seven messages of six origins. The messages of the last two edges have one
    /// origin, `camera`.
    struct LateEdges(seen: Seen<Vec<u64>>) {
        #[when(count(5))] let a: Camera = Camera::new();
        #[when(count(5))] let b: Camera = Camera::new();
        #[when(count(5))] let c: Camera = Camera::new();
        #[when(count(5))] let d: Camera = Camera::new();
        #[when(count(5))] let e: Camera = Camera::new();
        #[when(count(5))] let camera: Camera = Camera::new();
        let half: Half = Half::new();
        let many: Many = Many::new(seen);
        #[capacity(5)] a.frame >> many.frames;
        #[capacity(5)] b.frame >> many.frames;
        #[capacity(5)] c.frame >> many.frames;
        #[capacity(5)] d.frame >> many.frames;
        #[capacity(5)] e.frame >> many.frames;
        #[capacity(5)] camera.frame >> many.frames;
        camera.frame >> half.frame;
        half.found >> many.frames;
    }
}

/// An operator that receives one message of each edge of `frames`, and one message of `one`.
#[operator]
struct ManyAndOne {
    #[input(many)]
    frames: &u64,
    #[input]
    one: u64,
    seen: Seen<Vec<u64>>,
}

impl Compute for ManyAndOne {
    fn compute(&mut self, io: ManyAndOneIo<'_>, _: &ExecutionContext) -> Result<()> {
        let mut all: Vec<u64> = io.frames.receive().into_data().copied().collect();
        all.push(io.one.receive().into_data());
        push_seen(&self.seen, all);
        Ok(())
    }
}

graph! {
    /// A graph in which the second message of `frames` and the message of `one` have one origin, `camera`.
    struct SecondEdge(seen: Seen<Vec<u64>>) {
        #[when(count(5))] let other: Camera = Camera::new();
        #[when(count(5))] let camera: Camera = Camera::new();
        let half: Half = Half::new();
        let many: ManyAndOne = ManyAndOne::new(seen);
        #[capacity(5)]
        other.frame >> many.frames;
        #[capacity(5)]
        camera.frame >> many.frames;
        camera.frame >> half.frame;
        half.found >> many.one;
    }
}

/// Checks that a tick counts as mixed whichever messages it received before the two of one origin.
fn every_edge(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let camera = || "camera".to_owned();
    let report = report_of!(LateEdges::new(platform, seen.clone()));
    let numbers = |own, halved| vec![own, own, own, own, own, own, halved];
    check_equal(take(&seen), vec![numbers(0, 0), numbers(1, 2), numbers(2, 4)])?;
    check_equal(mixed(&report), vec![(2, camera(), ["frames", "frames"], [1, 2])])?;
    let report = report_of!(SecondEdge::new(platform, seen.clone()));
    check_equal(take(&seen), vec![vec![0, 0, 0], vec![1, 1, 2], vec![2, 2, 4]])?;
    check_equal(mixed(&report), vec![(2, camera(), ["frames", "one"], [1, 2])])
}

graph! {
    /// A graph in which the data of both inputs of `overlay` begins at `renew`, a node that has an input.
    struct Renewed(seen: Seen<(u64, u64)>) {
        #[when(count(5))]
        let camera: Camera = Camera::new();
        let renew: Renew = Renew::new();
        let half: Half = Half::new();
        let overlay: Overlay = Overlay::new(seen);
        camera.frame >> renew.frame;
        renew.found >> half.frame;
        #[capacity(5)]
        renew.found >> overlay.frame;
        #[copy]
        half.found >> overlay.found;
    }
}

fn renewed(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let report = report_of!(Renewed::new(platform, seen.clone()));
    check_equal(take(&seen), vec![(0, 0), (1, 2), (2, 4)])?;
    check_equal(mixed(&report), vec![(2, "renew".to_owned(), ["frame", "found"], [1, 2])])
}

/// An operator that takes two frames at once, together with one message of `first`.
#[operator]
struct Twos {
    #[input]
    frames: u64,
    #[input]
    first: u64,
    seen: Seen<Vec<u64>>,
}

impl Compute for Twos {
    fn compute(&mut self, io: TwosIo<'_>, _: &ExecutionContext) -> Result<()> {
        let mut all: Vec<u64> = io.frames.receive_batch(2).into_data().collect();
        all.push(io.first.receive().into_data());
        push_seen(&self.seen, all);
        Ok(())
    }
}

graph! {
    struct Batches(seen: Seen<Vec<u64>>) {
        #[when(count(6))]
        let camera: Camera = Camera::new();
        let half: Half = Half::new();
        #[when(message_available(frames, 2))]
        let twos: Twos = Twos::new(seen);
        #[copy]
        camera.frame >> half.frame;
        #[copy] #[capacity(2)]
        camera.frame >> twos.frames;
        #[capacity(3)]
        half.found >> twos.first;
    }
}

/// An operator whose `flush` sends a sum of the messages that were left without a partner.
#[operator(flush)]
struct Rest {
    #[input]
    frame: &u64,
    #[input]
    found: u64,
    #[output]
    rest: u64,
    seen: Seen<(u64, u64)>,
}

impl Compute for Rest {
    fn compute(&mut self, io: RestIo<'_>, _: &ExecutionContext) -> Result<()> {
        let frame = *io.frame.receive().into_data();
        push_seen(&self.seen, (frame, io.found.receive().into_data()));
        Ok(())
    }
}

impl Flush for Rest {
    fn flush(&mut self, io: RestFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        let found: u64 = io.found.receive().into_data().sum();
        io.rest.emit(io.frame.receive().into_data().sum::<u64>() + 100 * found)?;
        Ok(Flushed::Done)
    }
}

/// An operator that notes each number that it receives.
#[operator]
struct Keep {
    #[input]
    number: u64,
    seen: Seen<u64>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, io.number.receive().into_data());
        Ok(())
    }
}

graph! {
    struct Leftover(seen: Seen<(u64, u64)>, sums: Seen<u64>) {
        #[when(count(4))]
        let camera: Camera = Camera::new();
        let half: Half = Half::new();
        #[when(message_available(found, 3))]
        let pairs: Rest = Rest::new(seen);
        let keep: Keep = Keep::new(sums);
        pairs.rest >> keep.number;
        #[policy(pop)] #[capacity(2)]
        camera.frame >> pairs.frame;
        camera.frame >> half.frame;
        #[capacity(4)]
        half.found >> pairs.found;
    }
}

/// Checks that only the first message of a batch decides whether a tick is mixed, and that messages which `flush`
/// receives make no tick mixed.
fn lists(platform: &Platform) -> Result<(), Failed> {
    let (seen, twos) = (Seen::default(), Seen::default());
    each_way(
        || Batches::new(platform, twos.clone()),
        |done| {
            check_equal(mixed(&done?), Vec::new())?;
            check_equal(take(&twos), vec![vec![0, 1, 0], vec![2, 3, 2], vec![4, 5, 4]])
        },
    )?;
    let rest = Seen::default();
    each_way(
        || Leftover::new(platform, seen.clone(), rest.clone()),
        |done| {
            check_equal(mixed(&done?), Vec::new())?;
            check_equal(take(&seen), Vec::new())?;
            // What `flush` received: the frames 2 and 3, and findings with the numbers 0 and 2.
            check_equal(take(&rest), vec![205])
        },
    )
}

/// An operator that adds its frame, the number that it sent in the tick before, and an optional message.
#[operator]
pub(super) struct Sum {
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
        half.found >> three.a;
        #[capacity(5)]
        two.frame >> three.b;
        #[capacity(5)]
        other.frame >> three.c;
        #[copy]
        #[capacity(5)]
        one.frame >> three.extra;
    }
}

fn no_mixed_tick(platform: &Platform) -> Result<(), Failed> {
    each_way(|| State::new(platform), |done| check_equal(done?.mixed, Vec::new()))?;
    // Each of the frames 0, 2 and 4 is received together with the optional message 0, 1 or 2.
    let seen = Seen::default();
    let report = report_of!(Extra::new(platform, seen.clone()));
    check_equal(mixed(&report), Vec::new())?;
    check_equal(take(&seen), vec![[0, 0, 0], [2, 1, 1], [4, 2, 2]])
}
