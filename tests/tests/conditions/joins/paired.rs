//! `#[when(same_sequence)]`: which messages are received together, and which are dropped.

use super::super::operators::simulated;
use super::{
    Many, TO_FOUND, TO_FRAME, Three, all_accounted, each_way, halved, lost, sources, to_one_input,
    video,
};

use streamflow::prelude::*;
use streamflow::schedule::{DropReason, Report, Workers};
use streamflow::testing::explore;
use streamflow_tests::frames::{Camera, Detect, Half, Overlay};
use streamflow_tests::seen::{Seen, take};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text, stalled};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .seeded("frames_wait_for_their_boxes", paired_video)
        .both("messages_without_a_partner_are_dropped_and_counted", paired)
        .both("named_inputs_alone_are_compared", named)
        .both("edges_of_one_input_wait_for_each_other", one_input)
        .both("a_partner_that_never_comes_stalls_a_producer_that_has_no_room", no_room)
        .both("a_tick_receives_the_pair_that_was_compared", pairs_in_explored_orders)
        .both("a_message_without_a_partner_that_panics_on_drop_fails_its_node", panics)
}

video!(PairedVideo, [#[when(same_sequence)]], 8);
video!(PairedInOne, [#[when(same_sequence([found, frame]))]], 1);

fn paired_video(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    let report = PairedVideo::new(&simulated(seed)?.0, seen.clone())?.run()?;
    let pairs = take(&seen);
    // The camera sends frames for 363 ms, so at least four of them find a partner.
    check(pairs.len() >= 4 && pairs.iter().all(|(frame, found)| frame == found), || {
        format!("{pairs:?}")
    })?;
    check_equal(report.mixed.clone(), Vec::new())?;
    all_accounted(&report, TO_FRAME, 12, pairs.len())?;
    let sent = report.ticks("detect").unwrap_or_default();
    all_accounted(&report, TO_FOUND, sent, pairs.len())?;
    check(lost(&report, TO_FRAME, Some(DropReason::Alone)) > 0, || report.to_string())?;
    check_text(&report.to_string(), &["`same_sequence`: without a partner"])?;
    // The edge holds one frame, so it has dropped the partner of each found number. The report says so.
    let report = PairedInOne::new(&simulated(seed)?.0, seen.clone())?.run()?;
    let pairs = take(&seen);
    check(pairs.iter().all(|(frame, found)| frame == found), || format!("{pairs:?}"))?;
    all_accounted(&report, TO_FRAME, 12, pairs.len())?;
    let sent = report.ticks("detect").unwrap_or_default();
    all_accounted(&report, TO_FOUND, sent, pairs.len())
}

halved!(PairedHalves, [#[when(same_sequence)]], 9);
halved!(PairedWithoutRoom, [#[when(same_sequence)]], 1);
halved!(PairsOfFew, [#[when(message_available(frame, 2), same_sequence)]], 9);

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
    // The node has another condition, too, and both must hold. Messages without a partner are dropped in the
    // meantime.
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

sources!(NamedPairs, [#[when(same_sequence([c, a]))]], a, b, c);

fn named(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    each_way(
        || NamedPairs::new(platform, seen.clone()),
        |done| {
            // The frames of the second source are not compared with the others, and two of them are left.
            stalled(done)?;
            check_equal(take(&seen), vec![[0, 0, 0], [2, 1, 2], [4, 2, 4]])
        },
    )
}

to_one_input!(PairedInput, [#[when(same_sequence)]]);

fn one_input(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    each_way(
        || PairedInput::new(platform, seen.clone()),
        |done| {
            let report = done?;
            check_equal(take(&seen), vec![vec![0, 0], vec![2, 2], vec![4, 4]])?;
            check_equal(lost(&report, "camera.frame >> many.frames", None), 2)
        },
    )
}

graph! {
    /// A graph in which the policy `pop` may drop a frame at any moment, also while the partner is looked for.
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

/// A message whose odd numbers panic when they are dropped.
#[derive(Message)]
struct Fragile {
    number: Number,
}

/// A number that panics when it is dropped, if it is odd.
struct Odd(u64);

impl Drop for Odd {
    fn drop(&mut self) {
        assert!(self.0.is_multiple_of(2), "{} is odd", self.0);
    }
}

type Number = HostData<Odd>;

/// An operator that sends fragile frames, and the even numbers.
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

/// An operator that receives both messages.
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

macro_rules! breaks {
    ($name:ident, $($policy:tt)*) => {
        graph! {
            struct $name {
                #[when(count(3))]
                let camera: FragileCamera = FragileCamera::new();
                #[when(same_sequence)] $($policy)*
                let both: Both = Both::new();
                #[capacity(3)]
                camera.frame >> both.frame;
                #[capacity(3)]
                camera.number >> both.number;
            }
        }
    };
}

breaks!(Breaks,);
breaks!(BreaksAlways, #[on_failure(skip)]);

fn panics(platform: &Platform) -> Result<(), Failed> {
    let ends = |done: Result<Report, Error>| {
        let is_of_node = |error: &Error| matches!(error, Error::Operator { node, hook: "readiness", .. } if node == "both");
        check_text(&check_error("a panic", done, is_of_node)?, &["1 is odd"])
    };
    each_way(|| Breaks::new(platform), ends)?;
    // No tick has failed, so the policy for failed ticks does not apply.
    each_way(|| BreaksAlways::new(platform), ends)
}
