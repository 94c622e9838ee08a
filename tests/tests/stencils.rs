//! Stencils: kernels of one body that read the elements around their own.

mod compiled;
mod kernels;

use streamflow::kernel::Window;
use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error};

use self::kernels::Subject;
use crate::one_body::REQUIRE;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .values(|suite| {
            suite
                .both("a_window_of_one_dimension_ends_at_its_border", |on| borders(on, 1))
                .both("a_window_of_two_dimensions_ends_at_its_border", |on| borders(on, 2))
                .both("a_window_of_three_dimensions_ends_at_its_border", |on| borders(on, 3))
                .both("a_window_of_four_dimensions_ends_at_its_border", |on| borders(on, 4))
        })
        .both("a_stencil_has_several_windows_inputs_and_outputs", several)
        .both("a_distance_is_a_sum_or_product_of_numbers_and_variables_of_loops", distances)
        .both("a_stencil_has_an_instance_for_each_type", generic)
        .both("a_division_by_0_in_a_stencil_is_reported", division)
        .both("a_stencil_waits_for_the_work_on_its_windows", ordered)
        .both("a_stencil_without_elements_launches_nothing", empty)
        .both("windows_that_do_not_fit_are_named", refused)
        .optional("the_text_of_a_stencil_in_cuda_reads_the_window", REQUIRE, compiled::all)
        .optional("each_mistake_in_the_text_of_a_stencil_is_noticed", REQUIRE, compiled::mutants)
}

/// An element that no result may depend on, and that a result replaces.
const POISON: i32 = 0x5eed_0bad;

/// Elements without a pattern.
fn noise(count: usize) -> Vec<i32> {
    (0..count as u32).map(|i| i.wrapping_mul(0x9e37_79b9).rotate_left(9) as i32).collect()
}

/// Lengths around the reach, and around the 32 by 32 elements of a block, or the 256 of a block in one dimension.
fn shapes(rank: usize) -> Vec<Vec<usize>> {
    let (rows, cols) = ([1, 2, 31, 32, 33, 66], [1, 2, 3, 31, 32, 33, 70]);
    let planes = |first: &[usize]| {
        let last = [[1, 1], [2, 3], [5, 1], [4, 33], [33, 2]];
        last.map(|last| [first, &last].concat()).to_vec()
    };
    match rank {
        1 => [1, 2, 3, 4, 7, 31, 255, 256, 257, 600].map(|len| vec![len]).to_vec(),
        2 => rows.iter().flat_map(|y| cols.map(|x| vec![*y, x])).collect(),
        3 => [planes(&[1]), planes(&[2]), planes(&[3])].concat(),
        _ => [planes(&[1, 1]), planes(&[2, 3]), planes(&[3, 1])].concat(),
    }
}

fn borders(platform: &Platform, rank: usize) -> Result<(), Failed> {
    let s = stream(platform)?;
    // With a block within the edges. It takes long, so that it is tried in one kind of memory.
    let large: Option<Vec<usize>> = match rank {
        3 => Some(vec![3, 66, 65]),
        4 => Some(vec![3, 1, 65, 66]),
        _ => None,
    };
    for subject in kernels::of_rank(rank) {
        if let Some(shape) = &large {
            let elements = noise(shape.iter().product());
            let found = dense(platform, &s, &subject, shape, &elements)?;
            check_equal(found, subject.wanted(shape, &elements))?;
        }
        for shape in shapes(rank) {
            let elements = noise(shape.iter().product());
            let wanted = subject.wanted(&shape, &elements);
            for found in [
                dense(platform, &s, &subject, &shape, &elements)?,
                part(platform, &s, &subject, &shape, &elements)?,
                turned(platform, &s, &subject, &shape, &elements)?,
            ] {
                check(found == wanted, || {
                    format!("{:?} of {shape:?}: {found:?}, not {wanted:?}", subject.border)
                })?;
            }
        }
    }
    Ok(())
}

type Results = Result<Vec<i32>, Failed>;

fn dense(on: &Platform, s: &CudaStream, subject: &Subject, shape: &[usize], a: &[i32]) -> Results {
    let mut out = uploaded(on, &vec![POISON; a.len()], s)?.reshape(shape)?;
    let a = uploaded(on, a, s)?.reshape(shape)?;
    (subject.launch)(s, out.view_mut(), a.view())?;
    Ok(s.download_blocking(&out)?)
}

