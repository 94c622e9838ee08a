//! cuFFT: a handle with a plan, and the one safe call that executes the plan.

pub(crate) mod layout;
pub(crate) mod problem;
mod table;

use std::ffi::{c_int, c_longlong, c_void};
use std::marker::PhantomData;

use self::layout::{MOST, Side};
use self::problem::{Kind, Problem};
use self::table::{Cufft, Execute, ExecuteBoth, NAME, check, name_of, type_of};
use super::handle_stream::HandleStream;
use super::no_handle;
use crate::error::{Result, wrong_operand};
use streamflow::CudaStream;
use streamflow::driver::{DriverError, RawStream};
use streamflow::library::LibraryError;
use streamflow::library::{Call, Claim, HostBody};
use streamflow::memory::{AfterWork, DeviceSlice};
use streamflow::{Buffer, Element};
use streamflow::{ExecutionContext, Stream};

/// The function of cuFFT that executes a plan.
#[derive(Debug, Clone, Copy)]
enum Function {
    /// A function that makes forward and inverse transforms.
    Both(ExecuteBoth),
    One(Execute),
}

/// The operand that a transform reads.
#[derive(Debug)]
pub(crate) enum Input<'a, T: Element> {
    Read(&'a DeviceSlice<T>),
    /// The transform reads this operand. Afterwards its content is undefined.
    Overwritten(&'a mut DeviceSlice<T>),
    /// The transform is in place: the output is also the input.
    InPlace,
}

impl<T: Element> Input<'_, T> {
    /// The number of elements of a separate input; 0 for a transform in place.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Read(x) => x.len(),
            Self::Overwritten(x) => x.len(),
            Self::InPlace => 0,
        }
    }
}

/// Transforms on one stream: a plan of cuFFT and its work area. The simulator has no plan of cuFFT.
#[derive(Debug)]
pub(crate) struct Transforms<T> {
    handle: Option<AfterWork<Handle>>,
    /// The work area. Each call claims it as written, so that the calls execute one after the other.
    work: Buffer<u8>,
    body: HostBody,
    problem: Problem,
    precision: PhantomData<T>,
}

impl<T: Element> Transforms<T> {
    /// Plans a batch of transforms. `host` gets the name of cuFFT's function, and returns the body that the simulator
    /// runs in place of that function and the number of bytes of the body's work area.
    ///
    /// # Errors
    /// An error if the library is not there, or can't make such a plan; the driver's error, when memory is exhausted.
    pub(crate) fn new(
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        problem: Problem,
        host: impl FnOnce(&str, Problem) -> (HostBody, usize),
    ) -> Result<Self> {
        let name = name_of(problem.kind, is_double::<T>());
        let is_simulated = stream.device_info()?.is_simulated;
        let (body, bytes, handle) = if is_simulated {
            can_be_simulated::<T>(stream, &problem)?;
            let (body, bytes) = host(name, problem);
            (body, bytes, None)
        } else {
            // The driver of a GPU never runs this body.
            let body = HostBody::new(name, |_| Ok(()));
            if problem.batch == 0 {
                (body, 0, None)
            } else {
                let make = |stream| Handle::new(stream, &problem, is_double::<T>());
                let (handle, bytes) = stream.make_object(make)?;
                (body, bytes, Some(handle))
            }
        };
        // The work area has at least one byte, because an operation's claim must not be empty.
        let mut work = cx.buffer(bytes.max(1), stream)?;
        if let Some(handle) = &handle {
            handle.set_work_area(&mut work).map_err(DriverError::from)?;
        }
        let handle = handle.map(|handle| AfterWork::new(stream, handle)).transpose()?;
        Ok(Self { handle, work, body, problem, precision: PhantomData })
    }

