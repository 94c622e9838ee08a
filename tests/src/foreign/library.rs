//! A library for tests, whose functions copy and fill memory.

use std::sync::Arc;

use streamflow::driver::{Driver, DriverError, RawStream};
use streamflow::library::{Call, HostBody, LibraryError};
use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;
use streamflow_driver::driver::MemoryRange;

use super::outside::library;
use super::within_device;

/// Whether a library call may be captured into a CUDA graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Captures {
    /// The call may be captured, and queues its work on the stream that it gets.
    All,
    /// The call says that it may be captured, but queues nothing while it is captured.
    Nothing,
    /// The call may not be captured.
    Never,
}

/// Returns the host body of [`CopyLibrary::fill`].
pub fn filling() -> HostBody {
    HostBody::new("testFill", |operands| {
        let (to, byte) = (operands.write::<u32>(), operands.value::<u8>());
        to.fill(u32::from_ne_bytes([byte; 4]));
        Ok(())
    })
}

/// A library with a function that copies. On a GPU the function is CUDA's own copy.
#[derive(Debug, Clone)]
pub struct CopyLibrary {
    driver: Arc<dyn Driver>,
    body: HostBody,
}

impl CopyLibrary {
    /// Opens the library.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn new(platform: &Platform) -> Result<Self> {
        let body = HostBody::new("testCopy", |operands| {
            let (from, to) = (operands.read::<f32>(), operands.write::<f32>());
            to.copy_from_slice(from);
            Ok(())
        });
        Ok(Self { driver: library(platform)?, body })
    }

    /// Copies `from` to `to`, which have the same length.
    ///
    /// # Errors
    /// Those of the call.
    #[track_caller]
    pub fn copy(
        &self,
        stream: &CudaStream,
        from: &DeviceSlice<f32>,
        to: &mut DeviceSlice<f32>,
    ) -> Result<()> {
        self.copy_with(&self.body, stream, from, to)
    }

    /// Like [`copy`](Self::copy), with another host body.
    ///
    /// # Errors
    /// Those of the call.
    #[track_caller]
    pub fn copy_with(
        &self,
        body: &HostBody,
        stream: &CudaStream,
        from: &DeviceSlice<f32>,
        to: &mut DeviceSlice<f32>,
    ) -> Result<()> {
        let bytes = (from.len() * size_of::<f32>()) as u64;
        assert_eq!(from.len(), to.len());
        let mut call = Call::new("the tests' library", "testCopy");
        let (from, to) = (call.read("from", from), call.write("to", to));
        let queue = |stream: RawStream| {
            // SAFETY: both ranges have this length, and the call has claimed them.
            let copied = unsafe { self.driver.copy(stream, &within_device(from, to, bytes)) };
            let status = match copied {
                Ok(()) => 0,
                Err(DriverError::Call { code, .. }) => code,
                Err(_) => -1,
            };
            LibraryError::check("the tests' library", "testCopy", status, |_| "TEST_COPY_FAILED")
        };
        // SAFETY: the copy reads `from` and writes `to`, as claimed, on the stream that the body gets.
        unsafe { Ok(call.queue(stream, body, queue)?) }
    }

    /// Fills `to` with a byte, passed as a value of the call. `body` stands for a plan: see
    /// [`filling`].
    ///
    /// # Errors
    /// Those of the call.
    #[track_caller]
    pub fn fill(
        &self,
        body: &HostBody,
        stream: &CudaStream,
        to: &mut DeviceSlice<u32>,
        byte: u8,
        captures: Captures,
    ) -> Result<()> {
        let bytes = (to.len() * size_of::<u32>()) as u64;
        let mut call = Call::new("the tests' library", "testFill");
        let address = call.write("to", to);
        call.value(byte);
        let call = if captures == Captures::Never { call } else { call.may_be_captured() };
        let own = stream.make_object(|own| Ok(own.handle()))?;
        let queue = |stream: RawStream| {
            let range = MemoryRange { address, bytes };
            // SAFETY: the range has this length, and the call has claimed it.
            let filled = || unsafe { self.driver.fill(stream, range, byte) };
            let is_idle = captures == Captures::Nothing && stream.handle() != own;
            let filled = if is_idle { Ok(()) } else { filled() };
            LibraryError::check(
                "the tests' library",
                "testFill",
                i32::from(filled.is_err()),
                |_| "TEST_FILL_FAILED",
            )
        };
        // SAFETY: the fill writes `to`, as claimed, on the stream that the body gets.
        unsafe { Ok(call.queue(stream, body, queue)?) }
    }

    /// Makes a call with more claims than a call has room for.
    ///
    /// # Errors
    /// The error of the refused claim.
    pub fn claim_too_much(&self, stream: &CudaStream, data: &DeviceSlice<f32>) -> Result<()> {
        let mut call = Call::new("the tests' library", "testCopy");
        for _ in 0..=streamflow::library::MAX_CLAIMS {
            call.read("data", data);
        }
        // SAFETY: the device's body queues nothing.
        unsafe { Ok(call.queue(stream, &self.body, |_| Ok(()))?) }
    }

    /// Makes a call that claims more writes than a call has room for.
    ///
    /// # Errors
    /// The error of the refused claim.
    pub fn write_too_much(&self, stream: &CudaStream, all: &mut [Tensor<f32>]) -> Result<()> {
        let mut call = Call::new("the tests' library", "testCopy");
        for data in all {
            call.write("data", data);
        }
        // SAFETY: the device's body queues nothing.
        unsafe { Ok(call.queue(stream, &self.body, |_| Ok(()))?) }
    }

    /// Makes a call whose library function fails with a status.
    ///
    /// # Errors
    /// The error with the status, on a GPU.
    pub fn fail(&self, stream: &CudaStream, to: &mut DeviceSlice<f32>) -> Result<()> {
        let mut call = Call::new("the tests' library", "testFail");
        call.write("to", to);
        let failed = |_| -> Result<(), LibraryError> {
            LibraryError::check("the tests' library", "testFail", 7, |_| "TEST_FAILED")
        };
        let body = HostBody::new("testFail", |operands| {
            operands.write::<f32>().fill(0.0);
            Ok(())
        });
        // SAFETY: the device's body queues nothing.
        unsafe { Ok(call.queue(stream, &body, failed)?) }
    }
}
