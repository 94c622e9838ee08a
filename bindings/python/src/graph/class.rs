//! The base class of exported graphs.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use streamflow::graph::Graph as AnyGraph;
use streamflow::{Message as AnyMessage, Platform as Inner};

use super::input::Input;
use super::message::{InputMessage, OutputMessage};
use super::operators::{InputPort, OutputPort};
use super::output::Output;
use super::port::Port;
use super::report::Report;
use super::run::Run;
use super::running::{Runnable, Running};
use crate::error::{OrRaise, StreamflowError};
use crate::platform::{Platform, default_platform};
use crate::stream::Stream;

/// How many messages can wait at a port, unless the export sets another number.
const CAPACITY: usize = 4;

fn capacity_of(port: &str, capacity: Option<usize>) -> PyResult<usize> {
    match capacity {
        Some(0) => Err(PyValueError::new_err(format!(
            "port `{port}` holds 0 messages; give `capacity` at least 1 in `export!`, or leave it out"
        ))),
        Some(capacity) => Ok(capacity),
        None => Ok(CAPACITY),
    }
}

/// A graph that was written in Rust. `streamflow_python::export!` makes the classes of such graphs, with the ports and
/// the parameters of the graph as attributes.
///
/// An object runs once: by `run`, or by `spawn` on a thread of its own.
#[pyclass(frozen, subclass, module = "streamflow")]
pub struct Graph {
    run: Arc<Run>,
    platform: Py<Platform>,
    graph: Mutex<Option<Box<dyn Runnable>>>,
    inputs: Vec<Py<Input>>,
    outputs: Vec<Py<Output>>,
}

#[pymethods]
impl Graph {
    /// Runs the graph to its end, without the interpreter lock. Use `run` if all inputs are closed and all outputs have
    /// room, or there are none; else use `spawn`.
    ///
    /// Parameters
    /// ----------
    /// workers : int, optional
    ///     As for `spawn`.
    ///
    /// Returns
    /// -------
    /// Report
    ///
    /// Raises
    /// ------
    /// streamflow.Error
    ///     If the run has failed, or the object has run before.
    /// KeyboardInterrupt
    ///     At Ctrl-C. The graph is stopped first; another Ctrl-C does not wait for that.
    #[pyo3(signature = (*, workers = None))]
    fn run(&self, py: Python<'_>, workers: Option<usize>) -> PyResult<Report> {
        let running = self.spawn(py, workers)?;
        let done = running.join(py, None);
        if done.is_err() && !self.run.is_over() {
            // Ctrl-C was pressed. While `join` below waits for a tick that does not end, a second Ctrl-C ends that wait.
            if let Some(handle) = self.run.handle() {
                handle.stop();
            }
            let _stopped = running.join(py, None);
            if !self.run.is_over() {
                running.abandon();
            }
        }
        done
    }

    /// Runs the graph on a thread of its own.
    ///
    /// Parameters
    /// ----------
    /// workers : int, optional
    ///     How many threads share its nodes: a slow node then delays no other one. By default one thread runs them in
    ///     their order, unless the graph's nodes name workers, or the environment has `STREAMFLOW_WORKERS`.
    ///
    /// Returns
    /// -------
    /// Running
    ///     Use it in `with`, or call `join`: dropping it stops the run.
    ///
    /// Raises
    /// ------
    /// streamflow.Error
    ///     If the object has run before, or there are 0 workers.
    #[pyo3(signature = (*, workers = None))]
    fn spawn(&self, py: Python<'_>, workers: Option<usize>) -> PyResult<Running> {
        let graph = {
            let mut graph = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
            let set = match (graph.as_mut(), workers) {
                (Some(graph), Some(workers)) => graph.set_workers(workers),
                _ => Ok(()),
            };
            set.map(|()| graph.take())
        };
        // The lock is released before the exception is made: creating an exception may run finalizers of Python.
        let Some(graph) = graph.or_raise()? else {
            let class = self.run.class;
            return Err(StreamflowError::new_err(format!(
                "this {class} has run before; make a new {class} to run again"
            )));
        };
        let joinable = py.detach(|| graph.spawn()).or_raise()?;
        self.run.begin(joinable.handle());
        let inputs = self.inputs.iter().map(|input| input.clone_ref(py)).collect();
        Ok(Running::new(self.run.clone(), inputs, joinable))
    }

    /// The platform that the graph runs on.
    #[getter]
    fn platform(&self, py: Python<'_>) -> Py<Platform> {
        self.platform.clone_ref(py)
    }

