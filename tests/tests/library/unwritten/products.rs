//! The functions of cuBLAS, cuSPARSE and related libraries that write products of matrices and vectors.

use streamflow::prelude::*;
use streamflow_math::matmul::{Blas, Matmul, Triangle};
use streamflow_math::solve::DirectSolver;
use streamflow_math::sparse::{Csr, SpMm, SpMv};

use super::attempts::{Function, N, row, updates, writes};

fn sparse(cx: &ExecutionContext) -> Result<Csr<f32>> {
    Ok(Csr::upload(cx, [N, N], &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &[2.0; N])?)
}

pub(super) const FUNCTIONS: &[Function] = &[
    row!(writes, "Matmul::execute", |cx, s| Matmul::<f32>::plan(2, 3, N).on(cx, s), |plan, t| {
        let (a, b) = (t.zeros(&[2, t.len()])?, t.zeros(&[N, 3])?);
        let mut c = t.zeros(&[2, 3])?;
        t.calls(|s| plan.execute(s, &a, &b, &mut c))?;
        Ok(c)
    }),
    row!(
        writes,
        "Matmul::execute of views",
        |cx, s| Matmul::<f32>::plan(2, 3, N).on(cx, s),
        |plan, t| {
            let (a, b) = (t.zeros(&[2, t.len()])?, t.zeros(&[N, 3])?);
            let mut c = t.zeros(&[2, 3])?;
            t.calls(|s| plan.execute(s, &a.view(), &b, &mut c.view_mut()))?;
            Ok(c)
        }
    ),
    row!(
        updates,
        "Matmul::execute with beta",
        |cx, s| Matmul::<f32>::plan(2, 3, N).beta(1.0).on(cx, s),
        |plan, t| {
            let (a, b) = (t.zeros(&[2, t.len()])?, t.zeros(&[N, 3])?);
            let mut c = t.zeros(&[2, 3])?;
            t.calls(|s| plan.execute(s, &a, &b, &mut c))?;
            Ok(c)
        }
    ),
    updates("Matmul::execute of a part", |it, platform| {
        let plan = |cx: &_, s: &Stream<'_>| {
            Ok(Matmul::<f32>::plan(2, 3, N).leading_dimensions([N, 3, 5]).on(cx, s)?)
        };
        it.sends(platform, plan, |plan, t| {
            let (a, b) = (t.zeros(&[2, t.len()])?, t.zeros(&[N, 3])?);
            let mut c = t.zeros(&[2, 5])?;
            t.calls(|s| match c.view_mut().slice(1, 0..3) {
                Some(mut part) => plan.execute(s, &a, &b, &mut part),
                None => Ok(()),
            })?;
            Ok(c)
        })
    }),
    row!(
        writes,
        "Matmul::execute with a bias",
        |cx, s| Matmul::<f32>::plan(2, 4, N).bias().on(cx, s),
        |plan, t| {
            let (a, b, bias) = (t.zeros(&[2, N])?, t.zeros(&[N, 4])?, t.zeros::<f32>(&[t.len()])?);
            let mut c = t.zeros(&[2, 4])?;
            t.calls(|s| plan.execute(s, &a, &b, &bias, &mut c))?;
            Ok(c)
        }
    ),
    row!(updates, "Blas::axpy", |cx, s| Blas::<f32>::on(cx, s), |blas, t| {
        let (x, mut y) = (t.zeros::<f32>(&[t.len()])?, t.zeros(&[N])?);
        t.calls(|s| blas.axpy(s, 2.0, &x, &mut y))?;
        Ok(y)
    }),
    row!(writes, "Blas::dot", |cx, s| Blas::<f32>::on(cx, s), |blas, t| {
        let (x, mut result) = (t.zeros::<f32>(&[t.len()])?, t.zeros(&[1])?);
        let y = t.zeros::<f32>(&[N])?;
        t.calls(|s| blas.dot(s, &x, &y, &mut result))?;
        Ok(result)
    }),
    row!(writes, "Blas::norm", |cx, s| Blas::<f32>::on(cx, s), |blas, t| {
        let x = t.zeros::<f32>(&[N])?;
        let mut result = t.zeros(&[t.len() / N])?;
        t.calls(|s| blas.norm(s, &x, &mut result))?;
        Ok(result)
    }),
    row!(writes, "Blas::gemv", |cx, s| Blas::<f32>::on(cx, s), |blas, t| {
        let (a, x, mut y) = (t.zeros(&[3, N])?, t.zeros::<f32>(&[t.len()])?, t.zeros(&[3])?);
        t.calls(|s| blas.gemv(s, (1.0, &a, &x), (0.0, &mut y)))?;
        Ok(y)
    }),
    row!(updates, "Blas::gemv with beta", |cx, s| Blas::<f32>::on(cx, s), |blas, t| {
        let (a, x, mut y) = (t.zeros(&[3, N])?, t.zeros::<f32>(&[t.len()])?, t.zeros(&[3])?);
        t.calls(|s| blas.gemv(s, (1.0, &a, &x), (1.0, &mut y)))?;
        Ok(y)
    }),
    row!(updates, "Blas::trsm", |cx, s| Blas::<f32>::on(cx, s), |blas, t| {
        let (a, mut b) = (t.zeros(&[t.len(), t.len()])?, t.zeros(&[N, 2])?);
        t.calls(|s| blas.trsm(s, (1.0, &a, Triangle::Lower), &mut b))?;
        Ok(b)
    }),
    row!(updates, "Blas::syrk", |cx, s| Blas::<f32>::on(cx, s), |blas, t| {
        let (a, mut c) = (t.zeros(&[t.len(), 2])?, t.zeros(&[N, N])?);
        t.calls(|s| blas.syrk(s, (1.0, &a), (0.0, &mut c, Triangle::Upper)))?;
        Ok(c)
    }),
    writes("SpMv::execute", |it, platform| {
        let plan = |cx: &_, s: &Stream<'_>| {
            let a = sparse(cx)?;
            Ok((SpMv::plan(&a).on(cx, s)?, a))
        };
        it.sends(platform, plan, |(plan, a), t| {
            let (x, mut y) = (t.zeros(&[t.len()])?, t.zeros(&[N])?);
            t.calls(|s| plan.execute(s, a, &x, &mut y))?;
            Ok(y)
        })
    }),
    updates("SpMv::execute that accumulates", |it, platform| {
        let plan = |cx: &_, s: &Stream<'_>| {
            let a = sparse(cx)?;
            Ok((SpMv::plan(&a).accumulate().on(cx, s)?, a))
        };
        it.sends(platform, plan, |(plan, a), t| {
            let (x, mut y) = (t.zeros(&[t.len()])?, t.zeros(&[N])?);
            t.calls(|s| plan.execute(s, a, &x, &mut y))?;
            Ok(y)
        })
    }),
    writes("SpMm::execute", |it, platform| {
        let plan = |cx: &_, s: &Stream<'_>| {
            let a = sparse(cx)?;
            Ok((SpMm::plan(&a, 2).on(cx, s)?, a))
        };
        it.sends(platform, plan, |(plan, a), t| {
            let (b, mut c) = (t.zeros(&[t.len(), 2])?, t.zeros(&[N, 2])?);
            t.calls(|s| plan.execute(s, a, &b, &mut c))?;
            Ok(c)
        })
    }),
];

/// Functions of cuDSS, a library that is not part of a CUDA toolkit.
pub(super) const DIRECT: &[Function] = &[writes("DirectSolver::solve", |it, platform| {
    let plan = |cx: &_, s: &Stream<'_>| {
        let a = sparse(cx)?;
        Ok((DirectSolver::plan(&a).on_blocking(cx, s)?, a))
    };
    it.sends(platform, plan, |(plan, a), t| {
        let (b, mut x) = (t.zeros(&[t.len()])?, t.zeros(&[N])?);
        t.calls(|s| plan.solve(s, a, &b, &mut x))?;
        Ok(x)
    })
})];