    /// Queues the transforms, on the plan's stream. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand) for memory that is too short, or that is not aligned; the library's error;
    /// the driver's error.
    #[track_caller]
    pub(crate) fn execute<I: Element, O: Element>(
        &mut self,
        stream: &CudaStream,
        is_inverse: bool,
        input: Input<'_, I>,
        output: &mut DeviceSlice<O>,
    ) -> Result<()> {
        if self.problem.batch == 0 {
            return Ok(());
        }
        let Problem { kind, input: from, output: to, .. } = &self.problem;
        let (from_real, to_real) = (*kind == Kind::FromReal, *kind == Kind::ToReal);
        let is_in_place = matches!(input, Input::InPlace);
        if is_in_place {
            let side = if to_real { from } else { to };
            self.check("data", output, side, false)?;
        } else {
            self.check("y", output, to, to_real)?;
        }
        let name = name_of(*kind, is_double::<T>());
        let (x, y) = match input {
            Input::Read(x) => {
                self.check("x", x, from, from_real)?;
                (Some(Claim::read("x", x)), "y")
            }
            Input::Overwritten(x) => {
                self.check("x", x, from, from_real)?;
                (Some(Claim::write("x", x)), "y")
            }
            Input::InPlace => (None, "data"),
        };
        let y = Claim::write(y, output);
        let (handle, work) = (self.handle.as_deref(), Claim::write("work area", &mut self.work));
        // cuFFT's documentation, "CUDA Graphs Support": plans of one GPU without callbacks can be captured.
        let mut call = Call::on(stream, NAME, name).may_be_captured();
        call.value(u8::from(is_inverse));
        call.value(u8::from(x.is_none()));
        x.iter().chain([&y, &work]).for_each(|claim| call.claim(claim));
        let transform = |stream: RawStream| {
            let handle = handle.ok_or_else(|| no_handle(NAME, name))?;
            let (x, y) = (x.as_ref().unwrap_or(&y).address(), y.address());
            // SAFETY: the operands have the elements of the plan, and work of the stream may use them.
            handle.on(stream, || check(name, unsafe { handle.execute(x, y, is_inverse) }))
        };
        // SAFETY: cuFFT queues its work on the stream that it gets. The work reads the input, or overwrites it if it is
        // claimed as written, and writes the output and the work area: all have at least the plan's bytes, and are claimed.
        unsafe { call.queue_in_place(stream, &self.body, &transform) }
    }

    /// Checks that memory has the elements of the input or output, and is aligned: cuFFT loads pairs of real numbers at once.
    fn check<E: Element>(
        &self,
        argument: &'static str,
        memory: &DeviceSlice<E>,
        side: &Side,
        is_real: bool,
    ) -> Result<()> {
        let call = self.problem.call;
        let complex = 2 * size_of::<T>() as u64;
        let (address, bytes) =
            (Claim::read(argument, memory).address(), size_of::<E>() * memory.len());
        let needed = side.span as u64 * if is_real { complex / 2 } else { complex };
        let problem = if (bytes as u64) < needed {
            format!("has {bytes} bytes, but the plan needs {needed}")
        } else if !address.is_multiple_of(complex) {
            format!(
                "begins at an address that is no multiple of {complex}, the size of a complex number; begin a part at an \
                 even index"
            )
        } else {
            return Ok(());
        };
        Err(wrong_operand(call, argument, problem))
    }
}

/// Whether the real numbers of the transform have double precision.
fn is_double<T>() -> bool {
    size_of::<T>() == size_of::<f64>()
}

/// A plan of cuFFT.
#[derive(Debug)]
struct Handle {
    table: &'static Cufft,
    plan: c_int,
    function: Function,
    stream: HandleStream,
}

impl Handle {
    /// Creates a plan, and returns it with the bytes of work area that it needs.
    fn new(stream: RawStream, problem: &Problem, is_double: bool) -> Result<(Self, usize)> {
        let table = Cufft::get()?;
        let function = match (problem.kind, is_double) {
            (Kind::Complex, false) => Function::Both(table.execute_c2c),
            (Kind::Complex, true) => Function::Both(table.execute_z2z),
            (Kind::FromReal, false) => Function::One(table.execute_r2c),
            (Kind::FromReal, true) => Function::One(table.execute_d2z),
            (Kind::ToReal, false) => Function::One(table.execute_c2r),
            (Kind::ToReal, true) => Function::One(table.execute_z2d),
        };
        let mut plan = 0;
        // SAFETY: the function writes the plan's handle to `plan`.
        let status = unsafe { (table.create)(&mut plan) };
        check("cufftCreate", status).map_err(DriverError::from)?;
        // If a later call fails, dropping `handle` destroys the plan.
        let handle = Self { table, plan, function, stream: HandleStream::new(stream) };
        let bytes = handle.make(problem, is_double).map_err(DriverError::from)?;
        Ok((handle, bytes))
    }

