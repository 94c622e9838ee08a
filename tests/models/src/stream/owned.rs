//! Stands for the library's `CudaStream`, the stream that a program owns. Unlike the library's type, this one belongs to
//! no stream pool, and several threads may use it at once.

use std::sync::Arc;
use std::task::Waker;

use super::{Point, StreamTable, Timeline};
use crate::driver::{DeviceId, RawStream, StreamOptions};
use crate::error::Result;

/// A stream as the library's `CudaStream`, without a stream pool.
#[derive(Clone, Debug)]
pub(crate) struct CudaStream {
    timeline: Arc<Timeline>,
    table: Arc<StreamTable>,
}

impl CudaStream {
    pub(crate) fn new(table: &Arc<StreamTable>) -> Self {
        let timeline = table.take(DeviceId::default(), StreamOptions::default()).unwrap();
        Self { timeline, table: table.clone() }
    }

    pub(crate) fn table(&self) -> &Arc<StreamTable> {
        &self.table
    }

    pub(crate) fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    pub(crate) fn device(&self) -> DeviceId {
        self.timeline.device()
    }

    pub(crate) fn raw(&self) -> RawStream {
        self.timeline.raw()
    }

    pub(crate) fn record(&self) -> Result<Point> {
        Ok(self.timeline.record()?)
    }

    pub(crate) fn wait(&self, point: Point) -> Result<()> {
        self.timeline.wait(&self.table, point)
    }
}

/// Stands for the list of async tasks that await downloads. No model has such a task.
#[derive(Debug, Default)]
pub(crate) struct Awaited;

/// Stands for the registration of an async task that awaits a download.
#[derive(Debug)]
pub(crate) struct Awaiting;

impl Awaiting {
    pub(crate) fn new(_: &Arc<Awaited>) -> Self {
        Self
    }

    pub(crate) fn wake_at(&self, _: &Arc<StreamTable>, _: Point, _: &Waker) -> Result<()> {
        Ok(())
    }
}
