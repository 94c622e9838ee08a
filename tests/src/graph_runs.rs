//! The graphs of the examples behind one type, so that a test can run all of them.

use streamflow::prelude::*;
use streamflow_examples::edges::EdgesApp;
use streamflow_examples::png_io::Image;
use streamflow_examples::seed_graph::CudaStreamApp;
use streamflow_examples::temporal::TemporalFilter;

use crate::Failed;

/// The callback that a graph's sink calls for each tick, in order. An error of the callback ends the run.
pub type OnTick = Box<dyn FnMut(u64) -> Result<()> + Send>;

/// A graph of the examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Example {
    /// The example `cuda_stream_pool`.
    Pool,
    /// The example `cuda_stream_pool --default-stream`.
    Default,
    /// The example `edges`.
    Edges,
    /// The example `temporal_filter`.
    Temporal,
}

impl Example {
    /// All examples.
    pub const ALL: [Self; 4] = [Self::Pool, Self::Default, Self::Edges, Self::Temporal];

    /// Runs the graph on small images.
    ///
    /// # Errors
    /// Those of the graph, with its name.
    pub fn run(self, platform: &Platform, ticks: u64, mut on_tick: OnTick) -> Result<(), Failed> {
        let done = match self {
            Self::Pool => {
                let report = Box::new(move |tick, _: &[f32]| on_tick(tick));
                let graph = CudaStreamApp::new(platform, 3, 65, ticks, false, report);
                graph.and_then(|mut graph| graph.run())
            }
            Self::Default => {
                let report = Box::new(move |tick, _: &[f32]| on_tick(tick));
                let graph = CudaStreamApp::new(platform, 3, 65, ticks, true, report);
                graph.and_then(|mut graph| graph.run())
            }
            Self::Edges => {
                let image = Image { width: 9, height: 7, rgb: vec![50; 3 * 63] };
                let report = Box::new(move |tick, _: &[u8]| on_tick(tick));
                EdgesApp::new(platform, &image, ticks, report).and_then(|mut graph| graph.run())
            }
            Self::Temporal => {
                let report = Box::new(move |tick, _, _: &[f32]| on_tick(tick));
                TemporalFilter::new(platform, 3, 21, ticks, report).and_then(|mut g| g.run())
            }
        };
        done.map(drop).map_err(|error| Failed::msg(format!("{self:?}: {error}")))
    }
}
