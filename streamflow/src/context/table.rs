//! `Table`: constants of an operator in the memory of its device.

use std::cell::OnceCell;
use std::fmt;

use super::ExecutionContext;
use crate::error::{Error, Result};
use crate::memory::{Element, Tensor};

/// Constants that an operator reads in each tick, as the weights of a filter. A table is a field of the operator: it gets its
/// values in the constructor, and its device memory in `start` or in the first tick. For a launch, pass `table.on(cx)?`.
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
/// The device memory is freed when the operator is dropped. It is used again in the operator's next run.
#[must_use = "keep it in the operator, and upload it by `on`"]
pub struct Table<T: Element> {
    values: Box<[T]>,
    shape: Option<Box<[usize]>>,
    /// The tensor on each device of the platform, made at its first use there. An adopting node may work on several devices.
    on_devices: OnceCell<Box<[OnceCell<Tensor<T>>]>>,
}

impl<T: Element> Table<T> {
    /// Creates a table of these values. The values are in host memory until the first call of [`on`](Self::on).
    pub fn new(values: impl Into<Vec<T>>) -> Self {
        Self { values: values.into().into(), shape: None, on_devices: OnceCell::new() }
    }

    /// Sets the shape of the tensor. If the shape has another number of elements, [`on`](Self::on) returns an error.
    #[must_use = "it returns the table with this shape"]
    pub fn reshape(self, shape: impl Into<Vec<usize>>) -> Self {
        Self { shape: Some(shape.into().into()), ..self }
    }

    /// Returns the values in host memory.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns the tensor on the operator's device. The first call makes the tensor and blocks until the values are copied. Later
    /// calls cost two loads.
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
