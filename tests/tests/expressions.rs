//! Expressions in the arguments of macros. Each can end early by `return` or `?`, and that ends only the
//! expression, and no function around it.

use std::cell::Cell;
use std::num::ParseIntError;
use std::time::Duration;

use streamflow::memory::{Allocator, MemoryLimits};
use streamflow::operator::{Answer, AsyncHandle, BooleanHandle, Condition};
use streamflow::prelude::*;
use streamflow::time::Timestamp;
use streamflow_tests::seen::{Seen, all, push_seen, take};
use streamflow_tests::stereo::{Camera, Counter};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("an_early_end_of_a_requirement_ends_no_launch", requirements)
        .both("an_early_end_of_an_expression_of_a_graph_ends_that_alone", graphs)
        .both("an_early_end_of_a_condition_of_a_graph_ends_that_alone", conditions)
        .both("an_expression_sees_no_names_of_the_macros", names)
}

/// How an expression in a macro's argument ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The expression gives its value at its end.
    Value,
    /// The expression gives its value by `return`.
    Return,
    /// The expression gives an error by `return`.
    Error,
    /// The expression gives an error of another library by `?`.
    Question,
}

thread_local! {
    /// The name of the expression that ends early, and how it ends.
    static CHOSEN: Cell<(&'static str, End)> = const { Cell::new(("", End::Value)) };
}

fn choose(place: &'static str, end: End) {
    CHOSEN.set((place, end));
}

fn end(place: &str) -> End {
    let (chosen, end) = CHOSEN.get();
    if chosen == place { end } else { End::Value }
}

/// An expression that ends as the test has chosen. streamflow's macros see a call of this macro, and no `return`.
macro_rules! place {
    ($place:literal, $value:expr) => {{
        if end($place) == End::Return {
            return Ok($value);
        }
        lent!($place, $value)
    }};
}

/// As `place!`, but never returns the value by `return`: here the value is borrowed or moved into a condition,
/// and a `return` would have the condition's type.
macro_rules! lent {
    ($place:literal, $value:expr) => {{
        if end($place) == End::Error {
            return Err(Failure::msg(concat!("ended at ", $place)));
        }
        if end($place) == End::Question {
            "no number".parse::<u8>()?;
        }
        $value
    }};
}

/// Checks that a call fails with the error of the expression that ended early.
fn check_failure<T: std::fmt::Debug>(
    place: &'static str,
    end: End,
    made: Result<T, Error>,
) -> Result<(), Failed> {
    check_error(place, made, |error| match end {
        End::Question => error.find_cause::<ParseIntError>().is_some(),
        _ => error.to_string().contains(&format!("ended at {place}")),
    })
    .map(drop)
}

#[kernel(requires(value > 0.0, place!("requires", out.len() == 8), value < 9.0), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = value;
")]
fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

fn requirements(platform: &Platform) -> Result<(), Failed> {
    let stream = platform.default_stream(device(0))?;
    let (mut eight, mut seven) =
        (platform.buffer::<f32>(8, &stream)?, platform.buffer::<f32>(7, &stream)?);
    for (value, end) in [(1.0, End::Value), (2.0, End::Return)] {
        choose("requires", end);
        stream.launch::<fill>(8, (&mut eight, value))?;
        check_equal(stream.download_blocking(&eight)?.to_vec(), vec![value; 8])?;
        // A launch is refused for a requirement that does not hold: the one before the expression that ends early, that
        // expression's own, or the one after it.
        for (is_seven, value) in [(false, -1.0), (true, 1.0), (false, 9.0)] {
            let buffer = if is_seven { &mut seven } else { &mut eight };
            check_error("launch", stream.launch::<fill>(8, (buffer, value)), |error| {
                matches!(error, Error::KernelRequirement { kernel: "fill", .. })
            })?;
        }
        check_equal(stream.download_blocking(&eight)?.to_vec(), vec![value; 8])?;
    }
    for end in [End::Error, End::Question] {
        choose("requires", end);
        check_failure("requires", end, stream.launch::<fill>(8, (&mut eight, 3.0)))?;
    }
    check_equal(stream.download_blocking(&eight)?.to_vec(), vec![2.0; 8])
}

/// An operator that sends the number of each tick plus an offset. Its first tick fails.
#[operator]
struct Numbers {
    #[output]
    number: u64,
    #[param(range = place!("begin", 5)..=place!("end", 50))]
    offset: u64,
    fails: bool,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if self.fails {
            return Err(Failure::msg("the first operator fails"));
        }
        io.number.emit(self.offset + cx.tick())
    }
}

/// An operator that keeps the number it receives, and sends the next number.
#[operator]
struct Next {
    #[input]
    number: u64,
    #[output]
    next: u64,
    seen: Seen<u64>,
}

impl Compute for Next {
    fn compute(&mut self, io: NextIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        push_seen(&self.seen, number);
        io.next.emit(number + 1)
    }
}

