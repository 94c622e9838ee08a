//! Expressions of tensors and numbers: `expr!`, evaluated in one launch, after one for each reduction within it.

mod reduced;

use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("an_expression_has_the_types_of_its_operands", types)
        .both("operands_broadcast_and_are_views", views)
        .both("operands_are_fields_and_references", fields)
        .both("an_expression_has_the_values_of_a_kernel_with_the_same_body", equal)
        .both("sequences_follow_from_the_number_of_the_element", sequences)
        .both("an_expression_calls_functions_and_has_statements", statements)
        .both("a_generic_function_has_an_expression_for_each_type", generic)
        .both("operands_of_a_macro_are_others_than_those_of_its_use", hygiene)
        .both("a_division_by_0_in_an_expression_is_the_error_of_a_later_call", division)
        .both("operands_that_do_not_fit_are_told_as_they_are_written", refused)
        .both("an_expression_waits_for_the_work_on_its_operands", ordered)
        .both("a_reduction_within_an_expression_has_the_bits_of_its_call", reduced::equal)
        .both("a_reduction_is_of_an_expression", reduced::expressions)
        .both("a_variable_has_the_name_of_a_reduction", reduced::names)
        .both("a_reduction_within_an_expression_is_in_order", reduced::ordered)
        .both("a_reduction_that_does_not_fit_is_told_as_it_is_written", reduced::refused)
}

fn types(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let bytes = uploaded(platform, &[0_u8, 1, 200, 255], &s)?;
    let wide = uploaded(platform, &[-1_i64, i64::MAX, 3, 4], &s)?;
    let (shift, is_added) = (7_u32, true);
    let mut out = uploaded(platform, &[0_i64; 4], &s)?;
    s.evaluate(&mut out, expr!(if is_added { wide + (bytes as i64) << shift } else { 0 }))?;
    let wanted: Vec<i64> = [(-1, 0), (i64::MAX, 1), (3, 200), (4, 255)]
        .map(|(wide, byte): (i64, i64)| wide.wrapping_add(byte) << 7)
        .to_vec();
    check_equal(s.download_blocking::<i64>(&out)?, wanted)?;
    // The sum of bytes wraps as bytes do, and 0.1 is an `f64`.
    let mut narrow = uploaded(platform, &[9_u8; 4], &s)?;
    s.evaluate(&mut narrow, expr!(bytes + bytes + 1))?;
    check_equal(s.download_blocking::<u8>(&narrow)?, vec![1, 3, 145, 255])?;
    let mut double = uploaded(platform, &[f64::NAN; 4], &s)?;
    s.evaluate(&mut double, expr!(bytes as f64 * 0.1))?;
    let wanted: Vec<f64> = [0.0, 1.0, 200.0, 255.0].map(|x| x * 0.1).to_vec();
    check_equal(s.download_blocking::<f64>(&double)?, wanted)
}

fn views(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (rows, cols) = (33, 7);
    let numbers = |n: usize| (0..n).map(|i| i as f32).collect::<Vec<_>>();
    let a = uploaded(platform, &numbers(rows * cols), &s)?.reshape([cols, rows])?;
    let (turned, row) = (a.view().transpose(), uploaded(platform, &numbers(cols), &s)?);
    let column = uploaded(platform, &numbers(rows), &s)?.reshape([rows, 1])?;
    let mut out = platform.pitched_tensor::<f32>([rows, cols], &s)?;
    s.evaluate(&mut out, expr!(turned + row * 1000.0 - column))?;
    for y in 0..rows {
        let found = out.row(y).ok_or_else(|| Failed::msg("no row"))?;
        let wanted: Vec<f32> =
            (0..cols).map(|x| (x * rows + y) as f32 + 1000.0 * x as f32 - y as f32).collect();
        check_equal(s.download_blocking::<f32>(&found)?, wanted)?;
    }
    let mut dense = uploaded(platform, &vec![f32::NAN; rows * cols], &s)?.reshape([rows, cols])?;
    s.evaluate(&mut dense, expr!(row - column))?;
    let wanted: Vec<f32> =
        (0..rows * cols).map(|i| (i % cols) as f32 - (i / cols) as f32).collect();
    check_equal(s.download_blocking::<f32>(&dense)?, wanted)
}