/// Both are parts of larger tensors. Nothing beside the part is written, and no result depends on what is beside it.
fn part(on: &Platform, s: &CudaStream, subject: &Subject, shape: &[usize], a: &[i32]) -> Results {
    let none = || Failed::msg("a part within the tensor is an error");
    // One element more before the part, and two after it.
    let whole: Vec<usize> = shape.iter().map(|len| len + 3).collect();
    let is_part = |at: &Vec<usize>| at.iter().zip(shape).all(|(at, len)| (1..=*len).contains(at));
    let places = kernels::places(&whole);
    let mut rest = a.iter();
    let around = |at: &Vec<usize>| if is_part(at) { rest.next().copied() } else { Some(POISON) };
    let elements: Vec<i32> = places.iter().filter_map(around).collect();
    let a = uploaded(on, &elements, s)?.reshape(&whole[..])?;
    let mut out = uploaded(on, &vec![POISON; elements.len()], s)?.reshape(&whole[..])?;
    let (mut from, mut to) = (a.view(), out.view_mut());
    for (dim, len) in shape.iter().enumerate() {
        from = from.slice(dim, 1..len + 1).ok_or_else(none)?;
        to = to.slice(dim, 1..len + 1).ok_or_else(none)?;
    }
    (subject.launch)(s, to, from)?;
    let found = s.download_blocking::<i32>(&out)?;
    let (within, beside): (Vec<_>, Vec<_>) =
        places.iter().zip(found).partition(|(at, _)| is_part(at));
    check(beside.iter().all(|(_, found)| *found == POISON), || "written beside the part".into())?;
    Ok(within.into_iter().map(|(_, found)| found).collect())
}

/// Both are transposed views, so that neighbours of the last dimension are not neighbours in memory.
fn turned(on: &Platform, s: &CudaStream, subject: &Subject, shape: &[usize], a: &[i32]) -> Results {
    let turned: Vec<usize> = shape.iter().rev().copied().collect();
    let numbers = kernels::turned(shape);
    let mut elements = vec![0; a.len()];
    numbers.iter().zip(a).for_each(|(number, a)| elements[*number] = *a);
    let mut out = uploaded(on, &vec![POISON; a.len()], s)?.reshape(&turned[..])?;
    let a = uploaded(on, &elements, s)?.reshape(&turned[..])?;
    (subject.launch)(s, out.view_mut().transpose(), a.view().transpose())?;
    let found = s.download_blocking::<i32>(&out)?;
    Ok(numbers.into_iter().map(|number| found[number]).collect())
}

/// Two windows of different types, a broadcast input, a value, the position, and two outputs.
#[kernel(stencil(reach = [1, 1], border = mirror))]
fn mixed(
    sum: &mut f64,
    number: &mut u32,
    a: Window<u8>,
    b: Window<f32>,
    bias: &i16,
    gain: f64,
    #[at] [y, x]: [usize; 2],
    #[at] i: usize,
) {
    let across = a.at(0, -1) as f64 + a.at(0, 1) as f64;
    *sum = gain * across + (b.at(-1, 0) - b.at(1, 0)) as f64 + *bias as f64;
    *number = *number + (10_000 * i + 100 * y + x) as u32;
}

fn several(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for [height, width] in [[3, 5], [70, 41], [1, 33]] {
        let count = height * width;
        let bytes: Vec<u8> = noise(count).iter().map(|n| *n as u8).collect();
        let floats: Vec<f32> = noise(count).iter().map(|n| (n >> 20) as f32 / 8.0).collect();
        let biases: Vec<i16> = (0..width as i16).map(|x| 3 * x - 7).collect();
        let a = uploaded(platform, &bytes, &s)?.reshape([height, width])?;
        let b = uploaded(platform, &floats, &s)?.reshape([height, width])?;
        let bias = uploaded(platform, &biases, &s)?;
        let mut sum = uploaded(platform, &vec![f64::NAN; count], &s)?.reshape([height, width])?;
        let mut number = uploaded(platform, &vec![5_u32; count], &s)?.reshape([height, width])?;
        s.map::<mixed>((&mut sum, &mut number, &a, &b, &bias, 0.5))?;
        let mirrored = |at: usize, by: isize, len: usize| match (len, at as isize + by) {
            (1, _) => 0,
            (_, -1) => 1,
            (len, to) if to as usize == len => len - 2,
            (_, to) => to as usize,
        };
        let wanted = |i: usize| {
            let (y, x) = (i / width, i % width);
            let a = |by| f64::from(bytes[y * width + mirrored(x, by, width)]);
            let b = |by| floats[mirrored(y, by, height) * width + x];
            0.5 * (a(-1) + a(1)) + f64::from(b(-1) - b(1)) + f64::from(biases[x])
        };
        check_equal(s.download_blocking::<f64>(&sum)?, (0..count).map(wanted).collect())?;
        let wanted = |i: usize| (5 + 10_000 * i + 100 * (i / width) + i % width) as u32;
        check_equal(s.download_blocking::<u32>(&number)?, (0..count).map(wanted).collect())?;
    }
    Ok(())
}

/// Holes of the à trous algorithm, loops in both directions and of other types, and a variable that hides another one.
#[kernel(stencil(reach = [9], border = zero))]
fn holes(out: &mut i64, a: Window<i16>) {
    let mut sum = 0;
    for d in (0..3_u8).rev() {
        for e in -1..2 {
            sum = 10 * sum + a.at(4 * e + d - 1) as i64;
            let d = sum % 7;
            sum += d;
        }
    }
    *out = sum + a.at(-(2 * 4) - 1) as i64;
}

