//! The functions of solvers. Their results come with statuses.

use streamflow::prelude::*;
use streamflow_math::solve::{Checked, Cholesky, Eigen, Lu, Qr, Svd};

use super::attempts::{Function, N, row, updates, writes};

pub(super) const FUNCTIONS: &[Function] = &[
    row!(writes, "Lu::solve", |cx, s| Lu::<f32>::plan(N).on(cx, s), |plan, t| {
        let (a, b) = (t.zeros(&[t.len(), t.len()])?, t.zeros(&[N])?);
        let mut x = t.checked(t.zeros(&[N])?)?;
        t.calls(|s| plan.solve(s, &a, &b, &mut x))?;
        Ok(x)
    }),
    row!(
        writes,
        "Lu::solve of a batch",
        |cx, s| Lu::<f32>::plan(N).batch(2).on(cx, s),
        |plan, t| {
            let (a, b) = (t.zeros(&[2, N, N])?, t.zeros(&[2, t.len()])?);
            let mut x = Checked::of_batch(2, t.zeros(&[2, N])?, t.cx, t.stream)?;
            t.calls(|s| plan.solve(s, &a, &b, &mut x))?;
            Ok(x)
        }
    ),
    row!(writes, "Cholesky::solve", |cx, s| Cholesky::<f32>::plan(N).on(cx, s), |plan, t| {
        let (a, b) = (t.zeros(&[N, N])?, t.zeros(&[t.len()])?);
        let mut x = t.checked(t.zeros(&[N])?)?;
        t.calls(|s| plan.solve(s, &a, &b, &mut x))?;
        Ok(x)
    }),
    row!(
        writes,
        "Cholesky::solve of a batch",
        |cx, s| Cholesky::<f32>::plan(N).batch(2).on(cx, s),
        |plan, t| {
            let (a, b) = (t.zeros(&[2, N, N])?, t.zeros(&[2, t.len()])?);
            let mut x = Checked::of_batch(2, t.zeros(&[2, N])?, t.cx, t.stream)?;
            t.calls(|s| plan.solve(s, &a, &b, &mut x))?;
            Ok(x)
        }
    ),
    writes("Factored::solve", |it, platform| {
        let plan = |cx: &ExecutionContext, s: &Stream<'_>| {
            let mut a = cx.tensor([N, N], s)?;
            s.fill_bytes(&mut a, 0)?;
            Ok(Lu::<f32>::plan(N).on(cx, s)?.factor(s, &a)?)
        };
        it.sends(platform, plan, |plan, t| {
            let b = t.zeros(&[t.len()])?;
            let mut x = t.checked(t.zeros(&[N])?)?;
            t.calls(|s| plan.solve(s, &b, &mut x))?;
            Ok(x)
        })
    }),
    row!(
        updates,
        "Cholesky::factor_in_place",
        |cx, s| Cholesky::<f32>::plan(N).on(cx, s),
        |plan, t| {
            let mut a = t.checked(t.zeros(&[t.len(), t.len()])?)?;
            t.calls(|s| plan.factor_in_place(s, &mut a))?;
            Ok(a)
        }
    ),
    row!(
        updates,
        "Cholesky::factor_in_place of a batch",
        |cx, s| Cholesky::<f32>::plan(N).batch(2).on(cx, s),
        |plan, t| {
            let mut a = Checked::of_batch(2, t.zeros(&[2, N, t.len()])?, t.cx, t.stream)?;
            t.calls(|s| plan.factor_in_place(s, &mut a))?;
            Ok(a)
        }
    ),
    row!(writes, "Qr::execute", |cx, s| Qr::<f32>::plan(N, 2).on(cx, s), |plan, t| {
        let (a, mut out) = (t.zeros(&[t.len(), 2])?, plan.result(t.cx, t.stream)?);
        t.calls(|s| plan.execute(s, &a, &mut out))?;
        Ok(out)
    }),
    row!(writes, "Svd::execute_blocking", |cx, s| Svd::<f32>::plan(2, N).on(cx, s), |plan, t| {
        let (a, mut out) = (t.zeros(&[2, t.len()])?, plan.result(t.cx, t.stream)?);
        t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
        Ok(out)
    }),
    row!(
        writes,
        "Svd::execute_blocking, turned",
        |cx, s| Svd::<f32>::plan(N, 2).on(cx, s),
        |plan, t| {
            let (a, mut out) = (t.zeros(&[t.len(), 2])?, plan.result(t.cx, t.stream)?);
            t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
            Ok(out)
        }
    ),
    row!(
        writes,
        "Svd::execute_blocking of a batch",
        |cx, s| Svd::<f32>::plan(2, N).batch(2).on(cx, s),
        |plan, t| {
            let (a, mut out) = (t.zeros(&[2, 2, t.len()])?, plan.result(t.cx, t.stream)?);
            t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
            Ok(out)
        }
    ),
    row!(writes, "Eigen::execute_blocking", |cx, s| Eigen::<f32>::plan(N).on(cx, s), |plan, t| {
        let (a, mut out) = (t.zeros(&[t.len(), t.len()])?, plan.result(t.cx, t.stream)?);
        t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
        Ok(out)
    }),
    row!(
        writes,
        "Eigen::execute_blocking of a batch",
        |cx, s| Eigen::<f32>::plan(N).batch(2).on(cx, s),
        |plan, t| {
            let (a, mut out) = (t.zeros(&[2, N, t.len()])?, plan.result(t.cx, t.stream)?);
            t.calls(|s| plan.execute_blocking(s, &a, &mut out))?;
            Ok(out)
        }
    ),
];
