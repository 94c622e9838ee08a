//! Arguments of products that are refused by name, before any work is queued.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_math::matmul::{Matmul, Planner, multiply, multiply_host_blocking};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::hook::{once, tensor};
use crate::library::in_tick::is_operand;

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("matmul_refuses_operands_of_other_layouts", layouts)
        .both("matmul_refuses_plans_that_cublaslt_cannot_have", plans)
        .both("a_plan_of_another_stream_is_refused", other_stream)
        .both("a_failed_product_leaves_its_plan_usable", failing)
        .both("a_product_without_matching_shapes_is_refused", no_product)
}

/// Fails unless the call is refused with this text.
fn refused<T: std::fmt::Debug>(done: Result<T, Error>, text: &str) -> Result<(), Failed> {
    check_equal(check_error(text, done, is_operand)?, text.to_owned())
}

fn layouts(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let mut plan = Matmul::<f32>::plan(4, 8, 16).bias().on(cx, work)?;
        let a = tensor(cx, work, &[4, 16], &[1.0; 64])?;
        let b = tensor(cx, work, &[16, 8], &[1.0; 128])?;
        let bias = tensor(cx, work, &[8], &[1.0; 8])?;
        let mut c = tensor(cx, work, &[4, 8], &[5.0; 32])?;
        let flat = cx.tensor([64], work)?;
        let wrong = "but the plan was made for [4, 16] and [16, 1]; make a plan for each layout";
        let done = plan.execute(work, &a.view().transpose(), &b, &bias, &mut c);
        refused(done, &format!("`Matmul`: `a` has shape [16, 4] and strides [1, 16], {wrong}"))?;
        let done = plan.execute(work, &flat, &b, &bias, &mut c);
        refused(done, &format!("`Matmul`: `a` has shape [64] and strides [1], {wrong}"))?;
        let wide = cx.tensor([4, 32], work)?;
        let part = wide.view().slice(1, 0..16).ok_or_else(|| Failed::msg("no such part"))?;
        let done = plan.execute(work, &part, &b, &bias, &mut c);
        refused(done, &format!("`Matmul`: `a` has shape [4, 16] and strides [32, 1], {wrong}"))?;
        refused(
            plan.execute(work, &a, &a, &bias, &mut c),
            "`Matmul`: `b` has shape [4, 16] and strides [16, 1], but the plan was made for [16, 8] and [8, 1]; make a plan \
             for each layout",
        )?;
        let mut other = cx.tensor([1, 4, 8], work)?;
        refused(
            plan.execute(work, &a, &b, &bias, &mut other),
            "`Matmul`: `c` has shape [1, 4, 8] and strides [32, 8, 1], but the plan was made for [4, 8] and [8, 1]; make a \
             plan for each layout",
        )?;
        refused(
            plan.execute(work, &a, &b, &a, &mut c),
            "`Matmul`: `bias` has 64 elements, but the plan's `c` has 8 columns; there is one for each column",
        )?;
        let long = cx.tensor([9], work)?;
        let unaligned = long.slice(1..).ok_or_else(|| Failed::msg("no such part"))?;
        refused(
            plan.execute(work, &a, &b, &unaligned, &mut c),
            "`Matmul`: `bias` begins at a multiple of 4 bytes and not of 16, which the plan's algorithm may need; copy it \
             into a tensor of its own, or plan with `.alignment(4)`",
        )?;
        // The refused calls have not changed `c`.
        c.assume_written();
        check_equal(work.download_blocking(&c)?, vec![5.0; 32])?;
        plan.execute(work, &a, &b, &bias, &mut c)?;
        check_equal(work.download_blocking(&c)?, vec![17.0; 32])?;

        let wide = tensor(cx, work, &[4, 18], &[1.0; 72])?;
        let part = wide.view().slice(1, 1..17).ok_or_else(|| Failed::msg("no such part"))?;
        let padded = Matmul::<f32>::plan(4, 8, 16).leading_dimensions([18, 8, 8]);
        let done = padded.on(cx, work)?.execute(work, &part, &b, &mut c);
        check_text(
            &check_error("unaligned", done, is_operand)?,
            &["`a` begins at a multiple of 4 bytes and not of 256", ".alignment(4)"],
        )?;
        padded.unaligned().on(cx, work)?.execute(work, &part, &b, &mut c)?;
        check_equal(work.download_blocking(&c)?, vec![16.0; 32])?;

        // The part begins in the second row, 72 bytes after the start of the tensor.
        let part = wide.view().slice(0, 1..4).ok_or_else(|| Failed::msg("no such part"))?;
        let part = part.slice(1, 0..16).ok_or_else(|| Failed::msg("no such part"))?;
        let mut c = cx.tensor([3, 8], work)?;
        let padded = Matmul::<f32>::plan(3, 8, 16).leading_dimensions([18, 8, 8]);
        let done = padded.alignment(16).on(cx, work)?.execute(work, &part, &b, &mut c);
        check_text(&check_error("16 bytes", done, is_operand)?, &["not of 16", ".alignment(8)"])?;
        padded.alignment(8).on(cx, work)?.execute(work, &part, &b, &mut c)?;
        check_equal(work.download_blocking(&c)?, vec![16.0; 24])
    })
}

