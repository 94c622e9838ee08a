//! Kernels of `#[kernel(map)]`: one body, whose grid the library makes, over any shapes and strides.

use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check_equal, check_error};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("names_are_those_of_rust", names)
        .both("kernels_call_functions", functions)
        .both("a_division_by_0_in_a_function_has_the_line_of_the_call", divisions_in_functions)
        .both("a_map_writes_each_element", each_element)
        .both("a_map_goes_through_views_of_any_order", any_order)
        .both("an_input_broadcasts_from_its_last_dimension", broadcast)
        .both("a_body_reads_the_coordinates_and_the_number_of_its_element", coordinates)
        .both("dimensions_that_follow_each_other_are_merged", merged)
        .both("a_map_has_several_outputs_and_types", several)
        .both("branches_and_loops_are_those_of_rust", control)
        .both("a_division_by_0_is_0_and_the_error_of_a_later_call", division)
        .both("a_map_without_elements_launches_nothing", empty)
        .both("shapes_that_do_not_fit_are_named", refused)
        .both("a_map_waits_for_the_work_on_its_arguments", ordered)
}

#[kernel(map)]
fn scale(out: &mut f32, a: &f32, factor: f32) {
    *out = *a * factor;
}

#[kernel(map)]
fn sum(out: &mut i32, a: &i32, b: &i32) {
    *out = *a + *b;
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

fn each_element(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for n in [1, 31, 1000, 70_001] {
        let a = uploaded(platform, &numbers(n), &s)?;
        let mut out = uploaded(platform, &vec![f32::NAN; n], &s)?;
        s.map::<scale>((&mut out, &a, 0.5))?;
        let wanted: Vec<f32> = numbers(n).iter().map(|x| x * 0.5).collect();
        check_equal(s.download_blocking::<f32>(&out)?, wanted)?;
    }
    Ok(())
}

/// Part, transposed and padded, to each of these. Nothing beside the elements of the view is written.
fn any_order(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (height, width) = (13, 21);
    let none = || Failed::msg("a part within the tensor is an error");
    let a = uploaded(platform, &numbers(height * width), &s)?.reshape([height, width])?;
    let mut turned =
        uploaded(platform, &vec![-1.0; height * width], &s)?.reshape([width, height])?;
    s.map::<scale>((turned.view_mut(), a.view().transpose(), 2.0))?;
    let wanted: Vec<f32> =
        (0..width * height).map(|i| 2.0 * ((i % height) * width + i / height) as f32).collect();
    check_equal(s.download_blocking::<f32>(&turned)?, wanted)?;
    let mut out = uploaded(platform, &vec![-1.0; height * width], &s)?.reshape([height, width])?;
    let part =
        out.view_mut().slice(0, 2..9).and_then(|part| part.slice(1, 3..7)).ok_or_else(none)?;
    let from = a.view().slice(0, 4..11).and_then(|part| part.slice(1, 10..14)).ok_or_else(none)?;
    s.map::<scale>((part, from, 1.0))?;
    let at = |i: usize| match (i / width, i % width) {
        (y @ 2..9, x @ 3..7) => ((y + 2) * width + x + 7) as f32,
        _ => -1.0,
    };
    let wanted: Vec<f32> = (0..width * height).map(at).collect();
    check_equal(s.download_blocking::<f32>(&out)?, wanted)?;
    let mut padded = platform.pitched_tensor([height, width], &s)?;
    s.map::<scale>((&mut padded, &a, 3.0))?;
    for y in 0..height {
        let row = padded.row(y).ok_or_else(none)?;
        let wanted: Vec<f32> = (0..width).map(|x| 3.0 * (y * width + x) as f32).collect();
        check_equal(s.download_blocking::<f32>(&row)?, wanted)?;
    }
    Ok(())
}

fn broadcast(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (planes, rows, cols) = (3, 4, 5);
    let all: Vec<i32> = (0..60).collect();
    let a = uploaded(platform, &all, &s)?.reshape([planes, rows, cols])?;
    type At = fn(usize, usize, usize) -> usize;
    let cases: [(&[usize], At); 6] = [
        (&[5], |_, _, x| x),
        (&[4, 1], |_, y, _| y),
        (&[3, 1, 1], |z, _, _| z),
        (&[3, 1, 5], |z, _, x| 5 * z + x),
        (&[1], |_, _, _| 0),
        (&[1, 4, 5], |_, y, x| 5 * y + x),
    ];
    for (shape, number) in cases {
        let b: Vec<i32> = (0..shape.iter().product::<usize>() as i32).map(|i| 1000 * i).collect();
        let b = uploaded(platform, &b, &s)?.reshape(shape)?;
        let mut out = uploaded(platform, &[-1; 60], &s)?.reshape([planes, rows, cols])?;
        s.map::<sum>((&mut out, &a, &b))?;
        let at = |i: usize| (i, number(i / 20, i / 5 % 4, i % 5));
        let wanted: Vec<i32> = (0..60).map(at).map(|(i, b)| i as i32 + 1000 * b as i32).collect();
        check_equal(s.download_blocking::<i32>(&out)?, wanted)?;
    }
    Ok(())
}

#[kernel(map)]
fn at_two(out: &mut u32, #[at] [y, x]: [usize; 2], #[at] i: usize) {
    *out = (100_000 * y + 1000 * x + i) as u32;
}

#[kernel(map)]
fn at_four(out: &mut u32, #[at] [a, b, c, d]: [usize; 4]) {
    *out = (((a * 10 + b) * 10 + c) * 10 + d) as u32;
}

fn coordinates(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[0_u32; 35], &s)?.reshape([5, 7])?;
    s.map::<at_two>((&mut out,))?;
    let wanted: Vec<u32> = (0..35).map(|i| 100_000 * (i / 7) + 1000 * (i % 7) + i).collect();
    check_equal(s.download_blocking::<u32>(&out)?, wanted)?;
    let mut turned = uploaded(platform, &[0_u32; 35], &s)?.reshape([7, 5])?;
    s.map::<at_two>((turned.view_mut().transpose(),))?;
    let wanted: Vec<u32> =
        (0..35).map(|i| (i % 5, i / 5)).map(|(y, x)| 100_000 * y + 1000 * x + 7 * y + x).collect();
    check_equal(s.download_blocking::<u32>(&turned)?, wanted)?;
    let mut out = uploaded(platform, &[0_u32; 120], &s)?.reshape([2, 3, 4, 5])?;
    s.map::<at_four>((&mut out,))?;
    let wanted: Vec<u32> =
        (0..120).map(|i| 1000 * (i / 60) + 100 * (i / 20 % 3) + 10 * (i / 5 % 4) + i % 5).collect();
    check_equal(s.download_blocking::<u32>(&out)?, wanted)?;
    Ok(())
}

