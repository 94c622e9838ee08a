//! Scans: `#[kernel(scan(…))]` and the library's own, over all elements and along an axis. Sums of floats are equal bit by bit to those
//! of `model.rs`, which has the tree in plain Rust.
//!
//! `compiled.rs` has the same kernels' CUDA text as C++ for the host, with the threads of a block in turns.

mod compiled;
mod model;

use streamflow::kernel::reductions::{ArgMax, Max, Mean, Min, Sum};
use streamflow::memory::TensorView;
use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error};

use self::model::Model;
use crate::reductions::repeated_by;

/// The variable that makes a missing compiler of C++ a failure.
const REQUIRE: &str = "STREAMFLOW_REQUIRE_CXX";

pub(crate) fn suite() -> Suite {
    Suite::new()
        .values(|suite| {
            suite
                .both("running_sums_of_each_length_are_those_of_the_tree", each_length)
                .both("running_sums_at_each_limit_are_those_of_the_tree", limits)
                .both("another_tree_gives_other_running_sums", another_tree)
                .both("each_axis_is_scanned", each_axis)
                .both("many_columns_have_a_lane_each", many_columns)
                .both("views_of_any_strides_are_scanned", strides)
                .both("a_scan_keeps_the_order_of_elements", order)
                .both("a_scan_maps_elements_first", mapped)
                .both("elements_of_two_words_are_scanned", of_two_words)
                .both("the_reductions_of_the_library_are_scans", library)
        })
        .cuda("each_group_of_tiles_is_scanned", many_tiles)
        .both("without_elements_a_scan_writes_nothing", empty)
        .both("a_division_by_0_in_a_scan_is_reported", divisions)
        .both("shapes_that_do_not_fit_a_scan_are_named", refused)
        .both("a_scan_waits_for_the_work_on_its_arguments", ordered)
        .both("a_scan_is_repeated_with_random_values", repeated)
        .optional("the_text_in_cuda_has_the_same_tree_of_scans", REQUIRE, compiled::all)
        .optional("each_mistake_in_the_text_of_a_scan_is_noticed", REQUIRE, compiled::mistakes)
}

#[kernel(scan(identity = 0.0))]
fn sum(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(map)]
fn same(out: &mut f32, a: &f32) {
    *out = *a;
}

const SUM: Model<f32> = Model { identity: 0.0, combine: sum, steps: 8 };

/// Numbers whose sums round in almost each step.
fn noise(n: usize) -> Vec<f32> {
    let mixed = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..n).map(|i| mixed(i) as f32 / 8e6 - 1.0).collect()
}

fn part<'a, T>(
    view: TensorView<'a, T>,
    dim: usize,
    range: std::ops::Range<usize>,
) -> Result<TensorView<'a, T>, Failed> {
    view.slice(dim, range).ok_or_else(|| Failed::msg("a part within the tensor is an error"))
}

fn check_row(what: &str, found: &[f32], wanted: &[f32]) -> Result<(), Failed> {
    let n = wanted.len();
    check(found.len() == n, || format!("{what} of {n}: {} results", found.len()))?;
    let differs = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits();
    match found.iter().zip(wanted).position(differs) {
        Some(i) => Err(Failed::msg(format!(
            "{what} of {n}: result {i} is {:?}, not {:?}",
            found[i], wanted[i]
        ))),
        None => Ok(()),
    }
}

