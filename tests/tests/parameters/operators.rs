//! The operators and the graph of these tests.

use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use streamflow::prelude::*;

/// What a source does in each tick before it sends.
pub(crate) type OnTick = Box<dyn FnMut(u64) + Send>;

/// An operator that sends the number of its tick.
#[operator]
pub(crate) struct Frames {
    #[output]
    frame: u64,
    on_tick: OnTick,
}

impl Compute for Frames {
    fn compute(&mut self, io: FramesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        (self.on_tick)(cx.tick());
        io.frame.emit(cx.tick())
    }
}

/// Two numbers that are only valid together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Window {
    pub(crate) guard: u32,
    pub(crate) training: u32,
}

/// An operator that notes its parameters in each tick.
#[operator]
pub(crate) struct Cfar {
    #[input]
    frame: &u64,
    /// The threshold above which a cell is a target.
    #[param(range = 0.0..=1.0)]
    threshold: f32,
    pub(crate) at_start: Vec<f32>,
    /// The numbers of guard cells and of training cells.
    #[param]
    window: Window,
    pub(crate) seen: Vec<(f32, Window)>,
}

impl Cfar {
    pub(crate) fn with(threshold: f32) -> Self {
        Self::new(threshold, Vec::new(), Window { guard: 2, training: 8 }, Vec::new())
    }

    pub(crate) fn change_field(&mut self, threshold: f32) {
        self.threshold = threshold;
    }

    /// Returns the thresholds of all ticks.
    pub(crate) fn thresholds(&self) -> Vec<f32> {
        self.seen.iter().map(|(threshold, _)| *threshold).collect()
    }
}

impl Compute for Cfar {
    fn start(&mut self, _: CfarStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.at_start.push(self.threshold);
        Ok(())
    }

    fn compute(&mut self, io: CfarIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        self.seen.push((self.threshold, self.window.clone()));
        Ok(())
    }
}

/// An operator with one parameter of any type.
#[operator]
pub(crate) struct Scale<T: streamflow::param::Param> {
    #[input]
    frame: &u64,
    #[param]
    factor: T,
    pub(crate) seen: Vec<T>,
}

impl<T: streamflow::param::Param> Compute for Scale<T> {
    fn compute(&mut self, io: ScaleIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.frame.discard();
        self.seen.push(self.factor.clone());
        Ok(())
    }
}

graph! {
    pub(crate) struct Radar(frames: u64, threshold: f32, on_tick: OnTick) {
        #[when(count(frames))]
        let source: Frames = Frames::new(on_tick);
        let cfar: Cfar = Cfar::with(threshold);
        let scale: Scale<String> = Scale::new("one".to_owned(), Vec::new());
        source.frame >> (cfar.frame, scale.frame);
    }
}

/// Returns a graph of a few frames, whose source does nothing but send.
pub(crate) fn radar(platform: &Platform, frames: u64) -> streamflow::Result<Radar> {
    Ok(Radar::new(platform, frames, 0.25, Box::new(|_| {}))?)
}

/// Returns a graph whose source calls this function in each tick, with the graph's handle.
pub(crate) fn radar_that_calls(
    platform: &Platform,
    frames: u64,
    mut call: impl FnMut(&RadarHandle, u64) + Send + 'static,
) -> streamflow::Result<Radar> {
    let place: Arc<OnceLock<RadarHandle>> = Arc::default();
    let handle = Arc::clone(&place);
    let on_tick = move |tick| {
        if let Some(handle) = handle.get() {
            call(handle, tick);
        }
    };
    let graph = Radar::new(platform, frames, 0.25, Box::new(on_tick))?;
    let _is_first = place.set(graph.params());
    Ok(graph)
}
