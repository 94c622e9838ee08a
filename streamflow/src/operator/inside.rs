//! The node that a graph with ports is, as the nodes inside of the graph see it.

use super::options::{NodeOptions, NodeStreams};
use crate::context::SingleStream;
use crate::error::Error;
use crate::param::GraphParams;
use crate::port::exported::{InnerEnd, edge_name};

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
    pub fn edge(&self, output: &'static str, input: &'static str) -> &'static str {
        edge_name(&InnerEnd::new(self.path, output), &InnerEnd::new(self.path, input))
    }

    /// Returns the streams of a node inside that has no `#[streams(…)]`.
    #[must_use]
    pub fn streams(&self) -> NodeStreams<'a> {
        self.streams
    }

    /// Returns the worker of a node inside that has no `#[worker(…)]`.
    #[must_use]
    pub fn worker(&self) -> Option<&'static str> {
        self.worker
    }

    /// Returns the options of a node inside without attributes.
    #[must_use]
    pub fn plain<'o>(
        &self,
        single_stream: &'o SingleStream,
        params: &'o GraphParams,
    ) -> NodeOptions<'o>
    where
        'a: 'o,
    {
        let plain = NodeOptions::plain(self.streams, single_stream, params);
        NodeOptions { worker: self.worker, ..plain }
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