/// Scans parts of `values` of these lengths, and checks that nothing beside the results is written. Addresses of elements and of
/// results are aligned to a word of four, and are not.
fn lengths(platform: &Platform, lengths: &[usize]) -> Result<(), Failed> {
    let s = stream(platform)?;
    let most = lengths.iter().max().map_or(8, |most| most + 8);
    let values = noise(most);
    let a = uploaded(platform, &values, &s)?;
    let mut out = platform.tensor([most], &s)?;
    for &n in lengths {
        // Long ones are aligned, since they are slow.
        let places = [[0, 0], [n % 5 + 1, 4], [4, 1]];
        for &[first, to] in &places[..if n < 20_000 { 3 } else { 1 }] {
            s.upload_blocking(&vec![-7.0; most], &mut out)?;
            let view = out.view_mut().slice(0, to..to + n);
            let view = view.ok_or_else(|| Failed::msg("a part within the tensor is an error"))?;
            s.scan::<sum>(view, part(a.view(), 0, first..first + n)?)?;
            let found = s.download_blocking::<f32>(&out)?;
            check_row("the sums", &found[to..to + n], &SUM.row(&values[first..first + n]))?;
            let mut others = found[..to].iter().chain(&found[to + n..]);
            check(others.all(|other| *other == -7.0), || {
                format!("{n}: a place beside the results is written")
            })?;
        }
    }
    Ok(())
}

const TILE: usize = 8192;

fn each_length(platform: &Platform) -> Result<(), Failed> {
    let short = 0..=140;
    lengths(platform, &short.chain(505..=520).chain([640, 1023, 1100]).collect::<Vec<_>>())
}

/// Where the number of tiles and of groups changes.
fn limits(platform: &Platform) -> Result<(), Failed> {
    let groups = [32 * TILE, 32 * TILE + 1, 33 * TILE + 1];
    lengths(platform, &[&[TILE - 1, TILE, TILE + 1, 2 * TILE + 1][..], &groups].concat())
}

/// Lengths for code that is slow.
fn some_lengths(platform: &Platform) -> Result<(), Failed> {
    let short = [1, 3, 15, 16, 17, 127, 128, 130, 511, 512, 513];
    lengths(platform, &[&short[..], &[TILE - 1, TILE, TILE + 1, 2 * TILE + 1]].concat())
}

/// Lengths that show mistakes.
fn few_lengths(platform: &Platform) -> Result<(), Failed> {
    lengths(platform, &[5, 17, 300, 700, TILE + 8])
}

/// Tiles of three groups.
fn groups(platform: &Platform) -> Result<(), Failed> {
    lengths(platform, &[65 * TILE + 1])
}

/// The control of the tests above: other trees have sums with other bits.
fn another_tree(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut differences = [0; 3];
    for n in [40, 100, 300, 999, 9000, 20_000, 140_000] {
        let values = noise(n);
        let mut out = platform.tensor([n], &s)?;
        s.scan::<sum>(&mut out, &uploaded(platform, &values, &s)?)?;
        let found = s.download_blocking::<f32>(&out)?;
        let in_order = values.iter().scan(0.0, |sum, value| {
            *sum += value;
            Some(*sum)
        });
        let fewer = Model { steps: 4, ..SUM };
        let commuted = Model { combine: |a, b| sum(b, a + 0.0), ..SUM };
        let others = [in_order.collect(), fewer.row(&values), commuted.row(&values)];
        for (count, other) in differences.iter_mut().zip(&others) {
            *count += i32::from(check_row("", &found, other).is_err());
            let near = found.iter().zip(other).all(|(a, b)| (a - b).abs() < 0.5);
            check(near, || format!("{n}: another tree has other sums by more than rounding"))?;
        }
    }
    // Addition is commutative, so the last model is the same tree.
    check(differences[0] > 5 && differences[1] > 1 && differences[2] == 0, || {
        format!("differences: {differences:?}")
    })
}

/// The elements of each row along an axis, with their places.
fn rows(shape: &[usize], axis: usize) -> Vec<Vec<usize>> {
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let row = |number: usize| {
        let first = number / inner * shape[axis] * inner + number % inner;
        (0..shape[axis]).map(|i| first + i * inner).collect()
    };
    (0..outer * inner).map(row).collect()
}

fn each_axis(platform: &Platform) -> Result<(), Failed> {
    let shapes: [&[usize]; 15] = [
        &[700],
        &[1],
        &[40, 3],
        &[3, 40],
        &[5, 1200],
        &[1200, 5],
        &[1, 30],
        &[30, 1],
        &[7, 6, 5],
        &[2, 600, 3],
        &[2, 3, 4, 70],
        &[70, 4, 3, 2],
        &[2, 1, 20_000, 1],
        &[2, 20_000],
        &[20_000, 2],
    ];
    axes(platform, &shapes)
}

