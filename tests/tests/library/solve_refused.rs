//! Errors of solvers that are found before any call of the library.

use streamflow::prelude::*;
use streamflow_math::solve::{self, Checked, Cholesky, Eigen, Lu, Qr, Svd};
use streamflow_tests::{Failed, Suite, check_error, check_text};

use super::in_tick::{in_tick, text};
use super::matrices::upload;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("operands_that_do_not_fit_their_plan_are_refused", layouts)
        .both("plans_that_no_library_can_make_are_refused", impossible_plans)
        .both("a_plan_on_another_stream_is_refused", other_stream)
}

fn layouts(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let tensor = |shape: &[usize]| cx.tensor::<f32>(shape, stream);
        let checked = |shape: &[usize]| Checked::new(tensor(shape)?, cx, stream);
        let mut plan = Lu::plan(3).on(cx, stream)?;
        let (a, b) = (tensor(&[3, 3])?, tensor(&[3])?);
        let mut x = checked(&[3])?;
        let found = text(plan.solve(stream, &tensor(&[3, 4])?, &b, &mut x))?;
        check_text(
            &found,
            &["`solve::Lu`: `a` has shape [3, 4], but the plan was made for [3, 3]; make a plan"],
        )?;
        let found = text(plan.solve(stream, &tensor(&[9])?, &b, &mut x))?;
        check_text(&found, &["`a` has shape [9]"])?;
        let found = text(plan.solve(stream, &a, &tensor(&[1, 3])?, &mut x))?;
        check_text(&found, &["`b` has shape [1, 3], but the plan was made for [3]"])?;
        let found = text(plan.solve(stream, &a, &b, &mut checked(&[4])?))?;
        check_text(&found, &["`x` has shape [4], but the plan was made for [3]"])?;
        let mut many = Checked::of_batch(2, tensor(&[3])?, cx, stream)?;
        let found = text(plan.solve(stream, &a, &b, &mut many))?;
        check_text(&found, &["`x` has a status for each of 2 matrices, but the plan has 1"])?;
        check_text(&text(plan.factor(stream, &tensor(&[4, 4])?))?, &["`a` has shape [4, 4]"])?;

        let mut plan = Cholesky::plan(2).batch(3).on(cx, stream)?;
        let found = text(plan.factor_in_place(stream, &mut checked(&[2, 2])?))?;
        check_text(
            &found,
            &["`solve::Cholesky`: `a` has shape [2, 2], but the plan was made for [3, 2, 2]"],
        )?;
        let found = text(plan.factor_in_place(stream, &mut checked(&[3, 2, 2])?))?;
        check_text(
            &found,
            &["`a` has a status for each of 1 matrices, but the plan has 3", "of_batch(3, …)"],
        )?;

        let mut plan = Qr::plan(3, 2).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        let found = text(plan.execute(stream, &tensor(&[2, 3])?, &mut out))?;
        check_text(
            &found,
            &["`solve::Qr`: `a` has shape [2, 3], but the plan was made for [3, 2]"],
        )?;
        let mut other = Qr::plan(3, 1).on(cx, stream)?.result(cx, stream)?;
        let found = text(plan.execute(stream, &tensor(&[3, 2])?, &mut other))?;
        check_text(&found, &["`q` has shape [3, 1]"])?;
        let mut plan = Svd::plan(2, 3).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        let found = text(plan.execute_blocking(stream, &a, &mut out))?;
        check_text(&found, &["`solve::Svd`: `a` has shape [3, 3]"])?;
        let mut plan = Eigen::plan(2).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        let found = text(plan.execute_blocking(stream, &a, &mut out))?;
        check_text(&found, &["`solve::Eigen`: `a` has shape [3, 3]"])?;

        let found = text(solve::solve(cx, stream, &tensor(&[2, 3])?, &b))?;
        check_text(
            &found,
            &[
                "`solve::solve`: `a` has shape [2, 3], but a square matrix `[n, n]` or a batch of them",
            ],
        )?;
        let found = text(solve::qr(cx, stream, &b))?;
        check_text(&found, &["`solve::qr`: `a` has shape [3], but a matrix `[m, n]` is needed"])?;
        let found = text(solve::solve_host_blocking(cx, 2, &[1.0_f32; 3], &[1.0; 2]))?;
        check_text(&found, &["`a` has 3 elements, which are not those of the shape [2, 2]"])?;
        let found = text(solve::solve_host_blocking(cx, 2, &[1.0_f32; 4], &[1.0; 3]))?;
        check_text(&found, &["`b` has 3 elements, which are not those of the shape [1, 2]"])?;
        Ok(())
    })
}

fn impossible_plans(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let found = text(Lu::<f32>::plan(1 << 31).on(cx, stream))?;
        check_text(
            &found,
            &[
                "`solve::Lu`: `plan` is [2147483648, 2147483648], but cuSOLVER takes at most 2147483647",
            ],
        )?;
        let found = text(Cholesky::<f32>::plan(2).batch(1 << 31).on(cx, stream))?;
        check_text(&found, &["`plan` is [2147483648, 2, 2]"])?;
        let found = text(Lu::<f32>::plan(2).batch(1 << 31).on(cx, stream))?;
        check_text(&found, &["`solve::Lu`: `plan` is [2147483648, 2, 2]"])?;
        let found = text(Lu::<f32>::plan(2).batch(2).right_hand_sides(3).on(cx, stream))?;
        check_text(&found, &["`solve::Lu`: `plan` has a batch of 2 and 3 right-hand sides"])?;
        let found = text(Cholesky::<f32>::plan(2).batch(2).right_hand_sides(3).on(cx, stream))?;
        check_text(
            &found,
            &["has a batch of 2 and 3 right-hand sides, but in a batch each matrix has one"],
        )?;
        let found = text(Qr::<f64>::plan(2, 3).on(cx, stream))?;
        check_text(&found, &["`solve::Qr`: `plan` has 2 rows and 3 columns", "use `Svd`"])?;
        // The plan needs more memory than there is, which is an error of the driver. The next plan can be made.
        text(Lu::<f64>::plan(1 << 24).on(cx, stream))?;
        Lu::<f64>::plan(2).on(cx, stream)?;
        Ok(())
    })
}

fn other_stream(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, other| {
        let is_other = |error: &Error| matches!(error, Error::OtherStream { .. });
        let mut plan = Lu::plan(1).on(cx, stream)?;
        let (a, b) = (upload(cx, &[2.0], &[1, 1])?, cx.upload(&[6.0_f32])?);
        let mut x = Checked::new(cx.tensor([1], stream)?, cx, stream)?;
        let found = check_error("solve", plan.solve(other, &a, &b, &mut x), is_other)?;
        check_text(
            &found,
            &["a value that was made for the stream `", "make one for each stream"],
        )?;
        plan.solve(stream, &a, &b, &mut x)?;
        x.download(stream)?.wait_blocking()?;
        check_error("factor", plan.factor(other, &a), is_other)?;
        let mut kept = Lu::plan(1).on(cx, stream)?.factor(stream, &a)?;
        check_error("solve again", kept.solve(other, &b, &mut x), is_other)?;
        let mut qr = Qr::plan(1, 1).on(cx, stream)?;
        let mut out = qr.result(cx, stream)?;
        check_error("QR", qr.execute(other, &a, &mut out), is_other)?;
        Ok(())
    })
}
