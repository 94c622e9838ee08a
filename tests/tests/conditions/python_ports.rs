//! The queue of a port of the Python module (`bindings/python/src/graph/queue.rs`) between a graph and a program,
//! explored in many orders: no wake-up may be lost. In the controls, a queue wakes another run instead of its
//! own.

use std::sync::Arc;

use streamflow::context::Waker;
use streamflow::operator::{Answer, Condition};
use streamflow::prelude::*;
use streamflow::testing::{Explorer, scope, yield_now};
use streamflow::time::Timestamp;
use streamflow_tests::{Failed, Suite, check};

use self::queue::{Found, Queue, Refused};

#[allow(dead_code, reason = "the module uses more of it")]
#[path = "../../../bindings/python/src/graph/queue.rs"]
mod queue;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_port_of_python_loses_no_wake_up", no_wake_up_is_lost)
        .plain("a_push_or_a_close_that_does_not_wake_is_found", a_push_that_does_not_wake)
        .plain("a_take_that_does_not_wake_is_found", a_take_that_does_not_wake)
}

const MESSAGES: u64 = 3;

/// The most turns that a program yields before each call. The scheduler sleeps after two.
const PAUSES: u32 = 5;

/// How often a program checks a queue before the test fails. A graph needs only a few turns.
const LOOKS: u32 = 1000;

/// A port, and optionally a waker that its queue calls in place of its own graph's.
#[derive(Clone)]
struct Port {
    queue: Arc<Queue<u64>>,
    wakes: Option<Waker>,
}

impl Port {
    fn new(wakes: Option<Waker>) -> Self {
        Self::of(1, wakes)
    }

    fn of(capacity: u64, wakes: Option<Waker>) -> Self {
        Self { queue: Arc::new(Queue::new(capacity as usize)), wakes }
    }
}

struct Has {
    port: Port,
    check: fn(&Queue<u64>) -> Answer,
}

impl Condition for Has {
    fn check(&mut self, _: Timestamp) -> Answer {
        (self.check)(&self.port.queue)
    }

    fn start(&mut self, waker: &Waker) {
        self.port.queue.begin(self.port.wakes.as_ref().unwrap_or(waker));
    }

    fn reason(&self) -> String {
        "the program is slow".to_owned()
    }
}

fn has_entry(port: &Port) -> Has {
    Has { port: port.clone(), check: Queue::has_entry }
}

fn has_room(port: &Port) -> Has {
    Has { port: port.clone(), check: Queue::has_room }
}

/// An operator that emits the messages that the program pushes.
#[operator]
struct Pushed {
    #[output]
    number: u64,
    port: Port,
}

impl Compute for Pushed {
    fn compute(&mut self, io: PushedIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = self.port.queue.pop().ok_or_else(|| Failure::msg("the queue is empty"))?;
        io.number.emit(number)
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.port.queue.end();
        Ok(())
    }
}

/// An operator that passes its messages to the program.
#[operator]
struct Taken {
    #[input]
    number: u64,
    port: Port,
}

impl Compute for Taken {
    fn compute(&mut self, io: TakenIo<'_>, _: &ExecutionContext) -> Result<()> {
        let handed = self.port.queue.hand_over(io.number.receive().into_data());
        handed.map_err(|_| Failure::msg("the queue was not begun"))
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.port.queue.end();
        Ok(())
    }
}

graph! {
    struct Ports(x: Port, y: Port) {
        #[when(condition(has_entry(&x)))]
        let pushed: Pushed = Pushed::new(x);
        #[when(condition(has_room(&y)))]
        let taken: Taken = Taken::new(y);
        pushed.number >> taken.number;
    }
}

/// A condition that ends at once, and sends its waker to the test.
struct Gives(std::sync::mpsc::Sender<Waker>);

impl Condition for Gives {
    fn check(&mut self, _: Timestamp) -> Answer {
        Answer::Never
    }

    fn start(&mut self, waker: &Waker) {
        let _sent = self.0.send(waker.clone());
    }

    fn reason(&self) -> String {
        String::new()
    }
}