fn axes(platform: &Platform, shapes: &[&[usize]]) -> Result<(), Failed> {
    let s = stream(platform)?;
    for shape in shapes {
        let values = noise(shape.iter().product());
        let a = uploaded(platform, &values, &s)?.reshape(*shape)?;
        for axis in 0..shape.len() {
            let mut out = uploaded(platform, &vec![f32::NAN; values.len()], &s)?.reshape(*shape)?;
            s.scan_axis::<sum>(&mut out, &a, axis)?;
            let found = s.download_blocking::<f32>(&out)?;
            let rows = rows(shape, axis);
            let inner: usize = shape[axis + 1..].iter().product();
            let is_by_column = inner > 1 && rows.len() >= 4096;
            for row in &rows {
                let of = |all: &[f32]| row.iter().map(|place| all[*place]).collect::<Vec<_>>();
                let own = of(&values);
                let wanted = if is_by_column { SUM.lane(&own) } else { SUM.row(&own) };
                check_row(&format!("axis {axis} of {shape:?}"), &of(&found), &wanted)?;
            }
        }
    }
    Ok(())
}

fn many_columns(platform: &Platform) -> Result<(), Failed> {
    axes(platform, &[&[18, 4096], &[18, 4095], &[2, 18, 2100]])
}

fn few_columns(platform: &Platform) -> Result<(), Failed> {
    axes(platform, &[&[18, 4100], &[3, 20, 7], &[600, 2]])
}

/// Parts, and transposed and padded memory, as inputs and as outputs. Nothing beside the results is written.
fn strides(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (height, width) = (90, 70);
    let values = noise(height * width);
    let a = uploaded(platform, &values, &s)?.reshape([height, width])?;
    let turned: Vec<f32> =
        (0..width * height).map(|i| values[i % height * width + i / height]).collect();
    let mut out = platform.tensor([width, height], &s)?;
    s.scan::<sum>(&mut out, a.view().transpose())?;
    check_row("turned", &s.download_blocking::<f32>(&out)?, &SUM.row(&turned))?;
    // Several tiles of elements that are in no line.
    let (side, large) = (150, noise(150 * 150));
    let b = uploaded(platform, &large, &s)?.reshape([side, side])?;
    let turned: Vec<f32> = (0..side * side).map(|i| large[i % side * side + i / side]).collect();
    let mut out = platform.tensor([side, side], &s)?;
    s.scan::<sum>(&mut out, b.view().transpose())?;
    check_row("tiles, turned", &s.download_blocking::<f32>(&out)?, &SUM.row(&turned))?;
    let inside = || part(part(a.view(), 0, 5..77)?, 1, 3..68);
    // To the columns of a larger tensor, all but the first row.
    let mut wide = uploaded(platform, &vec![-1.0; 66 * 72], &s)?.reshape([66, 72])?;
    let to = wide.view_mut().transpose().slice(1, 1..66);
    let to = to.ok_or_else(|| Failed::msg("a part within the tensor is an error"))?;
    s.scan_axis::<sum>(to, inside()?, 1)?;
    let found = s.download_blocking::<f32>(&wide)?;
    check(found[..72].iter().all(|other| *other == -1.0), || {
        "a place beside the results is written".to_owned()
    })?;
    for y in 0..72 {
        let first = (y + 5) * width + 3;
        let row: Vec<f32> = found[72..].iter().skip(y).step_by(72).copied().collect();
        check_row("a row of a part", &row, &SUM.row(&values[first..first + 65]))?;
    }
    // A tile whose elements, and then whose results, have gaps between them.
    let long = noise(2 * TILE);
    let column = |tensor: Tensor<f32>| Ok::<_, Failed>(tensor.reshape([TILE, 2])?);
    let pairs = column(uploaded(platform, &long, &s)?)?;
    let odd = part(pairs.view(), 1, 1..2)?;
    let mut sums = platform.tensor([TILE, 1], &s)?;
    s.scan::<sum>(&mut sums, odd)?;
    let odd: Vec<f32> = long.iter().skip(1).step_by(2).copied().collect();
    check_row("elements with gaps", &s.download_blocking::<f32>(&sums)?, &SUM.row(&odd))?;
    let mut gaps = column(uploaded(platform, &vec![-1.0; 2 * TILE], &s)?)?;
    let to = gaps.view_mut().slice(1, 0..1);
    let to = to.ok_or_else(|| Failed::msg("a part within the tensor is an error"))?;
    s.scan::<sum>(to, uploaded(platform, &odd, &s)?.reshape([TILE, 1])?.view())?;
    let found = s.download_blocking::<f32>(&gaps)?;
    let [results, others] =
        [0, 1].map(|at| found.iter().skip(at).step_by(2).copied().collect::<Vec<f32>>());
    check_row("results with gaps", &results, &SUM.row(&odd))?;
    check(others.iter().all(|other| *other == -1.0), || {
        "a place between the results is written".to_owned()
    })?;
    // Several tiles of rows with gaps.
    let mut padded = platform.pitched_tensor([side, side], &s)?;
    let mut dense = platform.tensor([side, side], &s)?;
    s.map::<same>((&mut padded, &b))?;
    s.scan::<sum>(&mut dense, &padded)?;
    s.scan::<sum>(&mut padded, &b)?;
    let mut unpadded = platform.tensor([side, side], &s)?;
    s.map::<same>((&mut unpadded, &padded))?;
    let wanted = SUM.row(&large);
    check_row("padded elements", &s.download_blocking::<f32>(&dense)?, &wanted)?;
    check_row("padded results", &s.download_blocking::<f32>(&unpadded)?, &wanted)
}