struct Filter {
    gains: Buffer<f32>,
    part: (f32, u16),
}

fn fields(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut gains = platform.buffer::<f32>(3, &s)?;
    s.upload_blocking(&[1.0, 2.0, 3.0], &mut gains)?;
    let filter = Filter { gains, part: (0.5, 4) };
    let (image, many) = (uploaded(platform, &[10.0_f32, 20.0, 30.0], &s)?, &filter);
    let borrowed = &image;
    let mut out = uploaded(platform, &[f32::NAN; 3], &s)?;
    s.evaluate(&mut out, expr!(borrowed * filter.gains * many.part.0 + many.part.1 as f32))?;
    check_equal(s.download_blocking::<f32>(&out)?, vec![9.0, 24.0, 49.0])
}

#[kernel(map)]
fn by_kernel(out: &mut f32, a: &f32, b: &f32, c: f32) {
    *out = (*a * 1.7 + *b / c).sqrt() * (*a - c).abs().min(3.0) - (*a).mul_add(*b, c);
}

fn equal(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let noise = |seed: u64, n: usize| -> Vec<f32> {
        let mixed = |i: usize| (i as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (0..n).map(|i| mixed(i) as f32 / 8e6).collect()
    };
    let (n, c) = (70_001, 0.3_f32);
    let (a, b) = (uploaded(platform, &noise(1, n), &s)?, uploaded(platform, &noise(2, n), &s)?);
    let mut out = uploaded(platform, &vec![f32::NAN; n], &s)?;
    let mut wanted = uploaded(platform, &vec![f32::NAN; n], &s)?;
    s.map::<by_kernel>((&mut wanted, &a, &b, c))?;
    s.evaluate(
        &mut out,
        expr!((a * 1.7 + b / c).sqrt() * (a - c).abs().min(3.0) - a.mul_add(b, c)),
    )?;
    let bits = |tensor: &Tensor<f32>| -> Result<Vec<u32>, Failed> {
        Ok(s.download_blocking::<f32>(tensor)?.into_iter().map(f32::to_bits).collect())
    };
    check(bits(&out)? == bits(&wanted)?, || "the bits differ".to_owned())
}

fn sequences(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[u32::MAX; 12], &s)?.reshape([3, 4])?;
    s.evaluate(&mut out, expr!(iota() as u32 * 2))?;
    check_equal(s.download_blocking::<u32>(&out)?, (0..24).step_by(2).collect::<Vec<_>>())?;
    // Not in the order of the memory.
    let mut turned = uploaded(platform, &[u32::MAX; 12], &s)?.reshape([4, 3])?;
    s.evaluate(turned.view_mut().transpose(), expr!(iota() as u32))?;
    let wanted: Vec<u32> = (0..12).map(|i| i % 3 * 4 + i / 3).collect();
    check_equal(s.download_blocking::<u32>(&turned)?, wanted)?;
    let (count, stop) = (5_usize, -1.0_f64);
    let mut line = uploaded(platform, &[f64::NAN; 5], &s)?;
    s.evaluate(&mut line, expr!(linspace(1.0, stop, count)))?;
    check_equal(s.download_blocking::<f64>(&line)?, vec![1.0, 0.5, 0.0, -0.5, -1.0])?;
    let mut many = uploaded(platform, &[f64::NAN; 50], &s)?;
    s.evaluate(&mut many, expr!(linspace(0.0, 1.0, 50)))?;
    check_equal(s.download_blocking::<f64>(&many)?.last().copied(), Some(1.0))?;
    let mut one = uploaded(platform, &[f64::NAN], &s)?;
    s.evaluate(&mut one, expr!(linspace(3.0, stop, 1)))?;
    check_equal(s.download_blocking::<f64>(&one)?, vec![3.0])
}

