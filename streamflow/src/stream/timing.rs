//! How long work takes on the device.

use std::time::Duration;

use super::{CudaStream, PlatformNumber};
use crate::driver::{OwnedEvent, RawStream};
use crate::error::{Error, Result};

/// A moment of a stream's work, with the time of the *device's* clock: CUDA's event with timing. Made by
/// [`CudaStream::record_timing`].
///
/// On the host simulator the time is simulated, by a fixed model of copy and compute engines. It repeats with the seed,
/// and says nothing about the time on a GPU or on the host. See [`driver::host`](crate::driver::host).
#[derive(Debug)]
pub struct TimingEvent {
    event: OwnedEvent,
    on: RawStream,
    platform: PlatformNumber,
}

impl CudaStream {
    /// Marks the moment when everything that is queued so far is complete, with its time. Does not block. It makes a new
    /// event, which costs several times as much as the events that order streams: use it for measuring, and not in
    /// every tick.
    ///
    /// # Errors
    /// The driver's.
    pub fn record_timing(&self) -> Result<TimingEvent> {
        let timeline = self.timeline();
        timeline.bind()?;
        let event = OwnedEvent::with_timing(timeline.driver(), self.device())?;
        timeline.record_on(&event)?;
        Ok(TimingEvent { event, on: timeline.raw(), platform: timeline.platform() })
    }
}

impl TimingEvent {
    /// The time from this moment to a later one, of any stream of the same device. Blocks until both are
    /// reached. The resolution is about half a microsecond.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`]; [`Error::TimeSpan`] for moments of two devices, whose clocks can't be
    /// compared, and when `end` came first;
    /// [`DriverError::Unavailable`](crate::driver::DriverError::Unavailable) with a CUDA driver older
    /// than 12.8; the driver's, and an error of earlier work may be reported here.
    pub fn elapsed_blocking(&self, end: &Self) -> Result<Duration> {
        if self.platform != end.platform {
            return Err(Error::foreign("a moment"));
        }
        let (start_on, end_on) = (self.on.device(), end.on.device());
        if start_on != end_on {
            let problem = format!("it begins on {start_on} and ends on {end_on}");
            return Err(Error::TimeSpan { problem });
        }
        let milliseconds = self.event.elapsed_until(&end.event)?;
        if milliseconds < 0.0 {
            let problem = format!("its end was reached {} ms before its start", -milliseconds);
            return Err(Error::TimeSpan { problem });
        }
        Ok(Duration::from_secs_f64(milliseconds / 1e3))
    }
}
