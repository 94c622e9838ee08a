//! The arguments of one launch, collected without heap allocation.

use arrayvec::ArrayVec;

use crate::driver::{Access, AccessMode, DriverError, MAX_PARAMS, Param, Rows, RowsAt};
use crate::error::{Error, Result};
use crate::memory::access::{self, Use};
use crate::memory::{Block, DeviceSlice, Scalar, TensorView, TensorViewMut};

/// The most accesses that have rows. Each is an access to a view, and a view takes at least three parameters.
const MAX_ROWS: usize = MAX_PARAMS / 3;

/// Collects the arguments of a launch: parameters, accesses, and the memory blocks that are accessed.
///
/// A slice becomes two parameters, its address and its length; a view becomes its address, its shape and its strides. There is
/// room for [`MAX_PARAMS`] parameters: `#[kernel]` refuses a function with more, and a launch of a module's function with more is
/// an error.
///
/// A list touches no memory, so each of its functions is safe, those that take an address as a number too. The kernel touches the
/// memory, and each function that launches with a list is `unsafe`: its caller vouches that the parameters and the accesses are
/// those of the kernel.
#[derive(Debug)]
pub struct Passing<'a> {
    params: ArrayVec<Param, MAX_PARAMS>,
    /// The number of parameters for which there was no room.
    beyond: usize,
    accesses: ArrayVec<Access, MAX_PARAMS>,
    rows: ArrayVec<Rows, MAX_ROWS>,
    blocks: ArrayVec<&'a Block, MAX_PARAMS>,
    longest: Longest,
}

/// The longest slice or view that the kernel writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Longest {
    /// The number of elements.
    pub(super) len: u64,
    /// The argument's name.
    pub(super) argument: &'static str,
    pub(super) is_view: bool,
}

impl Default for Passing<'_> {
    fn default() -> Self {
        Self::new()
    }
}

// The functions that a launch calls for each argument are inlined into the launch, where all counts and indices are constants.
impl<'a> Passing<'a> {
    /// Creates a list without arguments.
    #[inline(always)]
    pub fn new() -> Self {
        Self {
            params: ArrayVec::new_const(),
            beyond: 0,
            accesses: ArrayVec::new_const(),
            rows: ArrayVec::new_const(),
            blocks: ArrayVec::new_const(),
            longest: Longest { len: 0, argument: "", is_view: false },
        }
    }

    /// Passes a slice that the kernel only reads.
    #[inline(always)]
    pub fn read<T>(&mut self, argument: &'static str, slice: &'a DeviceSlice<T>) {
        self.slice(argument, slice, AccessMode::Read);
    }

    /// Passes a slice that the kernel writes.
    #[inline(always)]
    pub fn write<T>(&mut self, argument: &'static str, slice: &'a mut DeviceSlice<T>) {
        self.writes(argument, slice.len(), false);
        self.slice(argument, slice, AccessMode::Write);
    }

    /// Passes a view that the kernel only reads.
    pub fn read_view<T>(&mut self, argument: &'static str, view: TensorView<'a, T>) {
        self.view(argument, &view, AccessMode::Read);
    }

    /// Passes a view that the kernel writes.
    pub fn write_view<T>(&mut self, argument: &'static str, view: TensorViewMut<'a, T>) {
        self.writes(argument, view.len(), true);
        self.view(argument, &view.into_view(), AccessMode::Write);
    }

    /// Passes only the address of a slice, which the function only reads. For functions that `#[kernel]` did not compile: no length
    /// is passed.
    pub fn read_address<T>(&mut self, argument: &'static str, slice: &'a DeviceSlice<T>) {
        self.address(argument, slice, AccessMode::Read);
    }

    /// Passes only the address of a slice, as [`read_address`](Self::read_address), but the function writes the slice.
    pub fn write_address<T>(&mut self, argument: &'static str, slice: &'a mut DeviceSlice<T>) {
        self.writes(argument, slice.len(), false);
        self.address(argument, slice, AccessMode::Write);
    }

    /// Passes a value.
    #[inline(always)]
    pub fn scalar<T: Scalar>(&mut self, value: T) {
        self.param(Param::new(value));
    }

    /// Adds the parameter for checks of indices: the address of a [bounds report](super::bounds).
    pub(super) fn report(&mut self, address: u64) {
        self.param(Param::new(address));
    }

    /// Adds a number or an address as a parameter, without an access.
    #[inline(always)]
    pub(crate) fn number(&mut self, number: u64) {
        self.param(Param::new(number));
    }

    /// Adds an access, without a parameter.
    pub(crate) fn touch(&mut self, access: Access, rows: Option<Rows>, block: &'a Block) {
        let place = RowsAt(self.rows.len() as u8);
        let rows = rows.and_then(|rows| self.rows.try_push(rows).ok()).map(|()| place);
        self.access(Access { rows, ..access }, block);
    }

