//! How long work takes on the device.

use std::fmt;
use std::time::Duration;

use super::{CudaStream, PlatformNumber};
use crate::driver::{OwnedEvent, RawStream};
use crate::error::{Error, Result};

/// A moment in a stream's work, with the time by the *device's* clock: CUDA's event with timing. Made by
/// [`CudaStream::record_timing`].
///
/// On the host simulator the time is simulated, by a fixed model of copy and compute engines. Simulated time repeats
/// with the seed, and says nothing about the time on a GPU or on the host. See [`driver::host`](crate::driver::host). A
/// simulated [`Elapsed`] is marked as such where it is printed.
#[must_use = "an event has no effect before it is compared with another one"]
#[derive(Debug)]
pub struct TimingEvent {
    event: OwnedEvent,
    on: RawStream,
    platform: PlatformNumber,
}

impl CudaStream {
    /// Marks the moment when everything that is queued so far is complete, with its time. Does not block. Each call
    /// makes a new event, and that costs several times as much as the events that order streams: use this for
    /// measuring, and not in every tick.
    ///
    /// # Errors
    /// The driver's.
    pub fn record_timing(&self) -> Result<TimingEvent> {
        let timeline = self.timeline();
        timeline.bind()?;
        let event = OwnedEvent::with_timing(timeline.driver(), self.device())?;
        timeline.record_on(event.get())?;
        Ok(TimingEvent { event, on: timeline.raw(), platform: timeline.platform() })
    }
}

impl TimingEvent {
    /// The time from this moment to a later one, of any stream of the same device. Blocks until both are
    /// reached. The resolution is about half a microsecond.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`]; [`Error::TimeSpan`] for moments of two devices, since their clocks can't be
    /// compared, and when `end` came first; [`DriverError::Unavailable`](crate::driver::DriverError::Unavailable) with
    /// a CUDA driver older than 12.8; the driver's, and an error of earlier work may be reported here.
    pub fn elapsed_blocking(&self, end: &Self) -> Result<Elapsed> {
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
        let duration = Duration::from_secs_f64(milliseconds / 1e3);
        Ok(Elapsed { duration, is_simulated: self.event.is_simulated()? })
    }
}

/// The time between two moments of a device, by [`TimingEvent::elapsed_blocking`]. Printed like a [`Duration`]; the
/// time of a simulated device is followed by the word "simulated".
///
/// ```
/// # use streamflow::prelude::*;
/// # fn main() -> Result<()> {
/// let platform = Platform::builder().host()?;
/// let stream = platform.default_stream(device(0))?;
/// let begin = stream.record_timing()?;
/// // … queue the work to measure …
/// let time = begin.elapsed_blocking(&stream.record_timing()?)?;
/// assert!(time.is_simulated() && time.to_string().ends_with(" simulated"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Elapsed {
    duration: Duration,
    is_simulated: bool,
}

impl Elapsed {
    #[doc(hidden)]
    pub const fn new(duration: Duration, is_simulated: bool) -> Self {
        Self { duration, is_simulated }
    }

    /// The time divided by a number of equal parts; the whole time for 0 parts.
    pub fn over(self, parts: u32) -> Self {
        Self { duration: self.duration / parts.max(1), ..self }
    }

    /// The time as a plain [`Duration`].
    pub const fn duration(self) -> Duration {
        self.duration
    }

    /// Whether the device is simulated. Then the time repeats with the seed, and says nothing about a GPU.
    pub const fn is_simulated(self) -> bool {
        self.is_simulated
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.duration, f)?;
        if self.is_simulated { f.write_str(" simulated") } else { Ok(()) }
    }
}

/// Formats the time as [`Display`](fmt::Display) does.
impl fmt::Debug for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
