//! The node that a graph with ports is, as the nodes inside of the graph see it.

use std::fmt::Display;

use super::options::{NodeOptions, NodeStreams};
use crate::context::SingleStream;
use crate::driver::DeviceId;
use crate::error::Error;
use crate::param::GraphParams;
use crate::platform::handle::device;
use crate::port::exported::edge_name;
use crate::stream::CudaStreamPool;

/// The path of a graph with ports, and the options that its nodes take over from the node that it is.
#[derive(Debug, Clone, Copy)]
pub struct Inside<'a> {
    path: &'a str,
    streams: NodeStreams<'a>,
    worker: Option<&'static str>,
}

impl<'a> Inside<'a> {
    /// The inside of the node `path`, which has these options.
    #[must_use]
    pub fn new(path: &'a str, options: &NodeOptions<'a>) -> Self {
        Self { path, streams: options.streams, worker: options.worker }
    }

    /// Returns the path of the graph, as `left`.
    #[must_use]
    pub fn path(&self) -> String {
        self.path.to_owned()
    }

    /// Returns the path of a node inside, as `left.resize`.
    #[must_use]
    pub fn node(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// Returns the name of an edge inside, as `left.cast.image >> left.resize.image`.
    #[must_use]
    pub fn edge(&self, output: &dyn Display, input: &dyn Display) -> &'static str {
        let path = self.path;
        edge_name(&format_args!("{path}.{output}"), &format_args!("{path}.{input}"))
    }

    /// Returns the streams of a node inside that has no `#[streams(…)]`.
    #[must_use]
    pub fn streams(&self) -> NodeStreams<'a> {
        self.streams
    }

    /// Returns the description of a pool inside: that of the graph, on the device of the node that the graph is.
    ///
    /// # Errors
    /// [`Error::PoolDescription`] for a description with a mistake, or with a device or a green context of its own.
    pub fn pool(&self, name: &str, description: &CudaStreamPool) -> Result<CudaStreamPool, Error> {
        let pool = self.node(name);
        match description.problem_inside(&pool) {
            None => Ok(description.device(self.device())),
            Some(problem) => Err(Error::PoolDescription { pool, problem: problem.into_text() }),
        }
    }

    /// Returns the device of the node that the graph is. An adopting node has no device, and its graph has no pools.
    fn device(&self) -> DeviceId {
        match self.streams {
            NodeStreams::Pool(pool) => pool.device(),
            NodeStreams::Own(description) => description.get_device(),
            NodeStreams::Default | NodeStreams::None => device(0),
        }
    }

    /// Returns the worker of a node inside that has no `#[worker(…)]`.
    #[must_use]
    pub fn worker(&self) -> Option<&'static str> {
        self.worker
    }

    /// Returns the options of a node inside that has no attributes other than `#[streams(…)]`.
    #[must_use]
    pub fn plain<'o>(
        &self,
        streams: NodeStreams<'o>,
        single_stream: &'o SingleStream,
        params: &'o GraphParams,
    ) -> NodeOptions<'o> {
        let plain = NodeOptions::plain(streams, single_stream, params);
        NodeOptions { worker: self.worker, ..plain }
    }
}

/// The operators of a graph, lent to be changed. The graph itself is not within reach: a program could else swap the nodes of two graphs.
#[derive(Debug)]
pub struct Lent<'a, T>(&'a mut T);

impl<'a, T> Lent<'a, T> {
    /// Lends a graph.
    pub fn new(graph: &'a mut T) -> Self {
        Self(graph)
    }

    /// Returns the graph, for the code of `graph!`.
    pub fn get(lent: Self) -> &'a mut T {
        lent.0
    }
}

/// Stores a graph that was made in `made`, or the error in `failed`. Returns whether the graph was made.
pub fn store_made<T>(
    result: Result<T, Error>,
    made: &mut Option<T>,
    failed: &mut Option<Error>,
) -> bool {
    match result {
        Ok(graph) => {
            *made = Some(graph);
            true
        }
        Err(error) => {
            *failed = Some(error);
            false
        }
    }
}