graph! {
    struct Ended(gives: Gives, port: Port) {
        #[when(condition(gives))]
        let pushed: Pushed = Pushed::new(port);
        pushed.number >> _;
    }
}

/// Returns the waker of a run that has ended.
fn another_waker() -> Result<Waker, Failed> {
    let (send, receive) = std::sync::mpsc::channel();
    Ended::new(&Platform::host().build()?, Gives(send), Port::new(None))?.run()?;
    Ok(receive.recv()?)
}

/// Calls a function until it finds something, and fails after `LOOKS` calls.
fn until<T>(what: &str, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    for _ in 0..LOOKS {
        if let Some(found) = look()? {
            return Ok(found);
        }
        yield_now();
    }
    Err(Failure::msg(format!("the program waits for {what} for ever")))
}

fn pause(turns: u32) {
    (0..turns).for_each(|_| yield_now());
}

fn push(queue: &Queue<u64>, turns: u32) -> Result<()> {
    for number in 0..MESSAGES {
        pause(turns);
        until("room", || match queue.push(number) {
            Ok(()) => Ok(Some(())),
            Err(Refused::Full(_)) => Ok(None),
            Err(Refused::Closed | Refused::Ended) => Err(Failure::msg("the port has ended")),
        })?;
    }
    Ok(())
}

fn take(queue: &Queue<u64>, turns: u32) -> Result<()> {
    for number in 0..MESSAGES {
        pause(turns);
        let taken = until("a message", || match queue.take() {
            Found::Entry(taken) => Ok(Some(taken)),
            Found::Empty => Ok(None),
            Found::Ended | Found::Flushed | Found::Closed => {
                Err(Failure::msg("the port has ended"))
            }
        })?;
        if taken != number {
            return Err(Failure::msg(format!("{taken} came in place of {number}")));
        }
    }
    Ok(())
}

/// Pushes messages on one thread and takes them on another, and then closes the input. Before each call, a thread
/// yields the given number of turns.
fn cross(platform: &Platform, x: &Port, y: &Port, [pushes, takes]: [u32; 2]) -> Result<()> {
    let running = Ports::new(platform, x.clone(), y.clone())?.spawn()?;
    scope(|scope| {
        let taken = scope.spawn(|| take(&y.queue, takes));
        let pushed = push(&x.queue, pushes);
        let taken = taken.join().unwrap_or_else(|_| Err(Failure::msg("a thread panicked")));
        pushed.and(taken)
    })?;
    pause(pushes);
    x.queue.close();
    // An error here drops the run, which ends it.
    until("the end of the run", || Ok(running.is_over().then_some(())))?;
    let report = running.join()?;
    if report.ticks("taken") == Some(MESSAGES) { Ok(()) } else { Err(Failure::msg(report)) }
}

fn no_wake_up_is_lost() -> Result<(), Failed> {
    for turns in 0..=PAUSES {
        for turns in [[turns, 0], [turns, turns]] {
            let explored = Explorer::new()
                .run(|platform| cross(platform, &Port::new(None), &Port::new(None), turns))?;
            explored.check()?;
        }
    }
    Ok(())
}

/// A control: checks that the exploration finds a program that waits for ever. `wakes` has, for each of the two
/// queues, the waker that it calls instead of its graph's.
fn must_fail(wakes: [Option<Waker>; 2], capacity: u64) -> Result<(), Failed> {
    let [x, y] = wakes;
    let explored = Explorer::new().run(|platform| {
        let (x, y) = (Port::of(capacity, x.clone()), Port::new(y.clone()));
        cross(platform, &x, &y, [PAUSES, PAUSES])
    })?;
    let text = explored.failing.map(|failing| format!("{:?}", failing.cause)).unwrap_or_default();
    check(text.starts_with("the program waits for ") && text.ends_with(" for ever"), || text)
}

fn a_push_that_does_not_wake() -> Result<(), Failed> {
    must_fail([Some(another_waker()?), None], 1)
}

fn a_take_that_does_not_wake() -> Result<(), Failed> {
    must_fail([None, Some(another_waker()?)], MESSAGES)
}
