//! The parts of a harness other than what it runs: its stream, the checks for races, and the messages on their way in and out.

use crate::driver::race::RaceWatch;
use crate::error::{Error, Result};
use crate::memory::{Recycler, Shared};
use crate::message::{self, Envelope, Message, Metadata, Place};
use crate::platform::Platform;
use crate::stream::{CudaStream, CudaStreamPool, Point, StreamPool};

/// The parts of a harness that depend on neither an operator nor a graph.
pub(super) struct Surroundings {
    pub(super) stream: CudaStream,
    races: RaceWatch,
}

impl Surroundings {
    /// Begins the use of a platform by a harness. Returns the pool for the streams of the nodes, `streams` in number, too.
    pub(super) fn new(platform: &Platform, streams: usize) -> Result<(Self, StreamPool)> {
        platform.begin_use()?;
        let size = streams.max(1) as u32;
        let pool = platform.stream_pool("the harness", &CudaStreamPool::new().max_size(size))?;
        let own = platform.stream_pool("the harness's own", &CudaStreamPool::new())?;
        let stream = own.allocate("the harness")?;
        let races = RaceWatch::new(platform.driver());
        Ok((Self { stream, races }, pool))
    }

    /// Makes the harness's stream wait for the device data of a message. Returns the point at which the data is ready; `None` for
    /// a message of host data.
    pub(super) fn order<M: Message>(&self, message: &M) -> Result<Option<Point>> {
        if !M::Place::IS_DEVICE {
            return Ok(None);
        }
        message::order(message, &self.stream)?;
        self.stream.record().map(Some)
    }

    /// Returns an error if the race checker has found races.
    pub(super) fn races(&mut self) -> Result<()> {
        let races = self.races.take();
        if races.is_empty() { Ok(()) } else { Err(Error::Races(races)) }
    }
}

/// A message that an operator emitted.
#[derive(Debug)]
#[non_exhaustive]
pub struct Emitted<T> {
    /// The message.
    pub message: Shared<T>,
    /// The message's metadata.
    pub metadata: Metadata,
    /// The point at which the message's device data is ready; `None` for host data.
    pub sent: Option<Point>,
}

impl<T> Emitted<T> {
    pub(super) fn new(envelope: Envelope<T>) -> Self {
        let Envelope { message, metadata, sent } = envelope;
        Self { message: message.into_shared(&Recycler::new()), metadata, sent }
    }
}