graph! {
    struct Ended(fails: Seen<bool>, seen: Seen<u64>, looped: Seen<u64>) {
        let P: CudaStreamPool = place!("pool", CudaStreamPool::new().max_size(1));

        #[streams(P)] #[when(count(place!("count", 2)))]
        let camera: Camera = place!("node", Camera::new(8, 1));
        #[when(count(2))]
        #[when(periodic(place!("interval", Duration::from_nanos(1)), catch_up(place!("catch up", 2))))]
        #[on_failure(restart(place!("restarts", 1), place!("back-off", Duration::ZERO)))]
        let numbers: Numbers = place!("node that restarts", Numbers::new(5, take(&fails) == [true]));
        #[when(any(count(place!("count in any", 9)), room(next)))]
        let keep: Next = Next::new(seen);
        #[when(count(3))]
        let around: Next = Next::new(looped);

        camera.frame >> _;
        #[capacity(place!("capacity", 3))]
        numbers.number >> keep.number;
        keep.next >> _;
        #[feedback(initial = place!("initial", 7))]
        around.next >> around.number;
    }
}

fn graphs(platform: &Platform) -> Result<(), Failed> {
    let places = [
        "pool",
        "count",
        "node",
        "interval",
        "catch up",
        "restarts",
        "back-off",
        "node that restarts",
        "count in any",
        "capacity",
        "initial",
        "begin",
        "end",
    ];
    for place in places {
        for end in [End::Value, End::Return, End::Error, End::Question] {
            choose(place, end);
            let (fails, seen, looped) = (Seen::default(), Seen::default(), Seen::default());
            push_seen(&fails, true);
            let made = Ended::new(platform, fails, seen.clone(), looped.clone());
            if matches!(end, End::Error | End::Question) {
                check_failure(place, end, made.map(drop))?;
                continue;
            }
            let mut graph = made?;
            let report = graph.run()?;
            let node = |name: &str| report.nodes.iter().find(|node| node.name == name);
            check_equal(node("camera").map(|node| node.ticks), Some(2))?;
            check_equal(node("numbers").map(|node| node.restarts), Some(1))?;
            check_equal((all(&seen), all(&looped)), (vec![6], vec![7, 8, 9]))?;
            for (offset, is_possible) in [(4, false), (5, true), (50, true), (51, false)] {
                check_equal(graph.params().numbers().set_offset(offset).is_ok(), is_possible)?;
            }
        }
    }
    Ok(())
}

/// A condition that never holds.
struct Never;

impl Condition for Never {
    fn check(&mut self, _: Timestamp) -> Answer {
        Answer::Never
    }
}

/// An operator with two inputs.
#[operator]
struct Pair {
    #[input]
    a: u64,
    #[input]
    b: u64,
}

impl Compute for Pair {
    fn compute(&mut self, io: PairIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.discard();
        io.b.discard();
        Ok(())
    }
}

graph! {
    struct Waiting(handle: BooleanHandle, events: AsyncHandle, memory: Allocator, seen: Seen<u64>) {
        #[when(boolean(lent!("boolean", handle)), asynchronous(lent!("asynchronous", events)))]
        #[when(condition(lent!("condition", Never)))]
        let source: Counter = Counter::new();
        #[when(memory_available(lent!("memory", memory.clone()), bytes(place!("bytes", 8))))]
        #[when(memory_available(memory, blocks(place!("blocks", 1))))]
        let other: Counter = Counter::new();
        #[when(multi_message([a, b], sum(place!("sum", 2))))]
        #[when(multi_message([a, b], each(place!("first of each", 1), place!("second of each", 1))))]
        let pair: Pair = Pair::new();
        #[when(message_available(number, place!("messages", 1)))]
        #[when(expiring(number, place!("timeout", Duration::from_nanos(1))))]
        let keep: Next = Next::new(seen);

        #[copy]
        source.number >> (pair.a, keep.number);
        other.number >> pair.b;
        keep.next >> _;
    }
}

fn conditions(platform: &Platform) -> Result<(), Failed> {
    let values =
        ["bytes", "blocks", "sum", "first of each", "second of each", "messages", "timeout"];
    let lent = ["boolean", "asynchronous", "condition", "memory"];
    let memory = platform.allocator("SMALL", device(0), MemoryLimits::blocks(1000, 2))?;
    let make = || {
        let (handle, events) = (BooleanHandle::new(true), AsyncHandle::new());
        Waiting::new(platform, handle, events, memory.clone(), Seen::default()).map(drop)
    };
    for place in values.into_iter().chain(lent) {
        choose(place, End::Value);
        make()?;
        if values.contains(&place) {
            choose(place, End::Return);
            make()?;
        }
        for end in [End::Error, End::Question] {
            choose(place, end);
            check_failure(place, end, make())?;
        }
    }
    Ok(())
}

graph! {
    struct Named(__value: u64, __initial_0: u64, __initial_1: u64, __count_0: u64, __streamflow_platform: u64, one: Seen<u64>, two: Seen<u64>) {
        #[when(count({ let __value = __value + 1; __value.max(2) }))]
        let first: Next = Next::new(one);
        #[when(count(__count_0 + __streamflow_platform))]
        let second: Next = Next::new(two);
        #[feedback(initial = __initial_1)]
        first.next >> first.number;
        #[feedback(initial = __initial_0)]
        second.next >> second.number;
    }
}

/// Checks parameters of a graph with names that `graph!` also gives to variables of its own code.
fn names(platform: &Platform) -> Result<(), Failed> {
    let (one, two) = (Seen::default(), Seen::default());
    Named::new(platform, 1, 30, 40, 1, 2, one.clone(), two.clone())?.run()?;
    check_equal((all(&one), all(&two)), (vec![40, 41], vec![30, 31, 32]))?;
    check(take(&one).len() == 2, || "each list has its own node".into())
}
