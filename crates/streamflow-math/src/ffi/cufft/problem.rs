//! The transforms that a plan is made for, with their lengths checked.

use super::layout::{Layout, MOST, Side, Wanted, product};
use crate::error::{Result, wrong_operand};
use streamflow::memory::IntoShape;

/// The kind of the transforms: which of input and output are complex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Complex,
    /// Transforms from real numbers to a half of their spectrum.
    FromReal,
    /// Transforms from a half of a spectrum to real numbers.
    ToReal,
}

/// A batch of transforms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The call's name in messages.
    pub(crate) call: &'static str,
    pub(crate) kind: Kind,
    pub(crate) rank: usize,
    /// The lengths of the transforms, as those of a transform of complex numbers. With fewer than three dimensions, the
    /// first lengths are 1.
    pub(crate) lengths: [usize; MOST],
    pub(crate) batch: usize,
    pub(crate) input: Side,
    pub(crate) output: Side,
}

/// The settings that a planner has gathered.
#[derive(Debug, Clone)]
pub struct Sizes {
    pub(crate) lengths: Result<Vec<usize>>,
    pub(crate) batch: usize,
    pub(crate) input: Option<Layout>,
    pub(crate) output: Option<Layout>,
    /// Whether real numbers and their spectrum share one memory.
    pub(crate) is_in_place: bool,
}

impl Sizes {
    pub(crate) fn new(shape: impl IntoShape) -> Self {
        let lengths = shape.into_shape().map(|shape| shape.dims().to_vec());
        Self { lengths, batch: 1, input: None, output: None, is_in_place: false }
    }
}

impl Problem {
    /// Checks the lengths, and computes the layouts of the input and the output.
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand) for lengths and layouts that no transform can have.
    pub(crate) fn new(call: &'static str, kind: Kind, sizes: &Sizes) -> Result<Self> {
        let given = sizes.lengths.as_ref().map_err(Clone::clone)?;
        let rank = given.len();
        let refuse = |argument, problem| Err(wrong_operand(call, argument, problem));
        if !(1..=MOST).contains(&rank) {
            return refuse(
                "shape",
                format!(
                    "is {given:?}, but a transform has 1 to {MOST} dimensions; others are its `batch`"
                ),
            );
        }
        if given.contains(&0) {
            return refuse(
                "shape",
                format!(
                    "is {given:?}, but a transform of no elements is not defined; no transforms are `.batch(0)`"
                ),
            );
        }
        let mut lengths = [1; MOST];
        lengths[MOST - rank..].copy_from_slice(given);
        let [n0, n1, n2] = lengths;
        let half = [n0, n1, n2 / 2 + 1];
        let (from, to) = match kind {
            Kind::Complex => (lengths, lengths),
            Kind::FromReal => (lengths, half),
            Kind::ToReal => (half, lengths),
        };
        // For a transform in place, rows of real numbers are as long as the memory of their spectrum.
        let padded = [n0, n1, half[2].saturating_mul(2)];
        if sizes.is_in_place && (sizes.input.is_some() || sizes.output.is_some()) {
            let problem =
                "is not used in place, where the layout follows from the shape; leave it out";
            return refuse("layout", problem.to_owned());
        }
        let side = |argument, lengths, layout: Option<Layout>, is_written| {
            let batch = sizes.batch;
            Side::new(&Wanted { argument, call, rank, lengths, batch, is_written }, layout)
        };
        // cuFFT overwrites the input of a transform to real numbers, so its elements must not overlap.
        let mut input = side("input", from, sizes.input, kind == Kind::ToReal)?;
        let mut output = side("output", to, sizes.output, true)?;
        if sizes.is_in_place {
            let real = match kind {
                Kind::Complex => None,
                Kind::FromReal => Some(&mut input),
                Kind::ToReal => Some(&mut output),
            };
            if let Some(side) = real {
                let distance = product(padded).unwrap_or(usize::MAX);
                *side = Side { embed: padded, distance, ..*side };
            }
        }
        Ok(Self { call, kind, rank, lengths, batch: sizes.batch, input, output })
    }

    /// The number of elements of a transform, as a divisor.
    pub(crate) fn count(&self) -> f64 {
        self.lengths.iter().map(|&length| length as f64).product()
    }
}