/// The last number that is not 0: associative, and not commutative.
#[kernel(scan(identity = 0))]
fn last(a: i32, b: i32) -> i32 {
    if b != 0 { b } else { a }
}

fn order(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for n in [9, 200, 5000, 40_000] {
        let is_there = |x: &f32| x.to_bits().is_multiple_of(61);
        let numbers = noise(n).into_iter().enumerate();
        let values: Vec<i32> =
            numbers.map(|(i, x)| if is_there(&x) { i as i32 + 1 } else { 0 }).collect();
        let mut out = uploaded(platform, &vec![-1; n], &s)?;
        s.scan::<last>(&mut out, &uploaded(platform, &values, &s)?)?;
        let wanted = values.iter().scan(0, |kept, value| {
            *kept = if *value != 0 { *value } else { *kept };
            Some(*kept)
        });
        check_equal(s.download_blocking::<i32>(&out)?, wanted.collect::<Vec<_>>())?;
    }
    Ok(())
}

#[kernel_fn]
fn square(x: u8) -> f64 {
    let x = x as f64;
    x * x + 0.1
}

#[kernel(scan(identity = 0.0, map = square))]
fn squares(a: f64, b: f64) -> f64 {
    a + b
}

fn bytes(n: usize) -> Vec<u8> {
    noise(n).iter().map(|x| (x * 120.0 + 128.0) as u8).collect()
}

fn mapped(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let model = Model { identity: 0.0, combine: squares, steps: 4 };
    for n in [5, 400, 1000, 20_001] {
        let values = bytes(n + 1);
        let a = uploaded(platform, &values, &s)?;
        for first in [0, 1] {
            let mut out = uploaded(platform, &vec![f64::NAN; n], &s)?;
            s.scan::<squares>(&mut out, part(a.view(), 0, first..first + n)?)?;
            let own: Vec<f64> = values[first..first + n].iter().map(|x| square(*x)).collect();
            check_equal(s.download_blocking::<f64>(&out)?, model.row(&own))?;
        }
    }
    Ok(())
}

