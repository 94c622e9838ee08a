//! How `Interpolate` and `InterpolateAt` compute values at positions.

use std::marker::PhantomData;

use streamflow::memory::DeviceSlice;
use streamflow::{ExecutionContext, Failure, Result, Stream, Table, Tensor};

use crate::signal::kernels::{mix, places};
use crate::signal::{Sample, checks};

/// How values are computed at positions.
pub(super) struct Rule<T: Sample> {
    operator: &'static str,
    /// The positions of the samples; none if they are numbers from 0 on.
    knots: Table<f32>,
    nearest: bool,
    /// The value outside; `None` for that of the first or the last sample.
    outside: Option<T>,
    of: PhantomData<fn() -> T>,
}

impl<T: Sample> Rule<T> {
    pub(super) fn new(operator: &'static str) -> Self {
        Self {
            operator,
            knots: Table::new(Vec::new()),
            nearest: false,
            outside: None,
            of: PhantomData,
        }
    }

    pub(super) fn nearest(self) -> Self {
        Self { nearest: true, ..self }
    }

    pub(super) fn fill(self, value: T) -> Self {
        Self { outside: Some(value), ..self }
    }

    pub(super) fn knots(self, knots: Vec<f32>) -> Result<Self> {
        checks::finite(self.operator, "knots", &knots)?;
        match knots.windows(2).position(|pair| pair[0] >= pair[1]) {
            None => Ok(Self { knots: Table::new(knots), ..self }),
            Some(index) => Err(Failure::msg(format!(
                "`{}` has the knots {} and then {}, at the indices {index} and {}; give knots that ascend",
                self.operator,
                knots[index],
                knots[index + 1],
                index + 1
            ))),
        }
    }

    /// Queues the values of signals at positions.
    pub(super) fn values(
        &self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        signal: &Tensor<T>,
        positions: &Tensor<f32>,
    ) -> Result<Tensor<T>> {
        let (shape, knots) = (signal.shape(), self.knots.values().len());
        let (_, len) = checks::signals(self.operator, "signal", shape)?;
        if knots > 0 && knots != len {
            return Err(self.other_knots(knots, shape));
        }
        let of_values = checks::replaced(shape, shape.len() - 1, positions.shape())?;
        let mut values = cx.tensor(of_values, stream)?;
        if values.is_empty() {
            return Ok(values);
        }
        if len == 0 {
            return Err(self.no_samples(shape, positions.len()));
        }
        let count = positions.len();
        let (mut place, mut part) = (cx.tensor([count], stream)?, cx.tensor([count], stream)?);
        // In one dimension, whatever the shape.
        let flat: &DeviceSlice<f32> = positions;
        let knots = self.knots.on(cx)?;
        let clamps = self.outside.is_none();
        let args = (&mut place, &mut part, flat, len as u64, self.nearest, clamps, knots);
        stream.map::<places>(args)?;
        let outside = self.outside.unwrap_or(T::NAN);
        stream
            .launch::<mix<T>>(values.len(), (&mut values, signal, &place, &part, len, outside))?;
        Ok(values)
    }

    #[cold]
    fn other_knots(&self, knots: usize, shape: &[usize]) -> Failure {
        Failure::msg(format!(
            "`{}` has {knots} knots, and its input `signal` received the shape {shape:?}; send signals of {knots} samples",
            self.operator
        ))
    }

    #[cold]
    fn no_samples(&self, shape: &[usize], positions: usize) -> Failure {
        Failure::msg(format!(
            "`{}` has {positions} positions, and its input `signal` received the shape {shape:?}; send signals of at least one sample",
            self.operator
        ))
    }
}
