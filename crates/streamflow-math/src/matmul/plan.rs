//! The plan of a product of matrices.
//!
//! The fields of a plan that a call reads are next to each other, and shapes of matrices are compared without a loop.
//! `library::call` of `streamflow` has the number of instructions that this saves.

use std::marker::PhantomData;

use super::host;
use crate::Plan;
use crate::error::Result;
use crate::ffi::cublaslt::algorithm::{Algorithm, Chosen};
use crate::ffi::cublaslt::element::{EpilogueElement, MatmulElement};
use crate::ffi::cublaslt::epilogue::{Bias, NoBias};
use crate::ffi::cublaslt::problem::Problem;
use crate::ffi::cublaslt::{self, Lt, Product, Rest};
use streamflow::Buffer;
use streamflow::CudaStream;
use streamflow::driver::DriverError;
use streamflow::library::Call;
use streamflow::library::{Claim, HostBody};
use streamflow::memory::{CopySource, CopyTarget, DeviceSlice, Shape, TensorView, TensorViewMut};
use streamflow::{ExecutionContext, Stream};

/// The plan's name in messages.
pub(super) const CALL: &str = "Matmul";

/// The library's name for the operation.
const FUNCTION: &str = "cublasLtMatmul";

/// Products of matrices: `c = activation(alpha a b + beta c + bias)`, by cuBLASLt.
///
/// All matrices are in rows: `a` is `[m, k]`, `b` is `[k, n]` and `c` is `[m, n]`, each with one more dimension, the
/// outermost, in a [`batch`](super::Planner::batch). The [module](super) has an example.
///
/// `f32` is multiplied as `f32`, and as TF32 only after [`tf32`](super::Planner::tf32). `f16` and `bf16` are summed in `f32`.
// The fields that a call of whole tensors reads come first and next to each other, since between two calls, the library and the
// driver have evicted most of the plan from the caches.
#[derive(Debug)]
#[repr(C)]
pub struct Matmul<T: MatmulElement, E = NoBias> {
    /// The shapes of `a`, `b` and `c`, if all three matrices have elements and no gaps.
    dense: Option<[Shape; 3]>,
    pub(super) alpha: T::Scale,
    beta: T::Scale,
    /// The work area. Each call claims it as written, so two calls of the plan are never executed at the same time.
    work: Buffer<u8>,
    /// The library's product. `None` on the simulator, and if there is nothing to compute.
    pub(super) lt: Option<Lt>,
    pub(super) body: HostBody,
    pub(super) problem: Problem,
    algorithm: Algorithm,
    bias: PhantomData<fn() -> E>,
}

/// The settings of a plan that are not part of the product itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings<S> {
    pub(super) alpha: S,
    pub(super) beta: S,
    /// The largest number of bytes of work area that the algorithm may need.
    pub(super) workspace: u64,
    /// A stored algorithm that the plan uses. `None` if cuBLASLt's heuristic chooses one.
    pub(super) algorithm: Option<Algorithm>,
}

impl<T: MatmulElement, E> Matmul<T, E> {
    pub(super) fn new(
        problem: Problem,
        settings: Settings<T::Scale>,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
    ) -> Result<Self> {
        let Settings { alpha, beta, workspace, algorithm: given } = settings;
        let info = stream.device_info()?;
        let lt = if info.is_simulated || problem.is_empty() {
            None
        } else {
            let stored = given.map(stored).transpose()?;
            let ordinal = info.ordinal.unwrap_or_default();
            let make = |_| Ok(Lt::new::<T>(&problem, ordinal, workspace, stored)?);
            let lt = stream.make_object(make)?;
            // The library may have queued work on the default stream, as libraries that use handles as plans do: see `AfterWork`.
            stream.wait_for_default()?;
            Some(lt)
        };
        let kept = given.unwrap_or(Algorithm::SIMULATOR);
        let algorithm = lt.as_ref().map_or(kept, |lt| Algorithm(Some(lt.algorithm())));
        tracing::debug!(?problem, %algorithm, "a product of matrices is planned");
        let bytes = (algorithm.workspace() as usize).max(host::WORK);
        Ok(Self {
            problem,
            alpha,
            beta,
            lt,
            algorithm,
            dense: problem.dense(),
            work: cx.buffer(bytes, stream)?,
            body: host::body::<T>(FUNCTION, problem),
            bias: PhantomData,
        })
    }

    /// Uses the algorithm `chosen` in all further calls. The host body is replaced as well, so that replay takes no later call
    /// for the same work as an earlier one.
    pub(super) fn set_algorithm(&mut self, chosen: Chosen) {
        if let Some(lt) = &mut self.lt {
            lt.set_algorithm(chosen);
        }
        self.body = host::body::<T>(FUNCTION, self.problem);
    }

