//! The call of a routine of cuSOLVER or cuBLAS, with checked and claimed operands.

use std::ffi::{c_int, c_void};

use super::Handle;
use super::batch::Batch;
use super::element::sealed::Number;
use super::table::{NAME, check};
use crate::error::{Result, wrong_operand};
use crate::ffi::no_handle;
use streamflow::CudaStream;
use streamflow::Element;
use streamflow::driver::RawStream;
use streamflow::library::{Call, HostBody};
use streamflow::memory::DeviceSlice;

/// Checks that an operand is as long as a routine needs: memory safety depends on this check.
pub(in crate::ffi) fn fits<T: Element>(
    call: &'static str,
    argument: &'static str,
    operand: &DeviceSlice<T>,
    needed: Option<usize>,
) -> Result<()> {
    if needed.is_some_and(|needed| operand.len() >= needed) {
        return Ok(());
    }
    let needed = needed.map_or("more than memory has".to_owned(), |needed| needed.to_string());
    let problem = format!("has {} elements, but {needed} are needed", operand.len());
    Err(wrong_operand(call, argument, problem))
}

/// Returns `rows * columns * count`; `None` if the product is too large.
pub(super) fn size(rows: usize, columns: usize, count: usize) -> Option<usize> {
    rows.checked_mul(columns)?.checked_mul(count)
}

/// A pointer to an operand, for the routine.
type Pointer = *mut c_void;

/// A work area on the device, for the routine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) start: Pointer,
    pub(super) bytes: usize,
}

impl Work {
    /// The length in elements, as the older routines count it.
    pub(super) fn elements<T>(self) -> c_int {
        (self.bytes / size_of::<T>()).min(c_int::MAX as usize) as c_int
    }
}

/// A call of a routine, with its operands in the order of the host bodies. The call claims each operand and checks that
/// it is as long as the routine needs.
///
/// cuSOLVER's documentation allows no routine to be captured in a graph, and routines that iterate read results on the host.
pub(super) struct Routine<'a> {
    name: &'static str,
    call: Call<'a>,
    library: Option<&'a Handle>,
}

impl<'a> Routine<'a> {
    pub(super) fn new(
        stream: &CudaStream,
        name: &'static str,
        library: Option<&'a Handle>,
    ) -> Self {
        Self { name, call: Call::on(stream, NAME, name), library }
    }

    /// Claims the work area, which is as long as the library requires.
    pub(super) fn work(&mut self, work: &'a mut DeviceSlice<u8>) -> Work {
        let bytes = work.len();
        Work { start: self.call.write("work", work) as Pointer, bytes }
    }

    pub(super) fn read<T: Element>(
        &mut self,
        argument: &'static str,
        operand: &'a DeviceSlice<T>,
        needed: Option<usize>,
    ) -> Result<Pointer> {
        fits(self.name, argument, operand, needed)?;
        Ok(self.call.read(argument, operand) as Pointer)
    }

    pub(super) fn write<T: Element>(
        &mut self,
        argument: &'static str,
        operand: &'a mut DeviceSlice<T>,
        needed: Option<usize>,
    ) -> Result<Pointer> {
        fits(self.name, argument, operand, needed)?;
        Ok(self.call.write(argument, operand) as Pointer)
    }