#[kernel_fn]
fn lerp(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

fn statements(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[1.0_f32, 2.0, 3.0], &s)?;
    let (end, half) = (11.0_f32, 0.5_f32);
    let mut out = uploaded(platform, &[f32::NAN; 3], &s)?;
    let sum = expr!({
        let middle = lerp(a, end, half);
        let mut sum = 0.0;
        for i in 0..4 {
            if i == 2 {
                continue;
            }
            sum += middle * i as f32;
        }
        sum
    });
    s.evaluate(&mut out, sum)?;
    check_equal(s.download_blocking::<f32>(&out)?, vec![24.0, 26.0, 28.0])
}

/// An expression in a generic function has the operands' types of each instance.
fn difference<T>(s: &CudaStream, out: &mut Tensor<f64>, a: &Tensor<T>) -> Result<(), Failed>
where
    T: streamflow::kernel::Number + Element,
{
    Ok(s.evaluate(out, expr!(a as f64 - 1.5))?)
}

fn generic(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[f64::NAN; 2], &s)?;
    difference(&s, &mut out, &uploaded(platform, &[1_u8, 255], &s)?)?;
    check_equal(s.download_blocking::<f64>(&out)?, vec![-0.5, 253.5])?;
    difference(&s, &mut out, &uploaded(platform, &[0.25_f32, -1.0], &s)?)?;
    check_equal(s.download_blocking::<f64>(&out)?, vec![-1.25, -2.5])
}

fn division(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (a, b) = (uploaded(platform, &[6_i32, 7], &s)?, uploaded(platform, &[2_i32, 0], &s)?);
    let mut out = uploaded(platform, &[-1_i32; 2], &s)?;
    s.evaluate(&mut out, expr!(a / b))?;
    check_error("a division by 0", s.synchronize_blocking(), |error| {
        let text = error.to_string();
        text.contains("divided an integer by 0")
            && text.contains("`a / b`")
            && text.contains("fused.rs")
    })?;
    check_equal(s.download_blocking::<i32>(&out)?, vec![3, 0])
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let filter = Filter { gains: platform.buffer(5, &s)?, part: (1.0, 2) };
    let mut out = uploaded(platform, &[f32::NAN; 6], &s)?.reshape([2, 3])?;
    let done = s.evaluate(&mut out, expr!(filter.gains * 2.0));
    check_error("a shape that does not fit", done, |error| {
        let text = error.to_string();
        text.contains("`filter.gains` is [5] and `out` is [2, 3]")
    })?;
    Ok(())
}

fn ordered(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(2))?;
    let (first, second) = (pool.allocate("first")?, pool.allocate("second")?);
    let n = 10_000;
    let mut a = uploaded(platform, &vec![0.0_f32; n], &first)?;
    let mut out = uploaded(platform, &vec![f32::NAN; n], &second)?;
    for round in 0..20 {
        let value = round as f32;
        first.evaluate(&mut a, expr!(value + 0.0))?;
        second.evaluate(&mut out, expr!(a * 2.0))?;
    }
    check_equal(second.download_blocking::<f32>(&out)?, vec![38.0; n])
}

/// `$a` times a number of the macro's own, by the name of the caller's tensor.
macro_rules! amplified {
    ($stream:expr, $out:expr, $a:expr) => {{
        let gain = 2.0_f32;
        $stream.evaluate($out, expr!($a * gain))
    }};
}

fn hygiene(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let gain = uploaded(platform, &[1.0_f32, 5.0], &s)?;
    let mut out = uploaded(platform, &[f32::NAN; 2], &s)?;
    amplified!(s, &mut out, gain)?;
    check_equal(s.download_blocking::<f32>(&out)?, vec![2.0, 10.0])?;
    // A mutable reference is an operand as the tensor itself.
    let borrowed = &mut out;
    let mut sum = uploaded(platform, &[f32::NAN; 2], &s)?;
    s.evaluate(&mut sum, expr!(borrowed + gain))?;
    check_equal(s.download_blocking::<f32>(&sum)?, vec![3.0, 15.0])
}
