//! Measurements of how long work takes on the device.

use std::fmt;
use std::time::Duration;

use super::{CudaStream, PlatformNumber};
use crate::driver::{OwnedEvent, RawStream};
use crate::error::{Error, Result};

/// A moment in a stream's work, with its time by the *device's* clock: a CUDA event with timing. [`CudaStream::record_timing`]
/// makes it.
///
/// On the simulator the time is simulated, by a fixed model of copy engines and compute engines. Simulated time is the same in
/// each run with the same seed, and says nothing about the time on a GPU or on the host. See
/// [`driver::host`](crate::driver::host). A simulated [`Elapsed`] is printed with the word "simulated".
#[must_use = "an event has no effect before it is compared with another one"]
#[derive(Debug)]
pub struct TimingEvent {
    event: OwnedEvent,
    on: RawStream,
    platform: PlatformNumber,
}

impl CudaStream {
    /// Queues an event that stores the time when all work queued so far is complete. Does not block. Each call makes a new event,
    /// which costs several times as much as an event that orders streams. So use this method for measurements, not in every tick.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn record_timing(&self) -> Result<TimingEvent> {
        let timeline = self.timeline();
        timeline.bind()?;
        let event = OwnedEvent::with_timing(timeline.driver(), self.device())?;
        timeline.record_on(event.get())?;
        Ok(TimingEvent { event, on: timeline.raw(), platform: timeline.platform() })
    }
}

impl TimingEvent {
    /// Returns the time from this moment to a later moment on any stream of the same device. Blocks until the device has reached
    /// both moments. The resolution is about half a microsecond.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`]; [`Error::TimeSpan`] for moments of two devices, since their clocks can't be compared, and if
    /// `end` came first; [`DriverError::Unavailable`](crate::driver::DriverError::Unavailable) with a CUDA driver older than
    /// 12.8; errors of the driver, also an error of earlier work.
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

/// The time between two moments of a device, returned by [`TimingEvent::elapsed_blocking`]. Printed like a [`Duration`]; the time
/// of a simulated device is followed by the word "simulated".
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

    /// Returns the time divided by `parts`. For 0 parts, returns the whole time.
    pub fn over(self, parts: u32) -> Self {
        Self { duration: self.duration / parts.max(1), ..self }
    }

    /// The time as a plain [`Duration`].
    pub const fn duration(self) -> Duration {
        self.duration
    }

    /// Whether the device is simulated. A simulated time is the same in each run with the same seed, and says nothing about a
    /// GPU.
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
