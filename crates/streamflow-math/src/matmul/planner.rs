//! The type `Planner`: the product of matrices that a plan is made for.

use std::fmt;
use std::marker::PhantomData;

use super::plan::{CALL, Matmul, Settings};
use super::search::Search;
use super::timed;
use crate::Plan;
use crate::error::{Result, wrong_operand};
use crate::ffi::cublaslt::algorithm::Algorithm;
use crate::ffi::cublaslt::element::{EpilogueElement, MatmulElement, Tf32Element};
use crate::ffi::cublaslt::epilogue::{Activation, Bias, NoBias};
use crate::ffi::cublaslt::problem::{ALIGNMENT, Problem, Stored};
use streamflow::{ExecutionContext, Stream};

/// The limit for the bytes of work area that an algorithm may need, unless the planner sets another limit: 32 MiB.
const WORKSPACE: u64 = 32 << 20;

/// A product that a plan is made for. [`Matmul::plan`](super::Matmul::plan) returns a planner, and [`on`](Self::on) makes the
/// [`Plan`].
#[must_use = "`on` makes the plan"]
pub struct Planner<T: MatmulElement, E = NoBias> {
    sizes: [usize; 3],
    batch: Option<usize>,
    /// Whether `a` and `b` are stored transposed. The next field says whether all products of the batch share `a` and `b`.
    transposed: [bool; 2],
    shared: [bool; 2],
    leading: Option<[usize; 3]>,
    apart: Option<[usize; 3]>,
    activation: Activation,
    is_tf32: bool,
    alignment: u64,
    settings: Settings<T::Scale>,
    bias: PhantomData<fn() -> E>,
}

impl<T: MatmulElement> Matmul<T> {
    /// Begins a plan for the product of an `[m, k]` matrix and a `[k, n]` matrix.
    pub fn plan(m: usize, n: usize, k: usize) -> Planner<T> {
        Planner::new(m, n, k)
    }
}

impl<T: MatmulElement> Planner<T> {
    fn new(m: usize, n: usize, k: usize) -> Self {
        Self {
            sizes: [m, n, k],
            batch: None,
            transposed: [false; 2],
            shared: [false; 2],
            leading: None,
            apart: None,
            activation: Activation::None,
            is_tf32: false,
            alignment: ALIGNMENT,
            settings: Settings {
                alpha: T::ONE,
                beta: T::ZERO,
                workspace: WORKSPACE,
                algorithm: None,
            },
            bias: PhantomData,
        }
    }
}

impl<T: EpilogueElement> Planner<T> {
    /// Adds a bias to each row of the product, before the activation. Each call gets the bias. It has `n` elements, the same for
    /// all rows and all products of a batch.
    pub fn bias(self) -> Planner<T, Bias> {
        let Self { sizes, batch, transposed, shared, leading, apart, .. } = self;
        let Self { activation, is_tf32, alignment, settings, .. } = self;
        Planner {
            sizes,
            batch,
            transposed,
            shared,
            leading,
            apart,
            activation,
            is_tf32,
            alignment,
            settings,
            bias: PhantomData,
        }
    }
}

impl<T: EpilogueElement, E> Planner<T, E> {
    /// Replaces each negative result by 0: `max(x, 0)`.
    pub fn relu(self) -> Self {
        Self { activation: Activation::Relu, ..self }
    }

    /// Applies GELU to each result, by cuBLASLt's approximation: `0.5 x (1 + tanh(sqrt(2/π) (x + 0.044715 x³)))`.
    pub fn gelu(self) -> Self {
        Self { activation: Activation::Gelu, ..self }
    }
}

impl<T: MatmulElement, E> Planner<T, E> {
    /// Declares that `a` is stored transposed, as `[k, m]`.
    pub fn transpose_a(self) -> Self {
        Self { transposed: [true, self.transposed[1]], ..self }
    }

    /// Declares that `b` is stored transposed, as `[n, k]`. The weights of a layer often are.
    pub fn transpose_b(self) -> Self {
        Self { transposed: [self.transposed[0], true], ..self }
    }

