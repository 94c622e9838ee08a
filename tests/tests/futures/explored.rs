//! Tasks on threads of their own, in the orders that seeds choose. A wake-up that is lost ends such a test: no thread is left
//! that is awake.

use streamflow::prelude::*;
use streamflow::testing::{explore, scope};
use streamflow_tests::Suite;

use super::{Task, service};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .plain("no_wake_up_of_a_task_is_lost", || Ok(explore(whole)?))
        .plain("no_wake_up_at_the_end_of_a_run_is_lost", || Ok(explore(stopped)?))
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