/// Elements of two words.
fn of_two_words(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let values: Vec<u64> = bytes(20_000).into_iter().map(|byte| u64::from(byte) << 30).collect();
    let mut sums = uploaded(platform, &vec![7_u64; values.len()], &s)?;
    s.scan::<Sum<u64>>(&mut sums, uploaded(platform, &values, &s)?.view())?;
    let running = |total: &mut u64, x: &u64| {
        *total += *x;
        Some(*total)
    };
    let wanted = values.iter().scan(0, running).collect();
    check_equal(s.download_blocking::<u64>(&sums)?, wanted)
}

/// Values of 4, 8 and 16 bytes.
fn library(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for n in [3, 700, 20_000] {
        let small = bytes(n);
        let a = uploaded(platform, &small, &s)?;
        let mut sums = uploaded(platform, &vec![7_u64; n], &s)?;
        s.scan::<Sum<u8>>(&mut sums, &a)?;
        let running = |total: &mut u64, x: &u8| {
            *total += u64::from(*x);
            Some(*total)
        };
        let totals: Vec<u64> = small.iter().scan(0, running).collect();
        check_equal(s.download_blocking::<u64>(&sums)?, totals.clone())?;
        let mut means = uploaded(platform, &vec![f64::NAN; n], &s)?;
        s.scan::<Mean<u8>>(&mut means, &a)?;
        let mean = |(i, total): (usize, &u64)| *total as f64 / (i + 1) as f64;
        let wanted: Vec<f64> = totals.iter().enumerate().map(mean).collect();
        check_equal(s.download_blocking::<f64>(&means)?, wanted)?;
        // Values that grow slowly, so that the largest one so far changes all the time.
        let grown = |(i, x): (usize, &u8)| (i / 10) as i32 + i32::from(*x);
        let large: Vec<i32> = small.iter().enumerate().map(grown).collect();
        let a = uploaded(platform, &large, &s)?;
        // Values of one byte.
        let mut least = uploaded(platform, &vec![7_u8; n], &s)?;
        s.scan::<Min<u8>>(&mut least, uploaded(platform, &small, &s)?.view())?;
        let running = |least: &mut u8, x: &u8| {
            *least = (*least).min(*x);
            Some(*least)
        };
        let wanted: Vec<u8> = small.iter().scan(u8::MAX, running).collect();
        check_equal(s.download_blocking::<u8>(&least)?, wanted)?;
        let (mut most, mut at) = (uploaded(platform, &vec![-1; n], &s)?, platform.tensor([n], &s)?);
        s.scan::<Max<i32>>(&mut most, &a)?;
        s.scan::<ArgMax<i32>>(&mut at, &a)?;
        let places = large.iter().enumerate().scan(0, |best, (i, x)| {
            *best = if *x > large[*best] { i } else { *best };
            Some(*best)
        });
        let places: Vec<usize> = places.collect();
        let wanted: Vec<i32> = places.iter().map(|place| large[*place]).collect();
        check_equal(s.download_blocking::<i32>(&most)?, wanted)?;
        let wanted: Vec<u64> = places.iter().map(|place| *place as u64).collect();
        check_equal(s.download_blocking::<u64>(&at)?, wanted)?;
    }
    Ok(())
}

/// More tiles than two groups of groups have. On the simulator, the unit test of the values of tiles has as many.
fn many_tiles(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let n = 2100 * 4096 + 3;
    let small = bytes(n);
    let mut sums = uploaded(platform, &vec![7_u64; n], &s)?;
    s.scan::<Sum<u8>>(&mut sums, &uploaded(platform, &small, &s)?)?;
    let running = |total: &mut u64, x: &u8| {
        *total += u64::from(*x);
        Some(*total)
    };
    let totals: Vec<u64> = small.iter().scan(0, running).collect();
    check(s.download_blocking::<u64>(&sums)? == totals, || "the sums differ".to_owned())
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[0_i32; 0], &s)?.reshape([3, 0])?;
    let mut out = uploaded(platform, &[0_i32; 0], &s)?.reshape([3, 0])?;
    for axis in [0, 1] {
        s.scan_axis::<Min<i32>>(&mut out, &a, axis)?;
    }
    s.scan::<Min<i32>>(&mut out, &a)?;
    check_equal(s.download_blocking::<i32>(&out)?, Vec::new())
}

