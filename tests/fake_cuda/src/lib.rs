//! A `libcuda` without a GPU, for the tests of `CudaDriver` itself: two devices that execute work in the call that
//! queues it.
//!
//! The library has the functions that streamflow calls, and those that cudarc calls for streams and slices, and no
//! others. A call can be made to fail:
//!
//! - `STREAMFLOW_FAKE_CUDA_FAULT="cuMemPoolCreate 1 2 CUDA_ERROR_OUT_OF_MEMORY once"`: the second call of the function
//!   returns 2. With `lost` in place of `once`, all later calls return it as well, as after a sticky error.
//! - `STREAMFLOW_FAKE_CUDA_LOG=path`: each call and each object that is made or given back is a line there.
//!
//! A test in the same process can take the order that streams and events were given: see `taken`. The test can also
//! hold the threads that wait for a stream or an event: see `held`.
//!
//! The declarations are those of `cuda.h` of CUDA 13.0. A call that CUDA refuses, as one without a current context or
//! with a handle that is not alive, is refused here.

mod allocations;
mod device;
mod exports;
mod graph;
mod held;
mod order;
mod state;
mod taken;