/// Views of one to four dimensions. All neighbouring dimensions, some, or none can be merged into one, since no gap in memory is
/// between their elements.
fn merged(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let shapes: [&[usize]; 8] =
        [&[24], &[1, 24], &[24, 1], &[4, 6], &[2, 1, 12], &[2, 3, 4], &[1, 2, 3, 4], &[2, 3, 4, 1]];
    for shape in shapes {
        let a = uploaded(platform, &numbers(24), &s)?.reshape(shape)?;
        let mut out = uploaded(platform, &[f32::NAN; 24], &s)?.reshape(shape)?;
        s.map::<scale>((&mut out, &a, 2.0))?;
        let wanted: Vec<f32> = numbers(24).iter().map(|x| 2.0 * x).collect();
        check_equal(s.download_blocking::<f32>(&out)?, wanted)?;
        // A part of each dimension that has one.
        for (dim, len) in shape.iter().enumerate().filter(|(_, len)| **len > 1) {
            let mut out = uploaded(platform, &[-1.0_f32; 24], &s)?.reshape(shape)?;
            let parts = (out.view_mut().slice(dim, 1..*len), a.view().slice(dim, 0..len - 1));
            let (Some(part), Some(from)) = parts else { return Err(Failed::msg("no part")) };
            s.map::<scale>((part, from, 1.0))?;
            let inner: usize = shape[dim + 1..].iter().product();
            let at = |i: usize| match i / inner % len {
                0 => -1.0,
                _ => (i - inner) as f32,
            };
            let wanted: Vec<f32> = (0..24).map(at).collect();
            check_equal(s.download_blocking::<f32>(&out)?, wanted)?;
        }
    }
    Ok(())
}

