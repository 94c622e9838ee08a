//! Reductions within an expression: operands that an evaluation makes before it launches the expression itself.

use std::marker::PhantomData;

use super::made::{self, Made};
use super::operand::{Form, Memory, Reduced};
use super::{Evaluate, Taken, launch};
use crate::driver::{AccessMode, SourceLocation};
use crate::error::{Error, Result};
use crate::kernel::body::KernelArg;
use crate::kernel::combine::ScanKernel;
use crate::kernel::launched;
use crate::kernel::map::Operands;
use crate::kernel::reduce::{Described, ReduceKernel, queue};
use crate::stream::CudaStream;

/// The axis of a reduction, and the dimensions of its results.
#[derive(Debug, Clone, Copy)]
pub struct Along {
    /// The axis. Without an axis, all elements are combined to one.
    axis: Option<usize>,
    /// Whether the results have a dimension of length 1 for each that was reduced.
    keepdims: bool,
}

impl Along {
    /// A reduction along one axis.
    pub fn axis(axis: usize, keepdims: bool) -> Self {
        Self { axis: Some(axis), keepdims }
    }

    /// A reduction of all elements.
    pub fn all(keepdims: bool) -> Self {
        Self { axis: None, keepdims }
    }
}

/// The results of a reduction, as an operand.
#[derive(Debug)]
pub struct Reduction<K, S> {
    source: Option<S>,
    name: &'static str,
    along: Along,
    made: Option<Made>,
    kernel: PhantomData<fn() -> K>,
}

/// The results of a reduction of an operand, named as it is written.
pub fn reduced<K, S>(source: S, name: &'static str, along: Along) -> Reduction<K::Function, S>
where
    K: ReduceKernel,
    S: Taken<Form: Reduced + Form<Value = <K::Function as ScanKernel>::Input>>,
{
    Reduction { source: Some(source), name, along, made: None, kernel: PhantomData }
}

// SAFETY: `prepare` makes results of the kernel's type, or fails.
unsafe impl<K: ScanKernel<Output: KernelArg>, S: Taken> Taken for Reduction<K, S> {
    type Form = Memory<K::Output>;

    fn prepare(&mut self, stream: &CudaStream, location: SourceLocation) -> Result<()> {
        // Memory that the source has made is free for other work of the stream, as soon as the reduction is queued.
        let Some(mut source) = self.source.take() else { return Ok(()) };
        source.prepare(stream, location)?;
        launched::note::<Described<K>>();
        let mut operands = Operands::new();
        source.pass(self.name, &mut operands);
        let Some(input) = operands.operands.into_iter().next() else {
            return numbers_alone(K::NAME);
        };
        let Along { axis, keepdims } = self.along;
        let made = Made::new::<K::Output>(stream, made::reduced(&input, axis, keepdims))?;
        let out = made.operand("out", AccessMode::Write);
        // SAFETY: the memory was made for results, and `reduced` has taken a source with elements of the function's input.
        unsafe { queue(stream, Described::<K>::FUNCTION, &[out, input], axis, location)? };
        self.made = Some(made);
        Ok(())
    }

    fn pass<'s>(&'s self, name: &'static str, to: &mut Operands<'s>) {
        if let Some(made) = &self.made {
            to.operand(made.operand(name, AccessMode::Read));
        }
    }
}

/// The elements of an expression within another one, as an operand.
#[derive(Debug)]
pub struct Evaluated<E> {
    expression: E,
    made: Option<Made>,
}

/// The elements of an expression, of the shape to which its operands broadcast.
pub fn evaluated<E: Evaluate>(expression: E) -> Evaluated<E> {
    Evaluated { expression, made: None }
}

// SAFETY: `prepare` makes elements of the expression's type, or fails.
unsafe impl<E: Evaluate<Element: KernelArg>> Taken for Evaluated<E> {
    type Form = Memory<E::Element>;

    fn prepare(&mut self, stream: &CudaStream, location: SourceLocation) -> Result<()> {
        self.expression.prepare(stream, location)?;
        let mut operands = Operands::new();
        self.expression.pass(&mut operands);
        let operands = &operands.operands;
        if operands.is_empty() {
            return numbers_alone(E::NAME);
        }
        let made = Made::new::<E::Element>(stream, made::broadcast(operands))?;
        let out = made.operand(E::NAME, AccessMode::Write);
        launch(stream, &self.expression, out, location)?;
        self.made = Some(made);
        Ok(())
    }

    fn pass<'s>(&'s self, name: &'static str, to: &mut Operands<'s>) {
        if let Some(made) = &self.made {
            to.operand(made.operand(name, AccessMode::Read));
        }
    }
}

fn numbers_alone(kernel: &'static str) -> Result<()> {
    let problem =
        "a reduction is of the elements of tensors, and this has numbers alone".to_owned();
    Err(Error::Shapes { kernel, problem })
}
