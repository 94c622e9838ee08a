//! Direct solutions of sparse systems, checked against SciPy's solutions and by their residuals.

use serde::Deserialize;
use streamflow::prelude::*;
use streamflow_math::solve::DirectSolver;
use streamflow_math::sparse::Csr;
use streamflow_tests::{Failed, Suite, check, check_close, check_error, check_text, cudss};

use super::in_tick::{in_tick, is_operand, is_unsolvable};
use super::matrices::upload;

pub(crate) fn add(suite: Suite) -> Suite {
    cudss::needed(suite, tests)
}

fn tests(suite: Suite) -> Suite {
    suite
        .both("direct_solutions_are_those_of_scipy", against_scipy)
        .both("a_direct_solver_takes_other_values_and_several_sides", other_values)
        .both("a_direct_solver_finds_other_pivots_for_other_values", other_pivots)
        .both("a_singular_sparse_matrix_is_an_error_on_the_host", singular)
        .both("a_direct_solver_refuses_what_does_not_fit", refused)
}

/// A system, and the solution that SciPy has found, as `direct.py` writes them.
#[derive(Deserialize)]
struct System {
    name: String,
    offsets: Vec<i32>,
    columns: Vec<i32>,
    values: Vec<f64>,
    b: Vec<f64>,
    x: Vec<f64>,
}

fn against_scipy(platform: &Platform) -> Result<(), Failed> {
    let systems: Vec<System> = serde_json::from_str(include_str!("direct.json"))?;
    check(systems.len() == 3, || format!("{} systems", systems.len()))?;
    in_tick(platform, move |cx, stream, _| {
        for System { name, offsets, columns, values, b, x: wanted } in &systems {
            let n = b.len();
            let a = Csr::upload(cx, [n, n], offsets, columns, values)?;
            let mut plan = DirectSolver::plan(&a).on_blocking(cx, stream)?;
            let (b, mut x) = (cx.upload(b)?, cx.tensor([n], stream)?);
            plan.solve(stream, &a, &b, &mut x)?;
            let found = stream.download_blocking(&x)?;
            check_close(&found, wanted, |_| 1e-10)
                .map_err(|failed| Failure::msg(format!("{name}: {failed}")))?;
        }
        Ok(())
    })
}

fn other_values(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        // The first row has no element on the diagonal.
        let (offsets, columns) = ([0, 1, 3, 4], [1, 0, 1, 2]);
        let mut a = Csr::upload(cx, [3, 3], &offsets, &columns, &[2.0_f32, 4.0, 1.0, 8.0])?;
        let mut plan = DirectSolver::plan(&a).right_hand_sides(2).on_blocking(cx, stream)?;
        let b = upload(cx, &[2.0, 5.0, 8.0, 4.0, 10.0, 4.0], &[2, 3])?;
        let mut x = cx.tensor([2, 3], stream)?;
        plan.solve(stream, &a, &b, &mut x)?;
        let first = stream.download_blocking(&x)?;
        check_close(&first, &[1.0, 1.0, 1.0, 2.0, 2.0, 0.5], |_| 1e-5)?;
        stream.upload_blocking(&[1.0, 4.0, 1.0, 8.0], a.values_mut())?;
        plan.refactor_blocking(stream, &a)?;
        plan.solve(stream, &a, &b, &mut x)?;
        let second = stream.download_blocking(&x)?;
        check_close(&second, &[0.75, 2.0, 1.0, 1.5, 4.0, 0.5], |_| 1e-5)?;
        Ok(())
    })
}

/// Checks new values for which the order of pivots of the first values meets a pivot of zero.
fn other_pivots(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let mut a = Csr::upload(cx, [2, 2], &[0, 2, 4], &[0, 1, 0, 1], &[2.0_f64, 1.0, 1.0, 3.0])?;
        let mut plan = DirectSolver::plan(&a).on_blocking(cx, stream)?;
        stream.upload_blocking(&[0.0, 1.0, 1.0, 0.0], a.values_mut())?;
        plan.refactor_blocking(stream, &a)?;
        let (b, mut x) = (cx.upload(&[5.0_f64, 7.0])?, cx.tensor([2], stream)?);
        plan.solve(stream, &a, &b, &mut x)?;
        check_close(&stream.download_blocking(&x)?, &[7.0, 5.0], |_| 1e-12)?;
        Ok(())
    })
}

fn singular(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let nothing = Csr::<f64>::upload(cx, [2, 2], &[0, 0, 0], &[], &[])?;
        let made = DirectSolver::plan(&nothing).on_blocking(cx, stream);
        check_error("a matrix without elements", made, is_unsolvable)?;
        let values = [1.0_f64, 2.0, 2.0, 4.0];
        let mut a = Csr::upload(cx, [2, 2], &[0, 2, 4], &[0, 1, 0, 1], &values)?;
        let made = DirectSolver::plan(&a).on_blocking(cx, stream);
        let text = check_error("a singular matrix", made, is_unsolvable)?;
        check_text(&text, &["`solve::DirectSolver`: the matrix is singular"])?;
        // After its matrix has become singular, a plan solves only once it has new factors.
        stream.upload_blocking(&[1.0, 2.0, 2.0, 5.0], a.values_mut())?;
        let mut plan = DirectSolver::plan(&a).on_blocking(cx, stream)?;
        let (b, mut x) = (cx.upload(&[3.0_f64, 7.0])?, cx.tensor([2], stream)?);
        stream.upload_blocking(&values, a.values_mut())?;
        check_error("no factors", plan.refactor_blocking(stream, &a), is_unsolvable)?;
        let text = check_error("no factors", plan.solve(stream, &a, &b, &mut x), is_unsolvable)?;
        check_text(&text, &["the plan has no factored matrix"])?;
        stream.upload_blocking(&[1.0, 2.0, 2.0, 5.0], a.values_mut())?;
        plan.refactor_blocking(stream, &a)?;
        plan.solve(stream, &a, &b, &mut x)?;
        check_close(&stream.download_blocking(&x)?, &[1.0, 1.0], |_| 1e-12)?;
        Ok(())
    })
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, other| {
        let wide = Csr::upload(cx, [1, 2], &[0, 1], &[0], &[1.0_f32])?;
        let made = DirectSolver::plan(&wide).on_blocking(cx, stream);
        check_text(&check_error("wide", made, is_operand)?, &["1 rows and 2 columns"])?;
        let one = || Csr::upload(cx, [1, 1], &[0, 1], &[0], &[2.0_f32]);
        let (a, another) = (one()?, one()?);
        let mut plan = DirectSolver::plan(&a).on_blocking(cx, stream)?;
        let (b, mut x) = (cx.upload(&[1.0_f32])?, cx.tensor([1], stream)?);
        let found = plan.solve(stream, &another, &b, &mut x);
        check_text(&check_error("another", found, is_operand)?, &["a plan for each matrix"])?;
        let two = cx.upload(&[1.0_f32; 2])?;
        let found = plan.solve(stream, &a, &two, &mut x);
        check_text(&check_error("two", found, is_operand)?, &["`b` has shape [2]"])?;
        let is_other = |error: &Error| matches!(error, Error::OtherStream { .. });
        check_error("another stream", plan.solve(other, &a, &b, &mut x), is_other)?;
        plan.solve(stream, &a, &b, &mut x)?;
        check_close(&stream.download_blocking(&x)?, &[0.5], |_| 1e-6)?;
        Ok(())
    })
}
