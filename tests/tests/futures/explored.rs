//! Tasks on threads of their own, in the orders that seeds choose. A wake-up that is lost ends such a test: no thread is left
//! that is awake.

use futures_core::Stream;
use streamflow::graph::Graph;
use streamflow::operator::{Answer, Condition};
use streamflow::operators::futures::{FromSink, IntoStream, PortSink, PortStream};
use streamflow::prelude::*;
use streamflow::testing::{explore, scope, yield_now};
use streamflow::time::Timestamp;
use streamflow_tests::Suite;

use super::{Task, service};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .plain("no_wake_up_of_a_task_is_lost", || Ok(explore(whole)?))
        .plain("no_end_of_a_sink_is_lost", || Ok(explore(closed)?))
        .plain("a_sink_takes_messages_as_soon_as_each_run_is_spawned", || Ok(explore(spawned)?))
        .plain("a_sink_in_another_condition_takes_messages_as_soon", || {
            Ok(explore(spawned_in_parts)?)
        })
        .plain("no_wake_up_at_the_end_of_a_run_is_lost", || Ok(explore(stopped)?))
        .plain("no_task_waits_for_a_graph_that_is_dropped", || Ok(explore(dropped)?))
}

fn equal<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Result<()> {
    if found == wanted { Ok(()) } else { Err(Failure::msg(format!("{found:?}, not {wanted:?}"))) }
}

/// A task sends, another one reads, and the graph runs between them.
fn whole(platform: &Platform) -> Result<()> {
    let (graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    let mut running = graph.spawn()?;
    let read = scope(|scope| {
        let sender = scope.spawn(move || {
            let task = Task::new();
            (0..3).try_for_each(|number| task.send(&mut sink, number))?;
            Ok::<(), Failure>(task.block_on(|task| task.close(&mut sink))??)
        });
        let read = Task::new().rest(&mut stream);
        sender.join().map_err(|_| Failure::msg("the sender panicked"))?.and(read)
    })?;
    equal(read, (vec![1.0, 2.0, 3.0], true))?;
    Task::new().end(&mut running.ended())?;
    running.join()?;
    Ok(())
}

/// The graph sleeps when its sink is closed, or dropped.
fn closed(platform: &Platform) -> Result<()> {
    for is_closed in [true, false] {
        let (graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
        let running = graph.spawn()?;
        let read = scope(|scope| {
            let sender = scope.spawn(move || {
                let task = Task::new();
                task.send(&mut sink, 1)?;
                // The graph has the message, and the sink is empty.
                task.block_on(|task| task.ready(&mut sink))??;
                yield_now();
                if is_closed {
                    task.block_on(|task| task.close(&mut sink))??;
                }
                drop(sink);
                Ok::<(), Failure>(())
            });
            let read = Task::new().rest(&mut stream);
            sender.join().map_err(|_| Failure::msg("the sender panicked"))?.and(read)
        })?;
        equal(read, (vec![2.0], true))?;
        running.join()?;
    }
    Ok(())
}

/// The task sends before the thread of a run has begun it: before the first run, and before a later one.
fn spawned(platform: &Platform) -> Result<()> {
    let (graph, ends) = service(platform, 1, 99)?;
    spawned_with(graph, ends)
}

struct Never;

impl Condition for Never {
    fn check(&mut self, _: Timestamp) -> Answer {
        Answer::Waiting
    }
}

graph! {
    /// Copies a task's numbers. The condition of its sink is a part of another condition.
    struct Parts(numbers: FromSink<u64>, copies: IntoStream<u64>) {
        #[when(any(condition(Never), condition(numbers.arrived())))]
        let numbers: FromSink<u64> = numbers;
        #[when(condition(copies.has_room()))]
        let copies: IntoStream<u64> = copies;
        numbers.message >> copies.message;
    }
}

/// As `spawned`, with a sink's condition inside `any`.
fn spawned_in_parts(platform: &Platform) -> Result<()> {
    let ((from, sink), (to, stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    spawned_with(Parts::new(platform, from, to)?, (sink, stream))
}

fn spawned_with<G, M>(mut graph: G, ends: (PortSink<u64>, PortStream<M>)) -> Result<()>
where
    G: Graph + Send + 'static,
    PortStream<M>: Stream<Item = Result<M, Error>> + Unpin,
{
    let (mut sink, mut stream) = ends;
    let task = Task::new();
    for number in 1..=3 {
        let running = graph.spawn()?;
        task.send(&mut sink, number)?;
        let answer = task.block_on(|task| task.next(&mut stream))?;
        equal(answer.is_some_and(|answer| answer.is_ok()), true)?;
        running.stop();
        let (ended, report) = running.join_with_graph()?;
        report?;
        graph = ended;
        let after = task.block_on(|task| task.next(&mut stream))?;
        equal(matches!(after, Some(Err(Error::StreamCut))), true)?;
        equal(task.block_on(|task| task.next(&mut stream))?.is_none(), true)?;
        // No run was made since.
        let ready = task.block_on(|task| task.ready(&mut sink))?;
        equal(matches!(ready, Err(Error::SinkOver { left: 0 })), true)?;
    }
    Ok(())
}

/// All wait for a run that is stopped.
fn stopped(platform: &Platform) -> Result<()> {
    let (graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    let mut running = graph.spawn()?;
    let handle = running.handle();
    let whole = scope(|scope| {
        let sender = scope.spawn(move || {
            let task = Task::new();
            while task.send(&mut sink, 1).is_ok() {}
        });
        let reader = scope.spawn(move || Task::new().rest(&mut stream));
        handle.stop();
        Task::new().end(&mut running.ended())?;
        let panicked = |_| Failure::msg("a task panicked");
        sender.join().map_err(panicked)?;
        Ok::<bool, Failure>(reader.join().map_err(panicked)??.1)
    })?;
    running.join()?;
    equal(whole, false)
}

/// The graph is dropped with its run, while tasks wait for it.
fn dropped(platform: &Platform) -> Result<()> {
    let (graph, (mut sink, mut stream)) = service(platform, 1, 99)?;
    let running = graph.spawn()?;
    let whole = scope(|scope| {
        let sender = scope.spawn(move || {
            let task = Task::new();
            while task.send(&mut sink, 1).is_ok() {}
            task.block_on(|task| task.close(&mut sink))
        });
        let reader = scope.spawn(move || Task::new().rest(&mut stream));
        drop(running);
        let panicked = |_| Failure::msg("a task panicked");
        // Each message was taken, or is left and counted.
        match sender.join().map_err(panicked)?? {
            Ok(()) | Err(Error::SinkOver { left: 1 }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok::<bool, Failure>(reader.join().map_err(panicked)??.1)
    })?;
    equal(whole, false)
}
