//! Parameters: fields of an operator that any thread may set while a graph runs.
//!
//! `#[param] threshold: f32` leaves the field in the operator, so `compute` reads it as `self.threshold`. The node also has a
//! cell for the parameter, with the value that was set last. A program sets the cells by a handle, whose type `#[operator]`
//! writes, as `CfarParams`. The node copies new values from the cells into the operator's fields before it calls a hook.
//!
//! The files of this module:
//! - `limits.rs`: the range of a parameter.
//! - `log.rs`: the values that a run has taken over, and the ticks that had them first.
//! - `state.rs`: the state that the parameters of a node share: the node's name, and whether a parameter was set.
//! - `cell.rs`: the cell of one parameter.
//! - `node.rs`: all parameters of a node, as the node itself and the code of `#[operator]` use them.
//! - `graph.rs`: all parameters of a graph, by node.
//! - `file.rs`: setting parameters to the values of a TOML file.
//!
//! A tick before which no value was set costs one atomic load. In an operator without parameters, a tick costs nothing for them.

pub(crate) mod cell;
mod file;
pub(crate) mod graph;
pub(crate) mod limits;
mod log;
pub(crate) mod node;
mod state;

use std::fmt::Debug;

use serde_core::de::DeserializeOwned;

pub(crate) use graph::GraphParams;
pub use log::ParamChange;
pub(crate) use log::ParamChanges;
pub(crate) use node::NodeParams;
pub(crate) use node::OperatorParams;

/// The bound on the type of a `#[param]`. A value of the type is sent between threads, copied into the operator, written in
/// reports and read from files. Numbers, `bool`, `String`, `Vec`s of them and [`Duration`](std::time::Duration) satisfy the
/// bound.
///
/// A struct of your own satisfies the bound with `#[derive(Clone, Debug, serde::Deserialize)]`. Make values that belong together
/// the fields of one struct: an operator gets all fields of a struct in the same tick.
///
/// A parameter with a `range` also needs `PartialOrd`. The library calls your implementations of these traits under none of its
/// locks, so they may themselves read and set parameters.
///
/// # Setting parameters
/// `#[operator]` writes a handle for an operator with parameters, `CfarParams` for `Cfar`. `graph!` writes the method `params`,
/// which returns the handles of all nodes. Handles can be cloned, sent to other threads and kept for any time. After the graph is
/// dropped, setting a parameter is an error.
///
/// ```
/// use streamflow::prelude::*;
/// # #[operator]
/// # struct Antenna {
/// #     #[output]
/// #     level: f32,
/// # }
/// # impl Compute for Antenna {
/// #     fn compute(&mut self, io: AntennaIo<'_>, cx: &ExecutionContext) -> Result<()> {
/// #         io.level.emit(cx.tick() as f32 / 10.0)
/// #     }
/// # }
///
/// /// Counts the levels above a threshold.
/// #[operator]
/// struct Cfar {
///     #[input]
///     level: f32,
///     /// Above which a level is a target.
///     #[param(range = 0.0..=1.0)]
///     threshold: f32,
///     targets: u64,
/// }
///
/// impl Compute for Cfar {
///     fn compute(&mut self, io: CfarIo<'_>, _: &ExecutionContext) -> Result<()> {
///         self.targets += u64::from(io.level.receive().into_data() > self.threshold);
///         Ok(())
///     }
/// }
///
/// graph! {
///     struct Radar(ticks: u64) {
///         #[when(count(ticks))]
///         let antenna: Antenna = Antenna::new();
///         let cfar: Cfar = Cfar::new(0.75, 0);
///         antenna.level >> cfar.level;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let mut radar = Radar::new(&Platform::host().build()?, 10)?;
/// let handle = radar.params();
/// handle.cfar().set_threshold(0.5)?;
/// radar.run()?;
/// assert_eq!((handle.cfar().threshold(), radar.cfar().targets), (0.5, 4));
///
/// // A table for each node that has parameters, with all of them.
/// radar.load_params_str("radar.toml", "[cfar]\nthreshold = 0.25\n")?;
/// let error = radar.load_params_str("radar.toml", "[cfar]\ntreshold = 2\n").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the parameters of `radar.toml` were not set; correct the file:
///   radar.toml:1:2: `cfar.threshold` is missing; write `threshold = …`, a `f32` in 0.0..=1.0
///   radar.toml:2:1: node `cfar` has no parameter `treshold`; did you mean `threshold`?",
/// );
/// # Ok(())
/// # }
/// ```
///
/// # The file
/// `load_params(path)` and `load_params_str(name, text)` take `&self`, so they can be called on a graph that is not `mut`, and on
/// the handle that `params()` returns. The file has a table for each node with parameters, and nothing else: any other table is a
/// mistake. To have your program's own settings in the same file, put the parameters into one table, and pass only that table to
/// `load_params_str`. With the crate `toml`:
///
/// ```text
/// let table: toml::Table = std::fs::read_to_string(path)?.parse()?;    // [camera] …, [parameters.cfar] …
/// radar.load_params_str("the parameters of radar.toml", &toml::to_string(&table["parameters"])?)?;
/// ```
///
/// The line numbers in errors then count from the begin of the passed text.
///
/// # When a value takes effect
/// - The node takes the last value over before its next tick. `start` has a value that was set before the run. A value
///   stays in all later runs.
/// - [`Report::parameters`](crate::schedule::Report::parameters) names the first tick that had the value.
/// - A node gets all values from one file in the same tick, and also all fields of a struct that is one parameter.
/// - A program may change the field itself between runs, by `cfar_mut()`. When a run begins, the handle gets the field's
///   value, unless a value was set that no tick has had.
/// - During a run, the field has the value that was set. A hook that assigns the field fails the run, with
///   [`Error::ParamAssigned`](crate::Error::ParamAssigned). The field is checked after `start`, after the first tick of an
///   operator (also of one that replaced a failed operator), before a tick that takes a value over, and after `stop`. For a
///   value that the operator itself changes, use a field without `#[param]`, and set it to the parameter's value in `start`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter",
    label = "this type is not a `Param`",
    note = "a parameter is copied between threads, written in reports and read from files: `#[derive(Clone, Debug, \
            serde::Deserialize)]`, and nothing that belongs to a device or a stream"
)]
pub trait Param: Clone + Send + Sync + Debug + DeserializeOwned + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + Debug + DeserializeOwned + 'static> Param for T {}
