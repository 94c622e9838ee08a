//! References to the streams on which messages were sent, and a proof that a stream waits for them.

use smallvec::SmallVec;

use super::Stream;
use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::stream::{CudaStream, PlatformNumber, Point};

/// A reference to the stream on which a message was sent, as [`In::streams`](crate::port::In::streams) returns it. No work can be
/// queued through it. The [table](crate::stream#the-types-of-streams) compares the types of streams.
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

    /// Returns the point on the stream at which the message's data is ready.
    pub fn point(self) -> Point {
        self.point
    }

    /// Returns the device of the stream.
    pub fn device(self) -> DeviceId {
        self.device
    }

    /// Returns whether this reference is one to `stream`.
    pub fn is(self, stream: &CudaStream) -> bool {
        let timeline = stream.timeline();
        (self.platform, self.point.stream()) == (timeline.platform(), timeline.id())
    }
}

/// A proof that work on the stream [`target`](Self::target) comes after the work on the streams that were passed to
/// [`ExecutionContext::synchronize_streams`](crate::ExecutionContext::synchronize_streams).
#[must_use = "pass it to `into_synchronized_data`"]
#[derive(Debug, Clone)]
pub struct Synchronized<'c> {
    target: Stream<'c>,
    /// For each stream for which `target` waits, the latest point. The points are stored here because `target` itself remembers
    /// only some of its waits.
    after: SmallVec<[Point; 8]>,
}

impl<'c> Synchronized<'c> {
    pub(crate) fn new(target: Stream<'c>) -> Self {
        Self { target, after: SmallVec::new() }
    }

    /// Makes the stream `target` wait for a point.
    pub(crate) fn wait(&mut self, point: Point) -> Result<()> {
        self.target.wait(point)?;
        match self.after.iter_mut().find(|known| known.stream() == point.stream()) {
            Some(known) if known.record() >= point.record() => {}
            Some(known) => *known = point,
            None => self.after.push(point),
        }
        Ok(())
    }

    /// Returns the stream that waits for the streams that were synchronised.
    pub fn target(&self) -> Stream<'c> {
        self.target
    }

    /// Checks that the stream `target` comes after a message's point. If the message was sent on a default stream, `target` waits
    /// for the point now, because `streams` returned no stream that could be passed to `synchronize_streams`.
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