    /// Claims a batch as read, with this number of elements in each of `count` items. Returns the address of its list
    /// of pointers.
    pub(super) fn read_batch<T: Number>(
        &mut self,
        names: [&'static str; 2],
        batch: &'a Batch<T>,
        (each, count): (Option<usize>, usize),
    ) -> Result<Pointer> {
        fits(self.name, names[0], batch.pointers(), Some(count))?;
        fits(self.name, names[1], batch.items(), each.and_then(|each| each.checked_mul(count)))?;
        Ok(batch.read(&mut self.call, names) as Pointer)
    }

    /// Claims a batch as [`read_batch`](Self::read_batch) does, with its items as written.
    pub(super) fn write_batch<T: Number>(
        &mut self,
        names: [&'static str; 2],
        batch: &'a mut Batch<T>,
        (each, count): (Option<usize>, usize),
    ) -> Result<Pointer> {
        fits(self.name, names[0], batch.pointers(), Some(count))?;
        fits(self.name, names[1], batch.items(), each.and_then(|each| each.checked_mul(count)))?;
        Ok(batch.write(&mut self.call, names) as Pointer)
    }

    /// Queues the call.
    ///
    /// # Safety
    /// `run` calls a routine that works on the handle's stream, and that stream is this one. The routine touches only the checked
    /// parts of the operands, and the work areas.
    #[track_caller]
    pub(super) unsafe fn queue(
        self,
        stream: &CudaStream,
        host: &HostBody,
        run: impl Fn(&Handle) -> c_int,
    ) -> Result<()> {
        let device = |_: RawStream| {
            check(self.name, run(self.library.ok_or_else(|| no_handle(NAME, self.name))?))
        };
        // SAFETY: all memory that the routine touches is claimed, and it works on this stream, as the caller vouches.
        unsafe { self.call.queue_in_place(stream, host, &device) }
    }
}

/// Defines routines as methods of `Dense`: the name, the sizes and their types, the library's name, whether there is a work area,
/// the operands with the number of elements that are needed of each, and the call. In the call an operand is a pointer.
macro_rules! routines {
    ($(
        $(#[$attribute:meta])*
        $name:ident($sizes:pat_param, $sizes_type:ty) = $symbol:literal $(with $work:ident)?:
            $($kind:ident $operand:ident: $element:ty [$needed:expr]),+
            => |$it:ident| $run:expr;
    )+) => {
        impl super::Dense {$(
            $(#[$attribute])*
            #[allow(clippy::too_many_arguments, reason = "those of LAPACK")]
            #[track_caller]
            pub(crate) fn $name<T: Number>(
                &mut self,
                stream: &streamflow::CudaStream,
                host: &streamflow::library::HostBody,
                $sizes: $sizes_type,
                $($operand: $crate::ffi::cusolver::routine::operand!($kind $element),)+
            ) -> crate::error::Result<()> {
                let mut call = $crate::ffi::cusolver::routine::Routine::new(
                    stream, $symbol, self.library.as_deref(),
                );
                $(let $work = call.work(&mut self.work);)?
                $(let $operand = call.$kind(
                    $crate::ffi::cusolver::routine::names!($kind $operand), $operand, $needed,
                )?;)+
                // SAFETY: the operands are as long as the routine needs, and the work areas as long as the library
                // requires; pointers in memory are those of a batch's items. The routine works on the handle's stream,
                // which is the plan's.
                unsafe { call.queue(stream, host, |$it| $run) }
            }
        )+}
    };
}
pub(super) use routines;

/// The Rust type of an operand in the signature of a routine's method.
macro_rules! operand {
    (read $element:ty) => { &streamflow::memory::DeviceSlice<$element> };
    (write $element:ty) => { &mut streamflow::memory::DeviceSlice<$element> };
    (read_batch $element:ty) => { &$crate::ffi::cusolver::Batch<$element> };
    (write_batch $element:ty) => { &mut $crate::ffi::cusolver::Batch<$element> };
}
pub(super) use operand;

/// The name of an operand, for messages. A batch has two names: that of its pointers and that of its items.
macro_rules! names {
    (read $operand:ident) => {
        stringify!($operand)
    };
    (write $operand:ident) => {
        stringify!($operand)
    };
    ($batch:ident $operand:ident) => {
        [concat!("pointers of ", stringify!($operand)), stringify!($operand)]
    };
}
pub(super) use names;

/// Returns the function of cuSOLVER for the type of the elements; the older routines have a function for each type.
pub(super) fn of<T: Number, F>(single: F, double: F) -> F {
    if is_single::<T>() { single } else { double }
}

/// Whether the elements are `f32`; the older routines have a function for each type.
pub(super) fn is_single<T: Number>() -> bool {
    T::DATA_TYPE == f32::DATA_TYPE
}