#[kernel(map)]
fn split(whole: &mut i16, rest: &mut f64, a: &f32, bias: i16) {
    let floor = (*a).floor();
    *whole = floor as i16 + bias;
    *rest = (*a - floor) as f64;
}

fn several(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = [1.5_f32, -2.25, 0.0, 70_000.5, f32::NAN];
    let a = uploaded(platform, &a, &s)?;
    let mut whole = uploaded(platform, &[0_i16; 5], &s)?;
    let mut rest = uploaded(platform, &[9.0_f64; 5], &s)?;
    s.map::<split>((&mut whole, &mut rest, &a, 1))?;
    // A cast stays within the type, and an addition wraps.
    check_equal(s.download_blocking::<i16>(&whole)?, vec![2, -2, 1, i16::MIN, 1])?;
    let rest = s.download_blocking::<f64>(&rest)?;
    check_equal(rest[..4].to_vec(), vec![0.5, 0.75, 0.0, 0.5])?;
    check_equal(rest[4].is_nan(), true)
}

const STEPS: u32 = 40;

/// The number of steps of Collatz, at most 40, and more of what a body may have.
#[kernel(map)]
fn walk(out: &mut u32, from: &u32) {
    let mut n = *from;
    let mut steps = 0;
    let mut left = STEPS;
    'walk: loop {
        if n <= 1 || left == 0 {
            break;
        }
        for _ in 0..2 {
            n = match n % 2 {
                0 => n / 2,
                _ if n > 1 => 3 * n + 1,
                _ => break 'walk,
            };
            steps += 1;
            left -= 1;
            if left == 0 {
                continue 'walk;
            }
        }
    }
    let mut weight = 0;
    for i in (1..=3).rev() {
        let i = i * 10;
        if i == 20 && {
            weight += 1;
            weight == 1
        } {
            continue;
        }
        weight += i;
    }
    *out = steps * 1000 + weight;
}

