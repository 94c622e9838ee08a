//! A layer that reuses the handles of destroyed streams and events, as CUDA does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::{DriverResult, Layer, RawEvent, StreamOptions};

/// A layer that keeps a destroyed object, and returns it as the next new one. Only for streams with the same options.
#[derive(Debug)]
pub struct ReusesHandles {
    below: Arc<dyn Driver>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Destroyed streams, with the handles that the driver below gave them.
    streams: Vec<RawStream>,
    events: Vec<RawEvent>,
    free_streams: Vec<RawStream>,
    free_events: Vec<RawEvent>,
}

impl ReusesHandles {
    /// Creates the layer above a driver.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: each handle that the layer returns is live, and has one owner at a time.
unsafe impl Layer for ReusesHandles {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let mut known = self.known();
        if let Some(stream) = known.free_streams.pop() {
            return Ok(stream);
        }
        let stream = self.below.create_stream(device, options)?;
        known.streams.push(stream);
        Ok(stream)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        let mut known = self.known();
        let own = known.streams.iter().find(|own| **own == stream).copied();
        known.free_streams.extend(own);
        Ok(())
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let mut known = self.known();
        if let Some(event) = known.free_events.pop() {
            return Ok(event);
        }
        let event = self.below.create_event(device)?;
        known.events.push(event);
        Ok(event)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        let mut known = self.known();
        let own = known.events.iter().find(|own| **own == event).copied();
        known.free_events.extend(own);
        Ok(())
    }
}