fn distances(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let elements: Vec<i16> = (0..40).map(|i| (7 * i + 3) % 11).collect();
    let a = uploaded(platform, &elements, &s)?;
    let mut out = uploaded(platform, &[-1_i64; 40], &s)?;
    s.map::<holes>((&mut out, &a))?;
    let wanted = |i: isize| {
        let at = |by: isize| {
            usize::try_from(i + by)
                .ok()
                .and_then(|to| elements.get(to))
                .map_or(0, |a| i64::from(*a))
        };
        let mut sum = 0;
        for d in [2, 1, 0] {
            for e in [-1, 0, 1] {
                sum = 10 * sum + at(4 * e + d - 1);
                sum += sum % 7;
            }
        }
        sum + at(-9)
    };
    check_equal(s.download_blocking::<i64>(&out)?, (0..40).map(wanted).collect())
}

#[kernel_fn]
fn ratio(a: i32, b: i32) -> i32 {
    a / b
}

const DIVIDED: u32 = line!() + 4;

#[kernel(stencil(reach = [1], border = wrap))]
fn ratios(out: &mut i32, a: Window<i32>) {
    *out = ratio(a.at(1), a.at(0));
}

fn division(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[-1; 4], &s)?;
    s.map::<ratios>((&mut out, &uploaded(platform, &[1, 2, 6, 9], &s)?))?;
    check_equal(s.download_blocking::<i32>(&out)?, vec![2, 3, 1, 0])?;
    s.map::<ratios>((&mut out, &uploaded(platform, &[1, 0, 6, 9], &s)?))?;
    check_error("a division", s.synchronize_blocking(), |error| {
        error.to_string().starts_with(&format!(
            "kernel `ratios` divided an integer by 0 at {}:{DIVIDED}; ",
            file!()
        ))
    })?;
    check_equal(s.download_blocking::<i32>(&out)?, vec![0, 0, 1, 0])
}

#[kernel(stencil(reach = [1], border = wrap))]
fn turn(out: &mut f32, a: Window<f32>) {
    *out = a.at(1);
}

/// The elements go around, between two tensors and two streams.
fn ordered(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("STENCILS", &CudaStreamPool::new())?;
    let (one, other) = (pool.allocate("one")?, pool.allocate("other")?);
    let numbers: Vec<f32> = (0..50_000).map(|i| i as f32).collect();
    let mut a = uploaded(platform, &numbers, &one)?;
    let mut b = uploaded(platform, &vec![f32::NAN; numbers.len()], &one)?;
    for _ in 0..10 {
        one.map::<turn>((&mut b, &a))?;
        other.map::<turn>((&mut a, &b))?;
    }
    let wanted = (0..numbers.len()).map(|i| numbers[(i + 20) % numbers.len()]);
    check_equal(one.download_blocking::<f32>(&a)?, wanted.collect())
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[0.0_f32; 0], &s)?;
    let mut out = uploaded(platform, &[0.0_f32; 0], &s)?;
    s.map::<turn>((&mut out, &a))?;
    check_equal(s.download_blocking::<f32>(&out)?, Vec::new())
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[0.0_f32; 12], &s)?;
    let mut out = uploaded(platform, &[0.0_f32; 6], &s)?;
    check_error("a length", s.map::<turn>((&mut out, &a)), |error| {
        error.to_string()
            == "kernel `turn`: `a` is [12] and `out` is [6]: a window has the shape of the output"
    })?;
    // Unlike another input, a window does not broadcast.
    let one = uploaded(platform, &[0.0_f32], &s)?;
    check_error("a broadcast", s.map::<turn>((&mut out, &one)), |error| {
        error.to_string().contains("`a` is [1] and `out` is [6]")
    })?;
    let mut out = uploaded(platform, &[0.0_f32; 12], &s)?.reshape([3, 4])?;
    check_error("dimensions", s.map::<turn>((&mut out, &a)), |error| {
        error.to_string() == "kernel `turn`: the kernel's `reach` has 1 dimensions, and `out` has 2"
    })
    .map(drop)
}

/// The difference of both neighbours.
#[kernel(stencil(reach = [1], border = zero))]
fn slope<T: streamflow::kernel::Number, U: streamflow::kernel::Signed>(out: &mut U, a: Window<T>) {
    *out = a.at(1) as U - a.at(-1) as U;
}

fn generic(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[1_u8, 3, 200], &s)?;
    let mut out = uploaded(platform, &[POISON; 3], &s)?;
    s.map::<slope<u8, i32>>((&mut out, &a))?;
    check_equal(s.download_blocking::<i32>(&out)?, vec![3, 199, -3])?;
    let a = uploaded(platform, &[0.5_f64, 2.0, -1.0], &s)?;
    let mut out = uploaded(platform, &[f32::NAN; 3], &s)?;
    s.map::<slope<f64, f32>>((&mut out, &a))?;
    check_equal(s.download_blocking::<f32>(&out)?, vec![2.0, -1.5, -2.0])
}