    /// Plans `count` products at a time. `a`, `b` and `c` then have one more dimension, the outermost.
    pub fn batch(self, count: usize) -> Self {
        Self { batch: Some(count), ..self }
    }

    /// Uses the same `a` for all products of the batch. `a` then has no dimension for the batch.
    pub fn share_a(self) -> Self {
        Self { shared: [true, self.shared[1]], ..self }
    }

    /// Uses the same `b` for all products of the batch. `b` then has no dimension for the batch.
    pub fn share_b(self) -> Self {
        Self { shared: [self.shared[0], true], ..self }
    }

    /// Sets the distances between the stored rows of `a`, `b` and `c`, in elements. Without this method, rows are contiguous.
    /// With it, the operands are views with these strides, or [pitched](streamflow::memory::PitchedTensor) tensors.
    pub fn leading_dimensions(self, abc: [usize; 3]) -> Self {
        Self { leading: Some(abc), ..self }
    }

    /// Sets the distances between the matrices of a batch, in elements, for `a`, `b` and `c`. Without this method, matrices are
    /// contiguous.
    pub fn batch_strides(self, abc: [usize; 3]) -> Self {
        Self { apart: Some(abc), ..self }
    }

    /// Sets the factor of the product. Without this method, it is 1.
    pub fn alpha(self, alpha: T::Scale) -> Self {
        Self { settings: Settings { alpha, ..self.settings }, ..self }
    }

    /// Sets the factor of the earlier content of `c`. Without this method, it is 0, and `c` is not read.
    pub fn beta(self, beta: T::Scale) -> Self {
        Self { settings: Settings { beta, ..self.settings }, ..self }
    }

    /// Sets the alignment of each matrix in bytes, a power of two. Without this method, it is 256, the alignment of a whole
    /// tensor; a view may begin at other addresses. Algorithms that need a larger alignment are not used.
    pub fn alignment(self, bytes: u64) -> Self {
        Self { alignment: bytes, ..self }
    }

    /// Declares that operands may begin at any element: the [alignment](Self::alignment) is the size of an element.
    pub fn unaligned(self) -> Self {
        self.alignment(size_of::<T>() as u64)
    }

    /// Sets the largest number of bytes of work area that the algorithm may need. Without this method, it is 32 MiB. The choice
    /// of an algorithm depends on this limit, and not on the free memory.
    pub fn workspace_limit(self, bytes: u64) -> Self {
        Self { settings: Settings { workspace: bytes, ..self.settings }, ..self }
    }

    /// Uses the algorithm `stored`, which a plan for the same product had, or which a [search](Self::search_blocking) has found.
    /// The simulator has only one algorithm, and returns `stored` from [`algorithm`](super::Plan::algorithm) without using it.
    pub fn algorithm(self, stored: Algorithm) -> Self {
        Self { settings: Settings { algorithm: Some(stored), ..self.settings }, ..self }
    }