fn plans(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let of = |plan: Planner<f32>, text: &str| refused(plan.on(cx, work).map(|_| ()), text);
        let divide = "but cuBLASLt takes at most 2147483647; divide the product";
        let much = 1 << 31;
        of(Matmul::plan(much, 1, 1), &format!("`Matmul`: `m` is 2147483648, {divide}"))?;
        of(Matmul::plan(1, usize::MAX, 1), &format!("`Matmul`: `n` is {}, {divide}", usize::MAX))?;
        of(Matmul::plan(1, 1, much), &format!("`Matmul`: `k` is 2147483648, {divide}"))?;
        of(
            Matmul::plan(1, 1, 1).batch(much),
            &format!("`Matmul`: `batch` is 2147483648, {divide}"),
        )?;
        of(
            Matmul::plan(2, 2, 0),
            "`Matmul`: `k` is 0: then a product has no terms; fill `c` with zeros instead",
        )?;
        of(
            Matmul::plan(2, 3, 4).leading_dimensions([4, 2, 3]),
            "`Matmul`: `b` has a leading dimension of 2, but its rows have 3 elements; the leading dimension is at least that",
        )?;
        of(
            Matmul::plan(2, 3, 4).batch(5).batch_strides([8, 12, 5]),
            "`Matmul`: `c` has 5 elements from matrix to matrix, but each has 6: the products would overlap",
        )?;
        of(
            Matmul::plan(2, 3, 4).alignment(12),
            "`Matmul`: `alignment` is 12, but an alignment is a power of two",
        )?;
        of(
            Matmul::plan(2, 3, 4).share_a(),
            "`Matmul`: `batch` is missing: `share_a`, `share_b` and `batch_strides` are for batches",
        )
    })
}

fn other_stream(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, other| {
        let mut plan = Matmul::<f32>::plan(2, 2, 2).on(cx, work)?;
        let x = tensor(cx, work, &[2, 2], &[1.0; 4])?;
        let mut c = tensor(cx, work, &[2, 2], &[5.0; 4])?;
        let is_other = |error: &Error| matches!(error, Error::OtherStream { .. });
        check_error("another stream", plan.execute(other, &x, &x, &mut c), is_other)?;
        // The refused calls have not changed `c`.
        c.assume_written();
        check_equal(work.download_blocking(&c)?, vec![5.0; 4])?;
        plan.execute(work, &x, &x, &mut c)?;
        check_equal(work.download_blocking(&c)?, vec![2.0; 4])
    })
}

fn failing(platform: &Platform) -> Result<(), Failed> {
    let failing = Arc::new(FailNth::new(platform.driver().clone(), CallKind::CallLibrary, 0));
    let platform = Platform::builder().driver(failing)?;
    once(&platform, |cx, work, _| {
        let mut plan = Matmul::<f32>::plan(2, 2, 2).on(cx, work)?;
        let x = tensor(cx, work, &[2, 2], &[1.0; 4])?;
        let mut c = tensor(cx, work, &[2, 2], &[5.0; 4])?;
        let text = check_error("the call", plan.execute(work, &x, &x, &mut c), |_| true)?;
        check_text(&text, &["call_library", "INJECTED"])?;
        // The refused calls have not changed `c`.
        c.assume_written();
        check_equal(work.download_blocking(&c)?, vec![5.0; 4])?;
        plan.execute(work, &x, &x, &mut c)?;
        check_equal(work.download_blocking(&c)?, vec![2.0; 4])
    })
}

fn no_product(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let (a, b) = (cx.tensor::<f32>([2, 3], work)?, cx.tensor::<f32>([4, 5], work)?);
        refused(
            multiply(cx, work, &a, &b),
            "`Matmul`: `a` and `b` have shapes [2, 3] and [4, 5], which have no product: those of `a` and `b` are [m, k] and \
             [k, n], or [batch, m, k] and [batch, k, n]",
        )?;
        let done = multiply_host_blocking(cx, (&[1.0_f32; 5], [2, 3]), (&[1.0; 3], [3, 1]));
        let is_length = |error: &Error| matches!(error, Error::LengthMismatch { .. });
        check_error("a slice of another length", done, is_length)?;
        check(multiply(cx, work, &a, &a).is_err(), || "a product of [2, 3] and [2, 3]".into())
    })
}
