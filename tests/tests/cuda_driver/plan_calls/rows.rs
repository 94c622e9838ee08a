//! The plans of the libraries, each with the CUDA calls that one call of the plan makes.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::fft::{Fft, InverseRealFft, Norm, RealFft};
use streamflow_math::matmul::{Blas, Matmul};
use streamflow_math::solve::{Checked, Cholesky, DirectSolver, Eigen, Lu, Qr, Svd};
use streamflow_math::sparse::{Csr, SpMm, SpMv};

/// A call of a plan, together with the operands that it owns.
pub(super) type Call = Box<dyn FnMut(&Stream<'_>) -> Result<(), Error>>;
pub(super) type Make = fn(&ExecutionContext, &Stream<'_>) -> Result<Call, Error>;

/// A plan, and the CUDA calls that one call of it makes.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) calls: &'static [&'static str],
    pub(super) make: Make,
}

const fn row(name: &'static str, calls: &'static [&'static str], make: Make) -> Row {
    Row { name, calls, make }
}

/// The number of rows and columns of each matrix, and of elements of each vector.
const N: usize = 4;

pub(super) const ROWS: &[Row] = &[
    row("FFT", &["cufftExecC2C"], |cx, s| {
        let mut plan = Fft::<f32>::plan([N]).on(cx, s)?;
        let (x, mut y) = (complex(cx, s)?, complex(cx, s)?);
        Ok(Box::new(move |s| plan.forward(s, &x, &mut y)))
    }),
    row("batched FFT in place, divided", &["cufftExecC2C", "launch scale"], |cx, s| {
        let mut plan = Fft::<f32>::plan([2]).batch(N / 2).norm(Norm::ByLength).on(cx, s)?;
        let mut x = complex(cx, s)?;
        Ok(Box::new(move |s| plan.inverse_in_place(s, &mut x)))
    }),
    row("FFT of real numbers", &["cufftExecR2C"], |cx, s| {
        let mut plan = RealFft::<f32>::plan(N).on(cx, s)?;
        let (x, mut y) = (vector(cx, s)?, cx.tensor([N / 2 + 1], s)?);
        Ok(Box::new(move |s| plan.forward(s, &x, &mut y)))
    }),
    row("FFT to real numbers", &["cufftExecC2R"], |cx, s| {
        let mut plan = InverseRealFft::<f32>::plan(N).on(cx, s)?;
        let (mut x, mut y) = (cx.tensor([N / 2 + 1], s)?, vector(cx, s)?);
        Ok(Box::new(move |s| plan.inverse(s, &mut x, &mut y)))
    }),
    row("matmul", &["cublasLtMatmul"], |cx, s| {
        let mut plan = Matmul::<f32>::plan(N, N, N).on(cx, s)?;
        let (a, b, mut c) = (matrix(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
        Ok(Box::new(move |s| plan.execute(s, &a, &b, &mut c)))
    }),
    row("batched matmul", &["cublasLtMatmul"], |cx, s| {
        let mut plan = Matmul::<f32>::plan(2, 2, 2).batch(4).on(cx, s)?;
        let make = || cx.tensor::<f32>([4, 2, 2], s);
        let (a, b, mut c) = (make()?, make()?, make()?);
        Ok(Box::new(move |s| plan.execute(s, &a, &b, &mut c)))
    }),
    row("matmul of views", &["cublasLtMatmul"], |cx, s| {
        let mut plan = Matmul::<f32>::plan(N, N, N).on(cx, s)?;
        let (a, b, mut c) = (matrix(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
        Ok(Box::new(move |s| plan.execute(s, &a.view(), &b, &mut c)))
    }),
    row("matmul with a bias", &["cublasLtMatmul"], |cx, s| {
        let mut plan = Matmul::<f32>::plan(N, N, N).bias().relu().on(cx, s)?;
        let (a, b, mut c) = (matrix(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
        let bias = vector(cx, s)?;
        Ok(Box::new(move |s| plan.execute(s, &a, &b, &bias, &mut c)))
    }),
    row(
        "matmul with another bias than before",
        &["cublasLtMatmulDescSetAttribute", "cublasLtMatmul"],
        |cx, s| {
            let mut plan = Matmul::<f32>::plan(N, N, N).bias().on(cx, s)?;
            let (a, b, mut c) = (matrix(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
            let (mut bias, mut other) = (vector(cx, s)?, vector(cx, s)?);
            Ok(Box::new(move |s| {
                std::mem::swap(&mut bias, &mut other);
                plan.execute(s, &a, &b, &bias, &mut c)
            }))
        },
    ),
    row("axpy", &["cublasSaxpy_v2"], |cx, s| {
        let mut plan = Blas::<f32>::on(cx, s)?;
        let (x, mut y) = (vector(cx, s)?, vector(cx, s)?);
        Ok(Box::new(move |s| plan.axpy(s, 2.0, &x, &mut y)))
    }),
    row("dot", &["cublasSdot_v2"], |cx, s| {
        let mut plan = Blas::<f32>::on(cx, s)?;
        let (x, y, mut sum) = (vector(cx, s)?, vector(cx, s)?, cx.tensor([1], s)?);
        Ok(Box::new(move |s| plan.dot(s, &x, &y, &mut sum)))
    }),
    row(
        "norm, and axpy after it",
        &["cublasSetPointerMode_v2", "cublasSnrm2_v2", "cublasSetPointerMode_v2", "cublasSaxpy_v2"],
        |cx, s| {
            let mut plan = Blas::<f32>::on(cx, s)?;
            let (x, mut y, mut sum) = (vector(cx, s)?, vector(cx, s)?, cx.tensor([1], s)?);
            Ok(Box::new(move |s| {
                plan.norm(s, &x, &mut sum)?;
                plan.axpy(s, 2.0, &x, &mut y)
            }))
        },
    ),
    row("gemv", &["cublasSgemv_v2"], |cx, s| {
        let mut plan = Blas::<f32>::on(cx, s)?;
        let (a, x, mut y) = (matrix(cx, s)?, vector(cx, s)?, vector(cx, s)?);
        Ok(Box::new(move |s| plan.gemv(s, (1.0, &a, &x), (0.0, &mut y))))
    }),
    row("SpMV", &["cusparseSpMV"], |cx, s| {
        let a = diagonal(cx)?;
        let (mut plan, x, mut y) = (SpMv::plan(&a).on(cx, s)?, vector(cx, s)?, vector(cx, s)?);
        Ok(Box::new(move |s| plan.execute(s, &a, &x, &mut y)))
    }),
    row(
        "SpMV of another vector than before",
        &["cusparseDnVecSetValues", "cusparseSpMV"],
        |cx, s| {
            let a = diagonal(cx)?;
            let (mut plan, mut y) = (SpMv::plan(&a).on(cx, s)?, vector(cx, s)?);
            let (mut x, mut other) = (vector(cx, s)?, vector(cx, s)?);
            Ok(Box::new(move |s| {
                std::mem::swap(&mut x, &mut other);
                plan.execute(s, &a, &x, &mut y)
            }))
        },
    ),
    row("SpMM", &["cusparseSpMM"], |cx, s| {
        let a = diagonal(cx)?;
        let (mut plan, b, mut c) = (SpMm::plan(&a, N).on(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
        Ok(Box::new(move |s| plan.execute(s, &a, &b, &mut c)))
    }),
    row("direct solution", &["cudssExecute"], |cx, s| {
        let a = diagonal(cx)?;
        let mut plan = DirectSolver::plan(&a).on_blocking(cx, s)?;
        let (b, mut x) = (vector(cx, s)?, vector(cx, s)?);
        Ok(Box::new(move |s| plan.solve(s, &a, &b, &mut x)))
    }),
    row("Cholesky in place", &["cusolverDnXpotrf"], |cx, s| {
        let mut plan = Cholesky::<f32>::plan(N).on(cx, s)?;
        let mut a = Checked::new(matrix(cx, s)?, cx, s)?;
        Ok(Box::new(move |s| plan.factor_in_place(s, &mut a)))
    }),
    row(
        "Cholesky",
        &[
            "cuMemsetD8Async",
            "launch take",
            "cusolverDnXpotrf",
            "cuMemcpyDtoDAsync_v2",
            "cusolverDnXpotrs",
        ],
        |cx, s| {
            let mut plan = Cholesky::<f32>::plan(N).on(cx, s)?;
            let (a, b) = (matrix(cx, s)?, vector(cx, s)?);
            let mut x = Checked::new(vector(cx, s)?, cx, s)?;
            Ok(Box::new(move |s| plan.solve(s, &a, &b, &mut x)))
        },
    ),
    row(
        "LU",
        &[
            "cuMemsetD8Async",
            "launch take",
            "cusolverDnXgetrf",
            "cuMemcpyDtoDAsync_v2",
            "cusolverDnXgetrs",
        ],
        |cx, s| {
            let mut plan = Lu::<f32>::plan(N).on(cx, s)?;
            let (a, b) = (matrix(cx, s)?, vector(cx, s)?);
            let mut x = Checked::new(vector(cx, s)?, cx, s)?;
            Ok(Box::new(move |s| plan.solve(s, &a, &b, &mut x)))
        },
    ),
    row(
        "batched LU",
        &[
            "cuMemsetD8Async",
            "launch take",
            "cublasSgetrfBatched",
            "cuMemcpyDtoDAsync_v2",
            "cublasSgetrsBatched",
            "cuMemcpyDtoDAsync_v2",
        ],
        |cx, s| {
            let mut plan = Lu::<f32>::plan(2).batch(3).on(cx, s)?;
            let (a, b) = (cx.tensor::<f32>([3, 2, 2], s)?, cx.tensor::<f32>([3, 2], s)?);
            let mut x = Checked::of_batch(3, cx.tensor::<f32>([3, 2], s)?, cx, s)?;
            Ok(Box::new(move |s| plan.solve(s, &a, &b, &mut x)))
        },
    ),
    row(
        "QR",
        &[
            "launch transpose",
            "cusolverDnXgeqrf",
            "launch upper",
            "cusolverDnSorgqr",
            "launch transpose",
        ],
        |cx, s| {
            let mut plan = Qr::<f32>::plan(N, N).on(cx, s)?;
            let (a, mut out) = (matrix(cx, s)?, plan.result(cx, s)?);
            Ok(Box::new(move |s| plan.execute(s, &a, &mut out)))
        },
    ),
    row("SVD", &["cuMemcpyDtoDAsync_v2", "cusolverDnXgesvd"], |cx, s| {
        let mut plan = Svd::<f32>::plan(N, N).on(cx, s)?;
        let (a, mut out) = (matrix(cx, s)?, plan.result(cx, s)?);
        Ok(Box::new(move |s| plan.execute_blocking(s, &a, &mut out)))
    }),
    row("eigenvalues", &["cuMemcpyDtoDAsync_v2", "cusolverDnXsyevd"], |cx, s| {
        let mut plan = Eigen::<f32>::plan(N).on(cx, s)?;
        let (a, mut out) = (matrix(cx, s)?, plan.result(cx, s)?);
        Ok(Box::new(move |s| plan.execute_blocking(s, &a, &mut out)))
    }),
];

fn vector(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Tensor<f32>, Error> {
    cx.tensor([N], stream)
}

fn matrix(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Tensor<f32>, Error> {
    cx.tensor([N, N], stream)
}

fn complex(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Tensor<Complex<f32>>, Error> {
    cx.tensor([N], stream)
}

fn diagonal(cx: &ExecutionContext) -> Result<Csr<f32>, Error> {
    Csr::upload(cx, [N, N], &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &[2.0; N])
}