    /// The inputs, in order: a list of Input.
    #[getter]
    fn inputs(&self, py: Python<'_>) -> Vec<Py<Input>> {
        self.inputs.iter().map(|input| input.clone_ref(py)).collect()
    }

    /// The outputs, in order: a list of Output.
    #[getter]
    fn outputs(&self, py: Python<'_>) -> Vec<Py<Output>> {
        self.outputs.iter().map(|output| output.clone_ref(py)).collect()
    }

    fn __repr__(&self) -> String {
        let names = |names: Vec<&str>| names.join(", ");
        format!(
            "<{}: inputs {}; outputs {}>",
            self.run.class,
            names(self.inputs.iter().map(|input| input.get().port.name).collect()),
            names(self.outputs.iter().map(|output| output.get().port.name).collect()),
        )
    }
}

impl Graph {
    /// Returns the input with a name. For the code that [`export!`](crate::export) expands to.
    #[doc(hidden)]
    pub fn __input(&self, py: Python<'_>, name: &str) -> PyResult<Py<Input>> {
        let found = self.inputs.iter().find(|input| input.get().port.name == name);
        found.map(|input| input.clone_ref(py)).ok_or_else(|| no_port(name))
    }

    /// Returns the output with a name. For the code that [`export!`](crate::export) expands to.
    #[doc(hidden)]
    pub fn __output(&self, py: Python<'_>, name: &str) -> PyResult<Py<Output>> {
        let found = self.outputs.iter().find(|output| output.get().port.name == name);
        found.map(|output| output.clone_ref(py)).ok_or_else(|| no_port(name))
    }
}

fn no_port(name: &str) -> PyErr {
    PyTypeError::new_err(format!("there is no port `{name}`"))
}

/// Makes the ports of a graph, and then the Python object of the graph. For the code that [`export!`](crate::export) expands to.
#[doc(hidden)]
pub struct Maker<'py> {
    py: Python<'py>,
    run: Arc<Run>,
    platform: Py<Platform>,
    use_default_stream: bool,
    inputs: Vec<Py<Input>>,
    outputs: Vec<Py<Output>>,
}

impl<'py> Maker<'py> {
    pub fn new(
        py: Python<'py>,
        class: &'static str,
        platform: Option<Py<Platform>>,
        use_default_stream: bool,
    ) -> PyResult<Self> {
        let platform = match platform {
            Some(platform) => platform,
            None => default_platform(py)?,
        };
        let run = Run::new(class);
        Ok(Self { py, run, platform, use_default_stream, inputs: vec![], outputs: vec![] })
    }

    pub fn platform(&self) -> Inner {
        self.platform.get().inner.clone()
    }

    fn port(&self, name: &'static str, shape: &[Option<usize>]) -> PyResult<Port> {
        let platform = self.platform();
        let on_default = self.use_default_stream;
        let stream = self.py.detach(|| Stream::of_port(&platform, name, on_default));
        let stream = Py::new(self.py, stream.or_raise()?)?;
        Ok(Port { name, stream, run: self.run.clone(), shape: shape.to_vec() })
    }

    pub fn input<M: InputMessage>(
        &mut self,
        name: &'static str,
        shape: &[Option<usize>],
        capacity: Option<usize>,
    ) -> PyResult<InputPort<M>> {
        let made = InputPort::with_capacity(capacity_of(name, capacity)?);
        let queue = Box::new(made.queue.clone());
        self.inputs.push(Py::new(self.py, Input { port: self.port(name, shape)?, queue })?);
        Ok(made)
    }

    pub fn output<M: OutputMessage + AnyMessage>(
        &mut self,
        name: &'static str,
        capacity: Option<usize>,
    ) -> PyResult<OutputPort<M>> {
        let made = OutputPort::with_capacity(capacity_of(name, capacity)?);
        let queue = Box::new(made.queue.clone());
        self.outputs.push(Py::new(self.py, Output { port: self.port(name, &[])?, queue })?);
        Ok(made)
    }

    pub fn finish<G: AnyGraph + Send + 'static>(
        self,
        make: impl FnOnce(&Inner) -> Result<G, streamflow::Error> + Send,
    ) -> PyResult<(Graph, G::Handle)> {
        let platform = self.platform();
        let graph = self.py.detach(|| make(&platform)).or_raise()?;
        let params = graph.handle();
        let Self { run, platform, inputs, outputs, .. } = self;
        let graph: Box<dyn Runnable> = Box::new(graph);
        let graph = Mutex::new(Some(graph));
        Ok((Graph { run, platform, graph, inputs, outputs }, params))
    }
}