fn control(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let from: Vec<u32> = (0..200).collect();
    let a = uploaded(platform, &from, &s)?;
    let mut out = uploaded(platform, &[7_u32; 200], &s)?;
    s.map::<walk>((&mut out, &a))?;
    let wanted = from.iter().map(|n| {
        let (mut n, mut steps) = (*n, 0);
        while n > 1 && steps < STEPS {
            n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps * 1000 + 61
    });
    check_equal(s.download_blocking::<u32>(&out)?, wanted.collect())
}

#[kernel(map)]
fn quotient(out: &mut i32, rest: &mut i32, a: &i32, b: &i32) {
    *out = *a / *b;
    *rest = (*a % *b).rem_euclid(1000);
}

const HALF: u32 = line!();
#[kernel(map)]
fn halved(out: &mut i32, a: &i32, b: &i32) {
    *out = *a / *b;
}

fn division(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[7, -7, i32::MIN, 5, i32::MAX], &s)?;
    let b = uploaded(platform, &[2, 2, -1, 3, -2], &s)?;
    let mut out = uploaded(platform, &[-1; 5], &s)?;
    let mut rest = uploaded(platform, &[-1; 5], &s)?;
    s.map::<quotient>((&mut out, &mut rest, &a, &b))?;
    check_equal(s.download_blocking::<i32>(&out)?, vec![3, -3, i32::MIN, 1, i32::MAX / -2])?;
    check_equal(s.download_blocking::<i32>(&rest)?, vec![1, 999, 0, 2, 1])?;
    let zeros = uploaded(platform, &[2, 0, 0, 3, 1], &s)?;
    s.map::<halved>((&mut out, &a, &zeros))?;
    let done = s.synchronize_blocking();
    let line = HALF + 3;
    check_error("a division", done, |error| {
        error.to_string().starts_with(&format!(
            "kernel `halved` divided an integer by 0 at {}:{line}; ",
            file!()
        ))
    })?;
    // It is told once, and the results are defined.
    check_equal(s.download_blocking::<i32>(&out)?, vec![3, 0, 0, 1, i32::MAX])
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[0.0_f32; 0], &s)?.reshape([0, 3])?;
    let mut out = uploaded(platform, &[0.0_f32; 0], &s)?.reshape([0, 3])?;
    s.map::<scale>((&mut out, &a, 2.0))?;
    check_equal(s.download_blocking::<f32>(&out)?, Vec::new())
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[0_i32; 12], &s)?;
    let (flat, rows) = (uploaded(platform, &[0_i32; 5], &s)?, a.reshape([3, 4])?);
    let mut out = uploaded(platform, &[0_i32; 12], &s)?.reshape([3, 4])?;
    let done = s.map::<sum>((&mut out, &rows, &flat));
    check_error("a length", done, |error| {
        error.to_string()
            == "kernel `sum`: `b` is [5] and `out` is [3, 4]: each dimension of an input, from the last, is \
                              that of the output or 1"
    })?;
    let mut out = uploaded(platform, &[0_i32; 4], &s)?;
    let done = s.map::<sum>((&mut out, &rows, &rows));
    check_error("a rank", done, |error| {
        error.to_string().contains("`a` is [3, 4] and `out` is [4]")
    })?;
    let mut whole = uploaded(platform, &[0_i16; 3], &s)?;
    let mut rest = uploaded(platform, &[0.0_f64; 4], &s)?;
    let from = uploaded(platform, &[0.0_f32; 4], &s)?;
    let done = s.map::<split>((&mut whole, &mut rest, &from, 0));
    check_error(
        "outputs",
        done,
        |error| matches!(error, Error::Shapes { kernel: "split", problem } if problem.contains("all outputs have one shape")),
    )?;
    let mut out = uploaded(platform, &[0_u32; 35], &s)?;
    let done = s.map::<at_two>((&mut out,));
    check_error("coordinates", done, |error| {
        error.to_string().contains("reads 2 coordinates, and `out` has 1 dimensions")
    })?;
    Ok(())
}

fn ordered(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("MAPS", &CudaStreamPool::new())?;
    let (one, other) = (pool.allocate("one")?, pool.allocate("other")?);
    let a = uploaded(platform, &numbers(100_000), &one)?;
    let mut half = platform.tensor::<f32>([100_000], &one)?;
    let mut out = platform.tensor::<f32>([100_000], &other)?;
    for _ in 0..20 {
        one.map::<scale>((&mut half, &a, 0.5))?;
        other.map::<scale>((&mut out, &half, 4.0))?;
        one.map::<scale>((&mut half, &a, 0.0))?;
        let wanted: Vec<f32> = numbers(100_000).iter().map(|x| 2.0 * x).collect();
        check_equal(other.download_blocking::<f32>(&out)?, wanted)?;
    }
    Ok(())
}

/// The value at `t` between `a` at 0 and `b` at 1.
#[kernel_fn]
fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// The sum of the digits, by a loop, with a variable that is an argument.
#[kernel_fn]
fn digits(mut number: u32, base: u32) -> u32 {
    let mut sum = 0;
    while number > 0 {
        sum += number % base;
        number /= base;
    }
    sum
}

