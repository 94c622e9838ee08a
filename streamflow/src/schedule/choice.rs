//! The choice of the threads that run a graph: one thread, or workers.

use super::event_based;
use super::workers::Workers;
use crate::error::{Error, Result};
use crate::graph::{Graph, RunState};

/// The environment variable that sets the number of workers for each graph whose program does not set it.
const VARIABLE: &str = "STREAMFLOW_WORKERS";

/// Sets the threads that run a graph: `graph.workers(4)?`. Every graph has this trait.
pub trait Schedule: Graph {
    /// Sets the threads for all later runs: a number of workers, or [`Workers`] with their cores and priorities.
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # #[operator] struct Camera { #[output] frame: u64 }
    /// # impl Compute for Camera {
    /// #     fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> { io.frame.emit(cx.tick()) }
    /// # }
    /// # graph! { struct Recording() { #[when(count(3))] let camera: Camera = Camera::new(); camera.frame >> _; } }
    /// # fn main() -> Result<()> {
    /// # let platform = Platform::host().build()?;
    /// let mut graph = Recording::new(&platform)?;
    /// let report = graph.workers(2)?.run()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A program may choose the scheduler at run time, as by a flag of its command line. A graph without edges that drop messages
    /// computes the same with both schedulers:
    ///
    /// ```
    /// use streamflow::prelude::*;
    /// use streamflow::schedule::{Report, Workers};
    ///
    /// # #[operator] struct Numbers { #[output] number: u64 }
    /// # impl Compute for Numbers {
    /// #     fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> { io.number.emit(cx.tick()) }
    /// # }
    /// # #[operator] struct Squares { #[input] number: u64, squares: Vec<u64> }
    /// # impl Compute for Squares {
    /// #     fn compute(&mut self, io: SquaresIo<'_>, _: &ExecutionContext) -> Result<()> {
    /// #         let number = io.number.receive().into_data();
    /// #         self.squares.push(number * number);
    /// #         Ok(())
    /// #     }
    /// # }
    /// graph! {
    ///     struct App() {
    ///         #[when(count(100))]
    ///         let numbers: Numbers = Numbers::new();
    ///         let squares: Squares = Squares::new(Vec::new());
    ///         numbers.number >> squares.number;
    ///     }
    /// }
    ///
    /// fn run(platform: &Platform, workers: Workers) -> Result<(App, Report)> {
    ///     let mut app = App::new(platform)?;
    ///     app.workers(workers)?;
    ///     let (app, report) = app.spawn()?.join_with_graph()?;
    ///     Ok((app, report?))
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let platform = Platform::host().build()?;
    /// let (greedy, report) = run(&platform, Workers::none())?;
    /// for count in [1, 2, 4] {
    ///     let (event_based, same) = run(&platform, Workers::new(count))?;
    ///     assert_eq!(event_based.squares().squares, greedy.squares().squares);
    ///     assert_eq!(same.ticks("squares"), report.ticks("squares"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Without this call, all nodes run on one thread in their static order, unless a node has `#[worker(…)]`: then one worker
    /// runs all nodes that name no worker. The environment variable `STREAMFLOW_WORKERS=n` sets the number of workers for each
    /// graph whose program does not set it. `tick` always runs the nodes on the thread that calls it.
    ///
    /// # Errors
    /// [`Error::Workers`] for an impossible description, as 0 workers, or options for a worker that no node names; also for a
    /// graph that `graph!` did not write.
    fn workers(&mut self, workers: impl Into<Workers>) -> Result<&mut Self>
    where
        Self: Sized,
    {
        set(self, workers.into())?;
        Ok(self)
    }
}

impl<G: Graph> Schedule for G {}

fn set(graph: &mut dyn Graph, workers: Workers) -> Result<()> {
    workers.check(&event_based::named(&mut graph.nodes()))?;
    let Some(state) = graph.__streamflow_run() else {
        return Err(Error::Workers {
            problem: format!(
                "it was not written by `graph!`, so that it keeps no settings for its runs; write it by `graph!`, or \
                 set the variable `{VARIABLE}` of the environment"
            ),
        });
    };
    state.set(workers);
    Ok(())
}

/// Returns the workers of the next run; `None` if one thread runs all nodes.
pub(super) fn chosen(graph: &mut dyn Graph) -> Result<Option<Workers>> {
    let set =
        graph.__streamflow_run().and_then(|state| RunState::settings::<Workers>(state).cloned());
    let named = event_based::named(&mut graph.nodes());
    let workers = match set {
        Some(workers) => workers,
        None => match of_environment()? {
            Some(workers) => workers,
            None if named.is_empty() => Workers::none(),
            None => Workers::new(1),
        },
    };
    workers.check(&named)?;
    Ok(Some(workers).filter(|workers| !workers.is_none()))
}

fn of_environment() -> Result<Option<Workers>> {
    let Some(text) = std::env::var_os(VARIABLE) else { return Ok(None) };
    let count = text.to_str().and_then(|text| text.trim().parse().ok());
    count
        .map(|count| Some(Workers::new(count)))
        .ok_or_else(|| Error::WorkersVariable { value: text.to_string_lossy().into_owned() })
}
