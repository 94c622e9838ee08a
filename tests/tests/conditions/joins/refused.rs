//! Inputs with messages that can't be compared by sequence number. The graph is refused when it is built, or a
//! tick fails.

use streamflow::operator::BooleanHandle;
use streamflow::prelude::*;
use streamflow::schedule::DropReason;
use streamflow_tests::frames::{Camera, Half, Overlay, Renew};
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};

use super::mixed::Sum;
use super::{Three, each_way};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("messages_of_different_origins_are_an_error", other_origin)
        .both("a_tick_of_messages_of_different_origins_fails_by_the_policy", survived)
        .both("a_flush_does_not_fail_with_messages_of_different_origins", flushed)
        .both("a_join_behind_a_join_of_two_sources_is_refused", ambiguous)
        .both("a_join_without_a_common_source_is_refused", refused)
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

/// An operator that sends on the even frames, and sends new data of its own in place of the odd ones.
#[operator]
struct RenewOdd {
    #[input]
    frame: &u64,
    #[output]
    found: u64,
}

impl Compute for RenewOdd {
    fn compute(&mut self, io: RenewOddIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick().is_multiple_of(2) {
            io.found.emit(*io.frame.receive().into_data())
        } else {
            io.frame.discard();
            io.found.emit(100 + cx.tick())
        }
    }
}

macro_rules! surviving {
    ($name:ident, $policy:meta) => {
        graph! {
            struct $name(seen: Seen<(u64, u64)>) {
                #[when(count(5))]
                let camera: Camera = Camera::new();
                let renew: RenewOdd = RenewOdd::new();
                #[when(same_sequence)] #[$policy]
                let overlay: Overlay = Overlay::new(seen.clone());
                camera.frame >> renew.frame;
                #[capacity(2)]
                camera.frame >> overlay.frame;
                renew.found >> overlay.found;
            }
        }
    };
}

surviving!(Skipping, on_failure(skip));
surviving!(Restarting, on_failure(restart(2, 0ms)));

/// Checks that a tick with messages that can't be compared fails like any other tick: with `skip`, its messages
/// are dropped.
fn survived(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    each_way(
        || Skipping::new(platform, seen.clone()),
        |done| {
            let report = done?;
            check_equal(take(&seen), vec![(0, 0), (2, 2), (4, 4)])?;
            check_equal(report.ticks("overlay"), Some(5))?;
            let dropped = report.dropped.iter().map(|of| (of.reason, of.messages));
            check_equal(dropped.collect::<Vec<_>>(), vec![(DropReason::TickFailed, 2); 2])?;
            let overlay = report.nodes.iter().find(|node| node.name == "overlay");
            let failed = overlay.map(|node| (node.failures, node.first_failure.clone()));
            let (failures, first) = failed.unwrap_or_default();
            check_equal(failures, 2)?;
            check_text(
                &first.unwrap_or_default(),
                &["`found` with that of `frame`", "different nodes"],
            )
        },
    )?;
    // A restarted operator could not compare these messages either, so they are dropped.
    each_way(
        || Restarting::new(platform, seen.clone()),
        |done| {
            let report = done?;
            check_equal(take(&seen), vec![(0, 0), (2, 2), (4, 4)])?;
            check_equal(report.ticks("overlay"), Some(5))?;
            let dropped = report.dropped.iter().map(|of| (of.reason, of.messages));
            check_equal(dropped.collect::<Vec<_>>(), vec![(DropReason::TickFailed, 2); 2])
        },
    )
}

/// An operator that notes how many messages wait when its inputs have ended.
#[operator(flush)]
struct Rest {
    #[input]
    frame: &u64,
    #[input]
    found: &u64,
    seen: Seen<(u64, u64)>,
}

impl Compute for Rest {
    fn compute(&mut self, io: RestIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        io.found.discard();
        Err(Failure::msg("the condition has ended"))
    }
}

impl Flush for Rest {
    fn flush(&mut self, io: RestFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        let frames = io.frame.receive().into_data().count() as u64;
        let found = io.found.receive().into_data().count() as u64;
        push_seen(&self.seen, (frames, found));
        Ok(Flushed::Done)
    }
}

graph! {
    struct Flushing(seen: Seen<(u64, u64)>, off: BooleanHandle) {
        #[when(count(3))]
        let camera: Camera = Camera::new();
        let renew: Renew = Renew::new();
        #[when(same_sequence, boolean(off))]
        let rest: Rest = Rest::new(seen);
        camera.frame >> renew.frame;
        #[capacity(3)]
        camera.frame >> rest.frame;
        #[capacity(3)]
        renew.found >> rest.found;
    }
}

