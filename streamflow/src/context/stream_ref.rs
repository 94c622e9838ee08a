//! The streams that messages came with, by name, and a proof that one stream comes after them.

use smallvec::SmallVec;

use super::Stream;
use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::stream::{CudaStream, PlatformNumber, Point};

/// The stream that a message was sent on, by name: no work can be queued on it. [`In::streams`](crate::port::In::streams)
/// gives it. The [table](crate::stream#the-types-of-streams) has the other types of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamRef {
    point: Point,
    device: DeviceId,
    platform: PlatformNumber,
}

impl StreamRef {
    pub(crate) fn new(point: Point, device: DeviceId, platform: PlatformNumber) -> Self {
        Self { point, device, platform }
    }

    /// The point at which the message's data is ready.
    pub fn point(self) -> Point {
        self.point
    }

    /// The device of the stream.
    pub fn device(self) -> DeviceId {
        self.device
    }

    /// Whether this is the name of `stream`.
    pub fn is(self, stream: &CudaStream) -> bool {
        let timeline = stream.timeline();
        (self.platform, self.point.stream()) == (timeline.platform(), timeline.id())
    }
}

/// A proof that work queued on [`target`](Self::target) comes after the streams that were passed to
/// [`ExecutionContext::synchronize_streams`](crate::ExecutionContext::synchronize_streams).
#[must_use = "pass it to `into_synchronized_data`"]
#[derive(Debug, Clone)]
pub struct Synchronized<'c> {
    target: Stream<'c>,
    /// For each stream that was synchronised, the latest point. The points are kept here, since `target` remembers only some
    /// of its waits.
    after: SmallVec<[Point; 8]>,
}

impl<'c> Synchronized<'c> {
    pub(crate) fn new(target: Stream<'c>) -> Self {
        Self { target, after: SmallVec::new() }
    }

    /// Makes the target come after a point.
    pub(crate) fn wait(&mut self, point: Point) -> Result<()> {
        self.target.wait(point)?;
        match self.after.iter_mut().find(|known| known.stream() == point.stream()) {
            Some(known) if known.record() >= point.record() => {}
            Some(known) => *known = point,
            None => self.after.push(point),
        }
        Ok(())
    }

    /// Returns the stream that comes after the streams that were synchronised.
    pub fn target(&self) -> Stream<'c> {
        self.target
    }

    /// Checks that the target comes after a message's point. If the message names no stream, the target waits for the
    /// point here: there was no stream to pass to `synchronize_streams`.
    pub(crate) fn check(&self, point: Point, node: &str, port: &'static str) -> Result<()> {
        if self.target.table().is_default(point.stream()) {
            return self.target.wait(point);
        }
        let is_after =
            |known: &Point| known.stream() == point.stream() && known.record() >= point.record();
        if self.target.timeline().id() == point.stream() || self.after.iter().any(is_after) {
            return Ok(());
        }
        Err(Error::NotSynchronized { node: node.to_owned(), port })
    }
}