/// Calls other functions, one of them in a branch.
#[kernel_fn]
fn shade(x: f32, number: usize, is_mixed: bool) -> f32 {
    if is_mixed { mix(x, digits(number as u32, 10) as f32, 0.25) } else { -x }
}

#[kernel(map)]
fn shaded(out: &mut f32, a: &f32, #[at] i: usize) {
    let before = mix(*a, 2.0, 0.5);
    *out = shade(before, i, i % 3 != 0) + mix(1.0, 3.0, *a);
}

fn functions(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let values: Vec<f32> = (0..1000).map(|i| i as f32 * 0.5 - 7.0).collect();
    let a = platform.upload(&values)?;
    let mut out = uploaded(platform, &[f32::NAN; 1000], &s)?;
    s.map::<shaded>((&mut out, &a))?;
    let sum = |i: usize| i.to_string().bytes().map(|digit| f32::from(digit - b'0')).sum::<f32>();
    let wanted = values.iter().enumerate().map(|(i, a)| {
        let before = a + (2.0 - a) * 0.5;
        let shade = if i % 3 == 0 { -before } else { before + (sum(i) - before) * 0.25 };
        shade + (1.0 + 2.0 * a)
    });
    check_equal(s.download_blocking(&out)?, wanted.collect::<Vec<_>>())
}

#[kernel(map)]
fn digit_sum(out: &mut u32, base: u32) {
    // The line of this call is reported.
    *out = digits(*out, base);
}

/// A division by 0 in a function has the line of the call.
fn divisions_in_functions(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[12_u32, 345], &s)?;
    s.map::<digit_sum>((&mut out, 10))?;
    check_equal(s.download_blocking(&out)?, vec![3, 12])?;
    let mut zero = uploaded(platform, &[0_u32, 0], &s)?;
    s.map::<digit_sum>((&mut zero, 0))?;
    check_equal(s.download_blocking(&zero)?, vec![0, 0])?;
    s.map::<divided>((&mut zero, 0))?;
    let line = DIVIDED_LINE;
    check_error("a division by 0", s.synchronize_blocking(), |error| {
        matches!(error, Error::DivisionByZero { .. })
            && error.to_string().contains(&format!("divided an integer by 0 at {}:{line}", file!()))
    })
    .map(drop)
}

#[kernel_fn]
fn quotient_of(a: u32, b: u32) -> u32 {
    a / b
}

const DIVIDED_LINE: u32 = line!() + 4;

#[kernel(map)]
fn divided(out: &mut u32, by: u32) {
    *out = quotient_of(*out + 1, by);
}

const THREE: u32 = 3;

/// Constants in patterns, names that CUDA has for others, a variable without a value at first, and one that a pattern changes.
#[kernel(map)]
fn named(out: &mut u32, a: &u32, x: u32, x_0: u32) {
    let größe = x * 10 + x_0;
    let streamflow = größe;
    let late;
    if *a > 4 {
        late = 100;
    } else {
        late = 200;
    }
    *out = match *a {
        THREE => 1,
        0 | u32::MAX => late,
        mut k => {
            k += 1;
            k + streamflow
        }
    };
}

/// A kernel whose `x` is another variable than that of the expression.
macro_rules! beside {
    ($name:ident, $x:ident, $value:expr) => {
        #[kernel(map)]
        fn $name(out: &mut f32, a: &f32) {
            let $x = *a;
            let x = 2.0;
            *out = $value * x;
        }
    };
}

beside!(hygienic, x, x + 1.0);

fn names(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = platform.upload(&[0_u32, 1, 3, 5])?;
    let mut out = uploaded(platform, &[7_u32; 4], &s)?;
    s.map::<named>((&mut out, &a, 2, 5))?;
    check_equal(s.download_blocking(&out)?, vec![200, 27, 1, 31])?;
    let mut product = uploaded(platform, &[f32::NAN], &s)?;
    s.map::<hygienic>((&mut product, &platform.upload(&[10.0_f32])?))?;
    check_equal(s.download_blocking(&product)?, vec![22.0])
}