const DIVIDED: u32 = line!() + 2;
#[kernel(scan(identity = 1))]
fn divided(a: i32, b: i32) -> i32 {
    a / b
}

fn divisions(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[7; 5], &s)?;
    s.scan::<divided>(&mut out, &uploaded(platform, &[1, -1, 1, 1, 1], &s)?)?;
    check_equal(s.download_blocking::<i32>(&out)?, vec![1, -1, -1, -1, -1])?;
    s.scan::<divided>(&mut out, &uploaded(platform, &[1, 1, 0, 1, 1], &s)?)?;
    check_error("a division by 0", s.synchronize_blocking(), |error| {
        let place = format!("kernel `divided` divided an integer by 0 at {}:{DIVIDED}", file!());
        error.to_string().starts_with(&place)
    })
    .map(drop)
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[0.0_f32; 12], &s)?.reshape([3, 4])?;
    let mut out = uploaded(platform, &[0.0_f32; 12], &s)?;
    let text = |text: &'static str| move |error: &Error| error.to_string() == text;
    check_error(
        "another shape",
        s.scan::<sum>(&mut out, &a),
        text(
            "kernel `sum`: `out` is [12] and `input` is [3, 4]: the result of a scan has the shape of its input",
        ),
    )?;
    let mut out = out.reshape([3, 4])?;
    check_error(
        "no axis",
        s.scan_axis::<sum>(&mut out, &a, 2),
        text("kernel `sum`: `input` is [3, 4] and has no axis 2: axes are counted from 0"),
    )?;
    let deep = uploaded(platform, &[0.0_f32; 8], &s)?.reshape([1, 2, 2, 2, 1])?;
    let mut out = uploaded(platform, &[0.0_f32; 8], &s)?.reshape([1, 2, 2, 2, 1])?;
    check_error(
        "five dimensions",
        s.scan::<sum>(&mut out, &deep),
        text("kernel `sum`: `out` has 5 dimensions, and a scan at most 4"),
    )
    .map(drop)
}

fn ordered(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("SCANS", &CudaStreamPool::new())?;
    let (one, other) = (pool.allocate("one")?, pool.allocate("other")?);
    let n = 20_000;
    let a = uploaded(platform, &vec![1.0_f32; n], &one)?;
    let b = uploaded(platform, &vec![2.0_f32; n], &one)?;
    let mut work = platform.tensor::<f32>([n], &one)?;
    let (mut first, mut second) = (platform.tensor([n], &other)?, platform.tensor([n], &one)?);
    for _ in 0..5 {
        one.copy(&a, &mut work)?;
        other.scan::<sum>(&mut first, &work)?;
        one.copy(&b, &mut work)?;
        one.scan::<sum>(&mut second, &work)?;
        check_equal(other.download_blocking::<f32>(&first)?.last().copied(), Some(n as f32))?;
        check_equal(one.download_blocking::<f32>(&second)?.last().copied(), Some(2.0 * n as f32))?;
    }
    Ok(())
}

#[kernel_fn]
fn square_of(x: f32) -> f32 {
    x * x
}

#[kernel(scan(identity = 0.0, map = square_of))]
fn repeated_squares_so_far(a: f32, b: f32) -> f32 {
    a + b
}

fn repeated(platform: &Platform) -> Result<(), Failed> {
    repeated_by("repeated_squares_so_far", platform, |own, s, a| {
        let mut out = own.tensor::<f32>(a.shape(), s)?;
        Ok(s.scan::<repeated_squares_so_far>(&mut out, a)?)
    })
}