/// Checks that waiting messages are not compared once another condition has ended, and are left for `flush`.
fn flushed(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    each_way(
        || Flushing::new(platform, seen.clone(), BooleanHandle::new(false)),
        |done| {
            let report = done?;
            check_equal(report.ticks("rest"), Some(1))?;
            check_equal(take(&seen), vec![(3, 3)])
        },
    )
}

/// An operator that adds two numbers.
#[operator]
struct Fuse {
    #[input]
    one: u64,
    #[input]
    other: u64,
    #[output]
    sum: u64,
}

impl Compute for Fuse {
    fn compute(&mut self, io: FuseIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.sum.emit(io.one.receive().into_data() + io.other.receive().into_data())
    }
}

/// An operator that adds a number if an optional message has come.
#[operator]
struct Adjust {
    #[input]
    frame: u64,
    #[input(optional)]
    offset: u64,
    #[output]
    sum: u64,
}

impl Compute for Adjust {
    fn compute(&mut self, io: AdjustIo<'_>, _: &ExecutionContext) -> Result<()> {
        let offset = io.offset.receive().into_data().unwrap_or_default();
        io.sum.emit(io.frame.receive().into_data() + offset)
    }
}

graph! {
    /// A graph whose two paths begin behind a node that joins two sources.
    struct BehindJoin(seen: Seen<(u64, u64)>) {
        #[when(count(5))]
        let left: Camera = Camera::new();
        #[when(count(5))]
        let right: Camera = Camera::new();
        let fuse: Fuse = Fuse::new();
        let half: Half = Half::new();
        #[when(same_sequence)]
        let overlay: Overlay = Overlay::new(seen);
        left.frame >> fuse.one;
        right.frame >> fuse.other;
        fuse.sum >> half.frame;
        fuse.sum >> overlay.frame;
        half.found >> overlay.found;
    }
}

graph! {
    /// A graph in which one path passes a node that also receives from another source.
    struct BesideOption(seen: Seen<(u64, u64)>) {
        #[when(count(5))]
        let camera: Camera = Camera::new();
        #[when(count(5))]
        let offsets: Camera = Camera::new();
        let adjust: Adjust = Adjust::new();
        let half: Half = Half::new();
        #[when(same_sequence)]
        let overlay: Overlay = Overlay::new(seen);
        #[copy]
        camera.frame >> adjust.frame;
        camera.frame >> overlay.frame;
        offsets.frame >> adjust.offset;
        adjust.sum >> half.frame;
        half.found >> overlay.found;
    }
}

graph! {
    /// A graph that is accepted, beside those above: a join of two ways of one source, and another source at an input that is
    /// not compared.
    struct OneSource(seen: Seen<[u64; 3]>) {
        #[when(count(5))]
        let camera: Camera = Camera::new();
        #[when(count(5))]
        let other: Camera = Camera::new();
        let fuse: Fuse = Fuse::new();
        let half: Half = Half::new();
        #[when(same_sequence([a, c]))]
        let three: Three = Three::new(seen);
        #[copy]
        camera.frame >> fuse.one;
        #[copy]
        camera.frame >> fuse.other;
        #[copy]
        fuse.sum >> half.frame;
        #[copy] #[capacity(5)]
        fuse.sum >> three.a;
        #[capacity(5)]
        other.frame >> three.b;
        half.found >> three.c;
    }
}

fn ambiguous(platform: &Platform) -> Result<(), Failed> {
    let refused = |made: Result<(), Error>, parts: &[&str]| {
        let is_refused = |error: &Error| matches!(error, Error::ImpossibleCondition { .. });
        check_text(&check_error(parts[0], made, is_refused)?, parts)
    };
    let seen = Seen::default;
    refused(
        BehindJoin::new(platform, seen()).map(drop),
        &[
            "`overlay` can't have the condition `same_sequence`: messages of `frame` have numbers of `left` or of \
             `right`, of whichever `fuse` has the older data",
            "depends on timing",
            "write the condition at a node before `fuse`",
            "streamflow::guide::failures",
        ],
    )?;
    refused(
        BesideOption::new(platform, seen()).map(drop),
        &["messages of `found` have numbers of `camera` or of `offsets`, of whichever `adjust`"],
    )?;
    let seen = Seen::default();
    each_way(
        || OneSource::new(platform, seen.clone()),
        |done| {
            done?;
            let frames = (0..5).map(|frame| [2 * frame, frame, 2 * frame]);
            check_equal(take(&seen), frames.collect::<Vec<_>>())
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
