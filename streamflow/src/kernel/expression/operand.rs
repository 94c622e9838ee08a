//! The operands of an expression: memory and numbers.

use std::marker::PhantomData;

use crate::driver::{HostArgs, SourceLocation};
use crate::error::Result;
use crate::kernel::ParamKind;
use crate::kernel::body::{Elements, KernelArg, RANK};
use crate::kernel::map::{MapInput, Operands};
use crate::memory::{Buffer, DeviceSlice, Element, PitchedTensor, Shared, Tensor, TensorView};
use crate::stream::CudaStream;

/// An operand of an expression: a tensor, a buffer or a view, or a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of an expression",
    label = "no operand",
    note = "an operand is a `Tensor`, a `Buffer` or a `TensorView` of numbers, or a number as `f32` or `u32`"
)]
pub trait Operand<'a> {
    /// The elements, or the number.
    type Taken: Taken;

    /// The elements, or the number.
    #[doc(hidden)]
    fn taken(self) -> Self::Taken;
}

/// An operand as it is passed to its kernel: elements, a number, or a reduction whose results are made first.
///
/// # Safety
/// After [`prepare`](Self::prepare) has succeeded, [`pass`](Self::pass) passes the parameters of the form: memory with elements of the
/// form's type, or a number of this type.
pub unsafe trait Taken {
    /// How the operand is passed, with the type of an element.
    type Form: Form;

    /// Queues the work that makes the elements.
    ///
    /// # Errors
    /// Those of the work.
    fn prepare(&mut self, stream: &CudaStream, location: SourceLocation) -> Result<()> {
        let _ = (stream, location);
        Ok(())
    }

    /// Passes the operand, after `prepare`.
    fn pass<'s>(&'s self, name: &'static str, to: &mut Operands<'s>);
}

/// The operand of an expression.
pub fn operand<'a, A: Operand<'a>>(operand: A) -> A::Taken {
    operand.taken()
}

/// How an operand is passed to its kernel.
///
/// # Safety
/// The kinds and the type in CUDA are those of the parameters that [`find`](Self::find) reads.
pub unsafe trait Form {
    /// The type of an element, or of the number.
    type Value: KernelArg;
    /// How a body of the simulator finds the elements.
    type Found;

    /// Whether it has elements.
    const IS_MEMORY: bool;
    /// The type of an element, or of the number, in CUDA.
    const CUDA: &'static str;
    /// The kind of its parameter in the code without gaps, and in the others.
    const KINDS: [ParamKind; 2];

    /// The operand from the parameter `index` and those after it, and the index after them.
    fn find(args: &HostArgs<'_>, index: usize, is_linear: bool) -> (Self::Found, usize);

    /// The element at these coordinates.
    ///
    /// # Safety
    /// The coordinates are within the shape of the launch, and no element is written while the reference lives.
    unsafe fn at(found: &Self::Found, at: [usize; RANK]) -> &Self::Value;
}

/// The form of an operand that a reduction takes.
#[diagnostic::on_unimplemented(
    message = "a reduction is of the elements of a tensor, and this is a number",
    label = "a number",
    note = "reduce a `Tensor`, a `Buffer` or a `TensorView`, or write the number alone"
)]
pub trait Reduced: Form {}

impl<T: Element + KernelArg> Reduced for Memory<T> {}

/// The form of an operand with elements.
#[derive(Debug)]
pub struct Memory<T>(PhantomData<T>);

/// The form of a number.
#[derive(Debug)]
pub struct Number<T>(PhantomData<T>);

// SAFETY: elements are an address and a length, or an address and four strides.
unsafe impl<T: Element + KernelArg> Form for Memory<T> {
    type Value = T;
    type Found = Elements<T>;

    const IS_MEMORY: bool = true;
    const CUDA: &'static str = T::ELEMENT_CUDA;
    const KINDS: [ParamKind; 2] = [ParamKind::Slice, ParamKind::Elements];

    fn find(args: &HostArgs<'_>, index: usize, is_linear: bool) -> (Elements<T>, usize) {
        match is_linear {
            true => (Elements::without_gaps(args, index), index + 2),
            false => (Elements::of(args, index), index + 5),
        }
    }

    unsafe fn at(found: &Elements<T>, at: [usize; RANK]) -> &T {
        // SAFETY: the coordinates are those of an element, which is not written, as the caller vouches.
        unsafe { &*found.at(at) }
    }
}

// SAFETY: a number is passed as `KernelArg` passes it.
unsafe impl<T: KernelArg> Form for Number<T> {
    type Value = T;
    type Found = T;

    const IS_MEMORY: bool = false;
    const CUDA: &'static str = T::PARAM;
    const KINDS: [ParamKind; 2] = [T::KIND; 2];

    fn find(args: &HostArgs<'_>, index: usize, _: bool) -> (T, usize) {
        (T::get(args, index), index + T::PARAMS)
    }

    unsafe fn at(found: &T, _: [usize; RANK]) -> &T {
        found
    }
}

// SAFETY: the view has elements of the form's type.
unsafe impl<T: Element + KernelArg> Taken for TensorView<'_, T> {
    type Form = Memory<T>;

    fn pass<'s>(&'s self, name: &'static str, to: &mut Operands<'s>) {
        to.input(name, *self);
    }
}

/// Implements the trait for references to memory.
macro_rules! memory {
    ($($memory:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T: Element + KernelArg> Operand<'a> for &'a $memory {
            type Taken = TensorView<'a, T>;

            fn taken(self) -> TensorView<'a, T> {
                self.map_input()
            }
        }
    )*};
}
memory!(Tensor<T>, PitchedTensor<T>, Buffer<T>, DeviceSlice<T>, Shared<Tensor<T>>);

#[diagnostic::do_not_recommend]
impl<'a, T: Element + KernelArg> Operand<'a> for &TensorView<'a, T> {
    type Taken = TensorView<'a, T>;

    fn taken(self) -> TensorView<'a, T> {
        *self
    }
}

// `&x` of a variable that is a reference.
#[diagnostic::do_not_recommend]
impl<'a, T: ?Sized> Operand<'a> for &&'a T
where
    &'a T: Operand<'a>,
{
    type Taken = <&'a T as Operand<'a>>::Taken;

    fn taken(self) -> Self::Taken {
        (*self).taken()
    }
}

// `&x` of a variable that is a mutable reference.
#[diagnostic::do_not_recommend]
impl<'a, T: ?Sized> Operand<'a> for &'a &mut T
where
    &'a T: Operand<'a>,
{
    type Taken = <&'a T as Operand<'a>>::Taken;

    fn taken(self) -> Self::Taken {
        let shared: &'a T = self;
        shared.taken()
    }
}

/// Implements the traits for numbers.
macro_rules! numbers {
    ($($ty:ty),*) => {$(
        // SAFETY: `KernelArg` passes a number of the form's type.
        unsafe impl Taken for $ty {
            type Form = Number<$ty>;

            fn pass<'s>(&'s self, _: &'static str, to: &mut Operands<'s>) {
                KernelArg::pass(*self, |param| to.param(param));
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'a> Operand<'a> for &$ty {
            type Taken = $ty;

            fn taken(self) -> $ty {
                *self
            }
        }
    )*};
}
numbers!(i8, i16, i32, i64, u8, u16, u32, u64, usize, f32, f64, bool);
