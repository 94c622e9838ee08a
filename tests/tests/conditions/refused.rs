//! Conditions that can never hold, where only their values show it. Such conditions are refused when the graph is
//! made.

use std::time::Duration;

use streamflow::memory::{Allocator, MemoryLimits};
use streamflow::prelude::*;
use streamflow_tests::seen::Seen;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check_error, check_text};

use super::operators::{Gather, Sink};

pub(crate) fn add(suite: Suite) -> Suite {
    suite.both("a_condition_that_can_never_hold_is_refused", refused)
}

graph! {
    struct Values(interval: Duration, count: u64, sum: usize, each: usize, memory: Allocator, bytes: u64) {
        #[when(periodic(interval))]
        let source: Counter = Counter::new();
        #[when(any(count(count), periodic(interval)))]
        let other: Counter = Counter::new();
        #[when(multi_message([a, b], sum(sum)), memory_available(memory, bytes(bytes)))]
        let gather: Gather = Gather::new(Seen::default());
        #[when(message_available(number, each))]
        let sink: Sink = Sink::new(Seen::default());
        source.number >> (gather.a, sink.number);
        #[capacity(3)]
        other.number >> gather.b;
    }
}

graph! {
    struct Blocks(memory: Allocator, blocks: u64) {
        #[when(memory_available(&memory, blocks(blocks)))]
        let source: Counter = Counter::new();
        source.number >> _;
    }
}

graph! {
    struct NoEdge() {
        #[when(count(1))]
        let source: Counter = Counter::new();
        #[when(any(expiring(b, 1s), message_available(a, 1)))]
        let gather: Gather = Gather::new(Seen::default());
        source.number >> gather.a;
    }
}

graph! {
    struct Expires(timeout: Duration) {
        #[when(count(1))]
        let source: Counter = Counter::new();
        #[when(expiring(number, timeout))]
        let sink: Sink = Sink::new(Seen::default());
        source.number >> sink.number;
    }
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let memory = platform.allocator("SMALL", device(0), MemoryLimits::blocks(1000, 2))?;
    let ms = Duration::from_millis;
    let values = |interval, count, sum, each, bytes| {
        Values::new(platform, interval, count, sum, each, memory.clone(), bytes).map(drop)
    };
    // The control: with these values all conditions can hold.
    values(ms(1), 1, 4, 1, 2000)?;
    let refused = |what: Result<(), Error>, parts: &[&str]| {
        let text = check_error(parts[0], what, |error| {
            matches!(error, Error::ImpossibleCondition { .. })
        })?;
        check_text(&text, parts)
    };
    let parts = ["`source` can't have the condition `periodic(interval)`", "0", "longer one"];
    refused(values(ms(0), 1, 4, 1, 2000), &parts)?;
    let parts = [
        "`other` can't have the condition `any(count(count), periodic(interval))`",
        "in `count(count)`",
    ];
    refused(values(ms(1), 0, 4, 1, 2000), &parts)?;
    let parts = [
        "`multi_message([a, b], sum(sum))`",
        "5 messages",
        "`a` and `b` hold 4",
        "`#[capacity(n)]`",
    ];
    refused(values(ms(1), 1, 5, 1, 2000), &parts)?;
    refused(values(ms(1), 1, 0, 1, 2000), &["0 messages", "at least 1"])?;
    refused(values(ms(1), 1, usize::MAX, 1, 2000), &["hold 4"])?;
    refused(values(ms(1), 1, 4, 2, 2000), &["`sink`", "2 messages", "hold 1"])?;
    refused(
        values(ms(1), 1, 4, 1, 2001),
        &["`memory_available(memory, bytes(bytes))`", "2001 bytes", "wait for less"],
    )?;
    refused(values(ms(1), 1, 4, 1, 0), &["waits for no memory"])?;

    let blocks = |limits, blocks| -> Result<(), Error> {
        let memory = platform.allocator("OTHER", device(0), limits)?;
        Blocks::new(platform, memory, blocks).map(drop)
    };
    blocks(MemoryLimits::blocks(10, 3), 3)?;
    refused(blocks(MemoryLimits::blocks(10, 3), 4), &["fewer than 4 blocks", "wait for fewer"])?;
    refused(blocks(MemoryLimits::stream_ordered(), 1), &["`OTHER` has no blocks", "`bytes(n)`"])?;
    refused(
        blocks(MemoryLimits::unbounded(), 1),
        &["`OTHER` has no limit", "remove the condition"],
    )?;
    Expires::new(platform, Duration::from_nanos(1))?;
    let parts = ["`sink` can't have the condition `expiring(number, timeout)`", "0", "longer one"];
    refused(Expires::new(platform, Duration::ZERO).map(drop), &parts)?;
    refused(NoEdge::new(platform).map(drop), &["no edge leads to `b`", "connect it"])
}