    fn make(&self, problem: &Problem, is_double: bool) -> Result<usize, LibraryError> {
        let Self { table, plan, .. } = *self;
        let Problem { rank, batch, input, output, .. } = *problem;
        // `Side` has checked that each index fits into a `c_longlong`, also as a number of bytes.
        let numbers = |all: [usize; MOST]| all.map(|number| number as c_longlong);
        let (mut n, mut from, mut to) =
            (numbers(problem.lengths), numbers(input.embed), numbers(output.embed));
        let first = MOST - rank;
        let kind = type_of(problem.kind, is_double);
        let mut bytes = 0;
        // SAFETY: the plan was created, and was not made before. Each list has `rank` numbers.
        unsafe {
            check("cufftSetAutoAllocation", (table.set_auto_allocation)(plan, 0))?;
            self.stream.set_own(|stream| self.set_stream(stream))?;
            let status = (table.make_plan_many)(
                plan,
                rank as c_int,
                n[first..].as_mut_ptr(),
                from[first..].as_mut_ptr(),
                input.stride as c_longlong,
                input.distance as c_longlong,
                to[first..].as_mut_ptr(),
                output.stride as c_longlong,
                output.distance as c_longlong,
                kind,
                batch as c_longlong,
                &mut bytes,
            );
            check("cufftMakePlanMany64", status)?;
        }
        Ok(bytes)
    }

    /// Makes a call with the plan on its own stream, or on a stream that is being captured. After the call the plan
    /// works on its own stream again.
    #[inline(always)]
    fn on(
        &self,
        stream: RawStream,
        call: impl FnOnce() -> Result<(), LibraryError>,
    ) -> Result<(), LibraryError> {
        self.stream.on(stream, |stream| self.set_stream(stream), call)
    }

    fn set_stream(&self, stream: RawStream) -> Result<(), LibraryError> {
        let stream = stream.handle() as usize as *mut c_void;
        // SAFETY: the plan was created. The stream is alive: a stream that is being captured is alive until the call ends,
        // and then the plan gets its own stream again. That stream outlives the plan: the platform keeps its streams.
        check("cufftSetStream", unsafe { (self.table.set_stream)(self.plan, stream) })
    }

    fn set_work_area(&self, work: &mut Buffer<u8>) -> Result<(), LibraryError> {
        let address = Claim::write("work area", work).address() as usize as *mut c_void;
        // SAFETY: the memory has the bytes that the plan needs, and belongs to the plan alone. It lives for as long as
        // the plan is executed.
        let status = unsafe { (self.table.set_work_area)(self.plan, address) };
        check("cufftSetWorkArea", status)
    }

    /// Queues the transforms, and returns cuFFT's status.
    ///
    /// # Safety
    /// The plan is made. The two addresses belong to memory with the plan's elements, and work of the plan's stream may use
    /// that memory.
    #[inline(always)]
    unsafe fn execute(&self, x: u64, y: u64, is_inverse: bool) -> c_int {
        let [x, y] = [x, y].map(|address| address as usize as *mut c_void);
        // SAFETY: the caller guarantees what the function requires of the plan and of the two addresses.
        unsafe {
            match self.function {
                Function::Both(execute) => {
                    execute(self.plan, x, y, if is_inverse { 1 } else { -1 })
                }
                Function::One(execute) => execute(self.plan, x, y),
            }
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Destroying a plan may free memory of the current device (`AfterWork`). A drop can't return an error.
        // SAFETY: the plan is this handle's own; its work is complete (`AfterWork`), or no work was queued.
        unsafe { (self.table.destroy)(self.plan) };
    }
}

/// The most elements of a dimension on the simulator. `rustfft` makes tables for the length, with some 16 bytes for each
/// element, or 64 bytes for a length with a large prime factor, and making the tables takes seconds.
const LONGEST_SIMULATED: usize = 1 << 24;

/// Refuses a problem that the simulator can't transform, before `rustfft` takes the host's memory and time: `rustfft` can't
/// return an error. A CUDA device has errors of its own.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand) for a dimension that is too long; [`DriverError::OutOfMemory`] if the device
/// has no room for an operand, or for the longest line and as much again for its transform.
fn can_be_simulated<T>(stream: &CudaStream, problem: &Problem) -> Result<()> {
    let Problem { call, kind, lengths, input, output, .. } = problem;
    let device = stream.device();
    let most = stream.device_info()?.total_memory;
    let longest = lengths.iter().copied().max().unwrap_or(1);
    let complex = 2 * size_of::<T>() as u64;
    let bytes = |elements: usize, is_real: bool| {
        (elements as u64).saturating_mul(if is_real { complex / 2 } else { complex })
    };
    let requested = bytes(input.span, *kind == Kind::FromReal)
        .max(bytes(output.span, *kind == Kind::ToReal))
        .max(bytes(longest.saturating_mul(2), false));
    if requested > most {
        return Err(DriverError::OutOfMemory { device, requested }.into());
    }
    if longest > LONGEST_SIMULATED {
        let problem = format!(
            "has {longest} elements in a dimension, but the simulator transforms at most {LONGEST_SIMULATED}; divide the \
             transform, or run it on a GPU"
        );
        return Err(wrong_operand(call, "shape", problem));
    }
    Ok(())
}