    /// The parameters in order.
    pub(super) fn params(&self) -> &[Param] {
        &self.params
    }

    /// The memory that the kernel accesses. Empty slices are left out.
    pub(super) fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// The rows of views whose rows have gaps between them; an access refers to its rows by their index in this list.
    pub(super) fn rows(&self) -> &[Rows] {
        &self.rows
    }

    /// The accesses, each with the block that contains its memory. A block can occur more than once.
    #[inline]
    pub(super) fn uses(&self) -> impl Iterator<Item = Use<'a>> + Clone {
        let all = self.blocks.iter().copied().zip(self.accesses.iter());
        all.map(|(block, access)| Use::new((block, access.range), access.mode, access.argument))
    }

    /// Marks the memory that the kernel was to write as not written, since the launch has failed with `error`.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&self, error: &Error) {
        access::fail(self.uses(), error);
    }

    /// The longest slice or view that the kernel writes.
    #[inline]
    pub(super) fn longest_written(&self) -> Longest {
        self.longest
    }

    #[inline(always)]
    fn writes(&mut self, argument: &'static str, len: usize, is_view: bool) {
        if len as u64 > self.longest.len {
            self.longest = Longest { len: len as u64, argument, is_view };
        }
    }

    /// Passes the address of the first element, the shape and the strides of a view.
    fn view<T>(&mut self, argument: &'static str, view: &TensorView<'a, T>, mode: AccessMode) {
        let range = view.range();
        self.param(Param::new(range.address));
        for number in view.shape().iter().chain(view.strides()) {
            self.param(Param::new(*number as u64));
        }
        let place = RowsAt(self.rows.len() as u8);
        let rows = view.rows(mode).and_then(|rows| self.rows.try_push(rows).ok()).map(|()| place);
        self.access(Access { range, mode, argument, rows }, view.elements().block());
    }

    #[inline(always)]
    fn slice<T>(&mut self, argument: &'static str, slice: &'a DeviceSlice<T>, mode: AccessMode) {
        self.address(argument, slice, mode);
        self.param(Param::new(slice.len() as u64));
    }

    #[inline(always)]
    fn address<T>(&mut self, argument: &'static str, slice: &'a DeviceSlice<T>, mode: AccessMode) {
        let range = slice.range();
        self.param(Param::new(range.address));
        self.access(Access { range, mode, argument, rows: None }, slice.block());
    }

    #[inline(always)]
    fn access(&mut self, access: Access, block: &'a Block) {
        // There is room for one access per parameter. If there is no room for this access, the parameters are too many and the
        // launch is refused.
        if access.range.bytes == 0 || self.accesses.is_full() {
            return;
        }
        self.accesses.push(access);
        self.blocks.push(block);
    }

    /// Adds a parameter.
    #[inline(always)]
    pub(crate) fn param(&mut self, param: Param) {
        if self.params.try_push(param).is_err() {
            self.beyond += 1;
        }
    }

    /// Refuses a launch that passed more parameters than there is room for.
    #[inline]
    pub(super) fn check(&self, kernel: &str) -> Result<()> {
        if self.beyond == 0 { Ok(()) } else { Err(self.too_many(kernel)) }
    }

    #[cold]
    fn too_many(&self, kernel: &str) -> Error {
        DriverError::too_many_params(kernel, self.params.len() + self.beyond).into()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::driver::HostArgs;
    use crate::kernel;
    use crate::kernel::Kernel;
    #[cfg(feature = "half")]
    use crate::kernel::ParamKind;

    use crate::memory::Element;
    use crate::{Buffer, Platform, device};

    fn memory<T: Element>(len: usize) -> Buffer<T> {
        let platform = Platform::host().build().unwrap();
        platform.buffer(len, &platform.default_stream(device(0)).unwrap()).unwrap()
    }

    /// out[i] = a[i] * factor + bias
    #[kernel(
        requires(a.len() == out.len(), bias as usize <= a.len()),
        unsafe cuda = "unsigned long long i = thread_index();
            if (i < out_len) out[i] = a[i] * factor + T(bias);"
    )]
    fn scale<T: Element + std::ops::Mul<Output = T>>(out: &mut [T], a: &[T], factor: T, bias: u8) {
        for (out, a) in out.iter_mut().zip(a) {
            *out = *a * factor;
        }
        assert_eq!(bias, 2);
    }

    // The arguments have the names of variables in the code that `#[kernel]` expands to.
    #[kernel(requires(to == 1, args.len() == 3), unsafe cuda = "args[0] = to + info;")]
    fn host(args: &mut [u64], to: u64, info: u64) {
        args[0] = to + info;
    }

    #[test]
    fn addresses_lengths_values_and_accesses_are_passed() {
        let mut out = memory::<f64>(3);
        let a = memory::<f64>(3);
        let ranges = [out.range(), a.range()];
        let mut to = Passing::new();
        scale::<f64>::pass((&mut out, &a, 0.5, 2), &mut to).unwrap();
        to.report(77);
        let numbers = [0, 1, 2, 3, 5].map(|i| to.params()[i].get::<u64>());
        assert_eq!(numbers, [ranges[0].address, 3, ranges[1].address, 3, 2]);
        assert_eq!(to.params()[4].get::<f64>(), 0.5);
        assert_eq!(to.params()[6].get::<u64>(), 77);
        assert_eq!(ranges.map(|range| range.bytes), [24, 24]);
        assert_eq!(
            to.accesses(),
            [
                Access { range: ranges[0], mode: AccessMode::Write, argument: "out", rows: None },
                Access { range: ranges[1], mode: AccessMode::Read, argument: "a", rows: None },
            ]
        );
        assert_eq!(to.uses().count(), 2);
    }

    #[test]
    fn an_empty_slice_is_not_an_access() {
        let mut out = memory::<f32>(0);
        let a = memory::<f32>(0);
        let mut to = Passing::new();
        let error = scale::<f32>::pass((&mut out, &a, 0.5, 1), &mut to).unwrap_err();
        assert_eq!(to.params().len(), 6, "what a refused kernel was to write is known");
        assert_eq!(
            error.to_string(),
            "kernel `scale` requires `bias as usize <= a.len()`, which these arguments break: \
             out.len() = 0, a.len() = 0, factor = 0.5, bias = 1"
        );
        drop(to);
        let mut to = Passing::new();
        scale::<f32>::pass((&mut out, &a, 0.5, 0), &mut to).unwrap();
        assert_eq!(to.params().len(), 6);
        assert!(to.accesses().is_empty() && to.uses().count() == 0);
    }

    #[test]
    fn the_error_of_a_requirement_has_all_lengths() {
        let mut out = memory::<f32>(4);
        let a = memory::<f32>(3);
        let done = scale::<f32>::pass((&mut out, &a, 0.5, 1), &mut Passing::new());
        let text = done.unwrap_err().to_string();
        assert!(text.contains("requires `a.len() == out.len()`"), "{text}");
        assert!(text.contains("out.len() = 4, a.len() = 3"), "{text}");
    }

    #[test]
    fn the_host_body_gets_what_was_passed() {
        let mut out = [0.0_f32; 3];
        let a = [1.0_f32, 2.0, 3.0];
        let params = [
            Param::new(out.as_mut_ptr().expose_provenance() as u64),
            Param::new(3_u64),
            Param::new(a.as_ptr().expose_provenance() as u64),
            Param::new(3_u64),
            Param::new(0.5_f32),
            Param::new(2_u8),
        ];
        // SAFETY: the parameters are those of `scale::<f32>`, and the arrays are alive.
        unsafe { (scale::<f32>::INFO.host)(HostArgs { params: &params }) };
        assert_eq!(out, [0.5, 1.0, 1.5]);

        // The host body also accepts an empty slice whose address is 0.
        let nothing = [0_u64, 0, 0, 0].map(Param::new);
        let params = [nothing.as_slice(), &params[4..]].concat();
        // SAFETY: the parameters are those of `scale::<f32>`; the slices are empty.
        unsafe { (scale::<f32>::INFO.host)(HostArgs { params: &params }) };
    }

    #[cfg(feature = "half")]
    #[test]
    fn each_instance_has_its_types_and_its_line() {
        let info = scale::<half::f16>::INFO;
        assert_eq!((info.name, info.entry), ("scale", "scale_kernel"));
        assert_eq!(info.generics, [("T", "half")]);
        let params: Vec<_> = info.params.iter().map(|p| (p.name, p.cuda, p.kind)).collect();
        assert_eq!(
            params,
            [
                ("out", "half", ParamKind::SliceMut),
                ("a", "half", ParamKind::Slice),
                ("factor", "half", ParamKind::Scalar),
                ("bias", "unsigned char", ParamKind::Scalar),
            ]
        );
        assert_eq!(scale::<i32>::INFO.generics, [("T", "int")]);
        assert!(info.file.ends_with("passing.rs"));
        let line = include_str!("passing.rs").lines().nth(info.line as usize - 1).unwrap();
        assert!(line.contains("unsafe cuda = \"unsigned"), "{line}");
    }

    #[test]
    fn arguments_may_have_names_that_the_expansion_uses() {
        let mut args = memory::<u64>(3);
        assert!(host::pass((&mut args, 1, 2), &mut Passing::new()).is_ok());
        assert!(host::pass((&mut args, 2, 2), &mut Passing::new()).is_err());
        // The kernel's function is still an ordinary function, which the program can call on the host.
        let mut numbers = [0];
        host(&mut numbers, 3, 4);
        assert_eq!(numbers, [7]);
    }
}
