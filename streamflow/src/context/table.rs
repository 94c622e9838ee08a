//! Tables of constants of an operator, in the memory of its device.

use std::cell::OnceCell;
use std::fmt;

use super::ExecutionContext;
use crate::error::{Error, Result};
use crate::memory::{Element, Tensor};

/// Constants that an operator reads in each tick, as the weights of a filter. A table is a field of the operator: it gets
/// its values in the constructor, and its device memory in `start` or in the first tick. In a launch, pass `table.on(cx)?`.
///
/// ```
/// use streamflow::Table;
/// use streamflow::prelude::*;
///
/// /// out[i] = weights[i] * a[i]
/// #[kernel(
///     requires(out.len() == a.len(), a.len() == weights.len()),
///     unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = weights[i] * a[i];"
/// )]
/// fn weigh(out: &mut [f32], a: &[f32], weights: &[f32]) {
///     for ((out, a), weight) in out.iter_mut().zip(a).zip(weights) {
///         *out = weight * a;
///     }
/// }
///
/// /// Multiplies by a window.
/// #[operator]
/// struct Window {
///     #[input] signal: &Tensor<f32>,
///     #[output] out: Tensor<f32>,
///     weights: Table<f32>,
/// }
///
/// impl Compute for Window {
///     // Without this, the first tick makes it.
///     fn start(&mut self, _: Self::StreamNames<'_>, cx: &ExecutionContext) -> Result<()> {
///         self.weights.on(cx)?;
///         Ok(())
///     }
///
///     fn compute(&mut self, io: WindowIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let (signal, stream) = io.signal.receive().receive_cuda_stream(cx)?;
///         let mut out = cx.tensor(signal.shape(), &stream)?;
///         stream.launch::<weigh>(out.len(), (&mut out, signal, self.weights.on(cx)?))?;
///         io.out.emit(out)
///     }
/// }
///
/// let window = Window::new(Table::new(vec![0.5, 1.0, 0.5]));
/// ```
///
/// The memory stays until the operator is dropped, also from one run to the next.
#[must_use = "keep it in the operator, and upload it by `on`"]
pub struct Table<T: Element> {
    values: Box<[T]>,
    shape: Option<Box<[usize]>>,
    /// A tensor for each device of the platform. An adopting node may work on several devices.
    on_devices: OnceCell<Box<[OnceCell<Tensor<T>>]>>,
}

impl<T: Element> Table<T> {
    /// Creates a table of these values, on the host so far.
    pub fn new(values: impl Into<Vec<T>>) -> Self {
        Self { values: values.into().into(), shape: None, on_devices: OnceCell::new() }
    }

    /// Gives the tensor this shape. A shape with another number of elements is an error of [`on`](Self::on).
    #[must_use = "it returns the table with this shape"]
    pub fn reshape(self, shape: impl Into<Vec<usize>>) -> Self {
        Self { shape: Some(shape.into().into()), ..self }
    }

    /// The values, on the host.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The tensor on the operator's device. The first call makes it and blocks for the copy; later calls cost two loads.
    ///
    /// # Errors
    /// As for [`ExecutionContext::upload`](crate::ExecutionContext::upload), and for
    /// [`Tensor::reshape`](crate::Tensor::reshape).
    #[track_caller]
    pub fn on(&self, cx: &ExecutionContext) -> Result<&Tensor<T>> {
        let devices = self
            .on_devices
            .get_or_init(|| (0..cx.platform().device_count()).map(|_| OnceCell::new()).collect());
        let device = cx.device();
        let Some(cell) = devices.get(device.index()) else {
            let who = "a table of another platform".to_owned();
            return Err(Error::NoSuchDevice { who, device, devices: devices.len() });
        };
        if let Some(tensor) = cell.get() {
            return Ok(tensor);
        }
        let mut tensor = cx.upload(&self.values)?;
        if let Some(shape) = &self.shape {
            tensor = tensor.reshape(&**shape)?;
        }
        Ok(cell.get_or_init(|| tensor))
    }
}

impl<T: Element> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table<{}>({} elements)", T::DTYPE, self.values.len())
    }
}