    /// Queues the product on the plan's stream.
    #[track_caller]
    pub(super) fn multiply(
        &mut self,
        stream: &CudaStream,
        a: &(impl CopySource<T> + ?Sized),
        b: &(impl CopySource<T> + ?Sized),
        bias: Option<&DeviceSlice<T>>,
        c: &mut (impl CopyTarget<T> + ?Sized),
    ) -> Result<()> {
        let problem = &self.problem;
        if let Some(bias) = bias {
            problem.check_bias(CALL, bias)?;
        }
        let (alpha, beta, work) = (self.alpha, self.beta, &mut self.work);
        // Fast path: the operands are whole tensors, so their shapes give the layouts. Making and checking views would make the
        // call more than half as expensive again.
        if let Some([shape_a, shape_b, shape_c]) = &self.dense
            && let (Some(a), Some(b)) = (shape_a.whole(a), shape_b.whole(b))
            && let Some(c) = shape_c.whole_mut(c)
            && problem.is_aligned([a, b, &*c].map(|matrix| Claim::read("", matrix).address()))
        {
            Call::begins(c, beta != T::ZERO)?;
            let rest = Rest { bias, work, alpha, beta };
            let (lt, body) = (self.lt.as_mut(), &self.body);
            cublaslt::multiply_whole(lt, body, stream, [a, b], c, rest)?;
            Call::ended(c);
            return Ok(());
        }
        self.multiply_views(stream, (a.copy_source(), b.copy_source(), c.copy_target()), bias)?;
        Call::ended(&mut c.copy_target());
        Ok(())
    }

    /// Multiplies views: the slow path of [`multiply`](Self::multiply).
    #[inline(never)]
    #[track_caller]
    fn multiply_views(
        &mut self,
        stream: &CudaStream,
        (a, b, mut c): (TensorView<'_, T>, TensorView<'_, T>, TensorViewMut<'_, T>),
        bias: Option<&DeviceSlice<T>>,
    ) -> Result<()> {
        let problem = &self.problem;
        problem.check_operand(CALL, &problem.a, &a)?;
        problem.check_operand(CALL, &problem.b, &b)?;
        problem.check_operand(CALL, &problem.c, &c.as_view())?;
        if problem.is_empty() {
            return Ok(());
        }
        let (alpha, beta, work) = (self.alpha, self.beta, &mut self.work);
        Call::begins(&mut c, beta != T::ZERO)?;
        let rest = Rest { bias, work, alpha, beta };
        cublaslt::multiply(self.lt.as_mut(), &self.body, stream, Product { a, b, c, rest })
    }
}

impl<T: MatmulElement> Plan<Matmul<T>> {
    /// Queues `c = activation(alpha a b + beta c)`. Does not block, and allocates nothing.
    ///
    /// The operands are tensors, pitched tensors or views, with the shapes and the strides of the plan.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for another layout;
    /// [`Error::WrongDevice`](streamflow::Error::WrongDevice); the library's error; the driver's error.
    #[track_caller]
    pub fn execute(
        &mut self,
        stream: &Stream<'_>,
        a: &(impl CopySource<T> + ?Sized),
        b: &(impl CopySource<T> + ?Sized),
        c: &mut (impl CopyTarget<T> + ?Sized),
    ) -> Result<()> {
        let done = match self.lend(stream) {
            Ok(plan) => plan.multiply(stream, a, b, None, c),
            Err(error) => Err(error),
        };
        product_written(done, c)
    }
}

impl<T: EpilogueElement> Plan<Matmul<T, Bias>> {
    /// Queues `c = activation(alpha a b + beta c + bias)`. The bias has `n` elements, and is added to each row. Does not
    /// block, and allocates nothing.
    ///
    /// # Errors
    /// The errors of a call without a bias; [`Error::Operand`](crate::Error::Operand) for a bias of another length.
    #[track_caller]
    pub fn execute(
        &mut self,
        stream: &Stream<'_>,
        a: &(impl CopySource<T> + ?Sized),
        b: &(impl CopySource<T> + ?Sized),
        bias: &DeviceSlice<T>,
        c: &mut (impl CopyTarget<T> + ?Sized),
    ) -> Result<()> {
        let done = match self.lend(stream) {
            Ok(plan) => plan.multiply(stream, a, b, Some(bias), c),
            Err(error) => Err(error),
        };
        product_written(done, c)
    }
}

impl<T: MatmulElement, E> Plan<Matmul<T, E>> {
    /// Returns the plan's algorithm. It can be printed, and stored for [`Planner::algorithm`](super::Planner::algorithm).
    pub fn algorithm(&self) -> Algorithm {
        self.value().algorithm
    }

    /// Fills the work area with `byte`, for tests, since no call may need the content that an earlier call has left there.
    #[doc(hidden)]
    pub fn poison_work_area(&mut self, stream: &Stream<'_>, byte: u8) -> Result<()> {
        stream.fill_bytes(&mut self.lend(stream)?.work, byte)
    }

    /// Sets the factors of all further calls: see [`Planner::alpha`](super::Planner::alpha) and
    /// [`Planner::beta`](super::Planner::beta).
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream).
    pub fn scale(&mut self, stream: &Stream<'_>, alpha: T::Scale, beta: T::Scale) -> Result<()> {
        let plan = self.lend(stream)?;
        (plan.alpha, plan.beta) = (alpha, beta);
        Ok(())
    }
}

/// Passes on the result of a call, and marks `c` as not written if the call has failed. A view of `c` is made only in that case.
#[inline(always)]
fn product_written<T: MatmulElement>(
    done: Result<()>,
    c: &mut (impl CopyTarget<T> + ?Sized),
) -> Result<()> {
    done.map_err(|error| Call::failed(error, &mut c.copy_target()))
}

/// Returns the cuBLASLt algorithm in a stored one. Returns an error for an algorithm that a plan on the simulator has stored.
fn stored(algorithm: Algorithm) -> Result<crate::ffi::cublaslt::algorithm::Chosen> {
    algorithm.0.ok_or_else(|| {
        let what = "a stored algorithm is the simulator's, and cuBLASLt can't use it".to_owned();
        let remedy = "search one on this GPU, without `algorithm`".to_owned();
        DriverError::Unavailable { what, remedy }.into()
    })
}