    /// Makes the value of the plan.
    pub(super) fn make(
        &self,
        has_bias: bool,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Matmul<T, E>> {
        Matmul::new(self.problem(has_bias)?, self.settings, cx, stream)
    }

    fn problem(&self, has_bias: bool) -> Result<Problem> {
        let [m, n, k] = self.sizes;
        let [transposed_a, transposed_b] = self.transposed;
        let flip = |is, rows, cols| if is { (cols, rows) } else { (rows, cols) };
        let stored = |index: usize, name, is_transposed, (rows, cols): (usize, usize)| {
            let leading = self.leading.map_or(cols.max(1), |all| all[index]);
            let is_shared = self.shared.get(index).is_some_and(|is| *is);
            let dense = rows.saturating_mul(leading);
            let apart = self.apart.map_or(dense, |all| all[index]);
            let apart = (self.batch.is_some() && !is_shared).then_some(apart);
            Stored { name, rows, cols, leading, apart, is_transposed }
        };
        let problem = Problem {
            m,
            n,
            k,
            batch: self.batch,
            a: stored(0, "a", transposed_a, flip(transposed_a, m, k)),
            b: stored(1, "b", transposed_b, flip(transposed_b, k, n)),
            c: stored(2, "c", false, (m, n)),
            has_bias,
            activation: self.activation,
            is_tf32: self.is_tf32,
            alignment: self.alignment,
        };
        problem.check(CALL)?;
        if self.batch.is_none() && (self.shared != [false; 2] || self.apart.is_some()) {
            let problem =
                "is missing: `share_a`, `share_b` and `batch_strides` are for batches".to_owned();
            return Err(wrong_operand(CALL, "batch", problem));
        }
        Ok(problem)
    }
}

impl<T: Tf32Element, E> Planner<T, E> {
    /// Multiplies in TF32, on tensor cores: each factor has 10 bits of its fraction, and the sums are `f32`. TF32 is several
    /// times faster, with errors of about 1e-3. Without this method, `f32` is multiplied as `f32`.
    pub fn tf32(self) -> Self {
        Self { is_tf32: true, ..self }
    }
}

macro_rules! on {
    ($bound:ident, $bias:ty, $has_bias:literal) => {
        impl<T: $bound> Planner<T, $bias> {
            /// Makes the plan on a stream of the operator, with its work area. Call this in
            /// [`start`](streamflow::Compute::start). The plan uses the algorithm that was [set](Self::algorithm), or else the
            /// one that cuBLASLt proposes first.
            ///
            /// # Errors
            /// [`Error::Operand`](crate::Error::Operand) for sizes, leading dimensions or strides that cuBLASLt can't take; an
            /// error if the library is not there; the library's own error, for example if it has no algorithm for the product;
            /// the driver's error, when memory is exhausted.
            pub fn on(
                self,
                cx: &ExecutionContext,
                stream: &Stream<'_>,
            ) -> Result<Plan<Matmul<T, $bias>>> {
                Ok(Plan::new(stream, self.make($has_bias, cx, stream)?))
            }

            /// Times the product with at most `most` algorithms that cuBLASLt proposes, since the one that it proposes first is
            /// not always the fastest. The result is for [`algorithm`](Self::algorithm). Blocks until all algorithms are
            /// measured, and allocates operands for that time. Call this in [`start`](streamflow::Compute::start), or in a
            /// program that stores the result. A stored algorithm is not timed.
            ///
            /// The simulator has one algorithm, and its times are simulated.
            ///
            /// ```
            /// # use streamflow_math::matmul::Matmul;
            /// # use streamflow::prelude::*;
            /// # fn example(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
            /// let product = Matmul::<f32>::plan(512, 512, 64);
            /// let found = product.search_blocking(cx, stream, 16)?;
            /// println!("{found}");
            /// let plan = product.algorithm(found.fastest()).on(cx, stream)?;
            /// # let _ = plan;
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            /// The errors of [`on`](Self::on); [`Error::Operand`](crate::Error::Operand) for a `most` of 0 or above
            /// 10,000; an error if none of the algorithms runs.
            pub fn search_blocking(
                self,
                cx: &ExecutionContext,
                stream: &Stream<'_>,
                most: usize,
            ) -> Result<Search> {
                let problem = self.problem($has_bias)?;
                timed::search::<T, $bias>(problem, self.settings, cx, stream, most)
            }
        }
    };
}

on!(MatmulElement, NoBias, false);
on!(EpilogueElement, Bias, true);

// `Clone` is implemented by hand, since a derive would require that `E` is `Clone`.
impl<T: MatmulElement, E> Clone for Planner<T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: MatmulElement, E> Copy for Planner<T, E> {}

impl<T: MatmulElement, E> fmt::Debug for Planner<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planner")
            .field("sizes", &self.sizes)
            .field("batch", &self.batch)
            .field("transposed", &self.transposed)
            .field("activation", &self.activation)
            .field("is_tf32", &self.is_tf32)
            .finish_non_exhaustive()
    }
}
