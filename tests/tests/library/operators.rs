//! The operators that come with the library, compared with `f64`, and given wrong input.

use std::f64::consts::TAU;

use streamflow::kernel::reductions::{ArgMin, Max, Mean, Norm1, Sum};
use streamflow::memory::Complex;
use streamflow::operators::{Convolve2d, Reduce, Resample, Window};
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::random::Random;
use streamflow_tests::setup::uploaded;
use streamflow_tests::{Failed, Suite, check_close, check_equal, check_error, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("convolve_2d_is_near_the_sum_in_f64", convolved)
        .both("convolve_2d_flips_its_weights", flipped)
        .both("convolve_2d_refuses_what_is_no_image", no_image)
        .both("a_window_multiplies_each_signal_in_place", windowed)
        .both("a_window_of_another_length_is_refused", other_length)
        .both("resample_is_near_the_filter_in_f64", resampled)
        .both("resample_keeps_a_tone_and_removes_one_that_is_too_high", tones)
        .both("reduce_has_each_reduction_along_each_axis", reduced)
        .both("reduce_refuses_an_axis_that_is_not_there", no_axis)
        .plain("operators_refuse_wrong_constructors", constructors)
}

/// Runs an operator for one message, and checks the shape and the values that it sends.
macro_rules! ticked {
    ($platform:expr, $operator:expr, $input:ident -> $output:ident, $values:expr, $shape:expr) => {{
        let mut harness = OperatorHarness::new($platform, $operator)?;
        let input = uploaded($platform, $values, harness.stream())?.reshape($shape)?;
        harness.push(|ports| &mut ports.$input, input)?;
        check_equal(harness.tick()?, true)?;
        let out = harness.take(|ports| &mut ports.$output);
        let out = out.ok_or_else(|| Failed::msg("nothing was emitted"))?.message;
        (
            out.shape().to_vec(),
            $platform.download(&*out, harness.stream())?.wait_blocking()?.to_vec(),
        )
    }};
}

const BLUR: [f32; 9] = [0.0625, 0.125, 0.0625, 0.125, 0.25, 0.125, 0.0625, 0.125, 0.0625];

fn convolved(platform: &Platform) -> Result<(), Failed> {
    let mut random = Random::new(1);
    // The cases: images of one pixel, one row and one column, weights larger than the image, several images, and no
    // image.
    let shapes: [(&[usize], [usize; 2]); 7] = [
        (&[1, 1], [3, 3]),
        (&[1, 9], [5, 1]),
        (&[8, 1], [1, 7]),
        (&[3, 2], [7, 9]),
        (&[13, 17], [3, 5]),
        (&[2, 3, 6, 5], [3, 3]),
        (&[0, 4, 4], [3, 3]),
    ];
    for (shape, size) in shapes {
        let image = random.floats(shape.iter().product());
        let weights = random.floats(size[0] * size[1]);
        for nearest in [true, false] {
            let operator = Convolve2d::new(weights.clone(), size)?;
            let operator = if nearest { operator } else { operator.zero_border() };
            let (found_shape, found) =
                ticked!(platform, operator, image -> convolved, &image, shape);
            check_equal(&*found_shape, shape)?;
            let wanted = convolution(&image, shape, &weights, size, nearest);
            check_close(&found, &wanted, |_| 1e-5)?;
        }
    }
    Ok(())
}

/// Returns the convolution in `f64`, by the formula of the documentation.
fn convolution(
    image: &[f32],
    shape: &[usize],
    weights: &[f32],
    size: [usize; 2],
    nearest: bool,
) -> Vec<f64> {
    let [rows, cols] = [shape[shape.len() - 2] as i64, shape[shape.len() - 1] as i64];
    let pixel = |n: i64, y: i64, x: i64| {
        let [inner_y, inner_x] = [y.clamp(0, rows - 1), x.clamp(0, cols - 1)];
        let is_inside = [inner_y, inner_x] == [y, x];
        if nearest || is_inside {
            f64::from(image[((n * rows + inner_y) * cols + inner_x) as usize])
        } else {
            0.0
        }
    };
    let of = |at: usize| {
        let at = at as i64;
        let (n, y, x) = (at / cols / rows, at / cols % rows, at % cols);
        let mut sum = 0.0;
        for (k, weight) in weights.iter().enumerate() {
            let (i, j) = ((k / size[1]) as i64, (k % size[1]) as i64);
            let [ci, cj] = size.map(|len| len as i64 / 2);
            sum += f64::from(*weight) * pixel(n, y + ci - i, x + cj - j);
        }
        sum
    };
    (0..image.len()).map(of).collect()
}

/// Checks that an image with a single bright pixel becomes the weights themselves.
fn flipped(platform: &Platform) -> Result<(), Failed> {
    let mut image = [0.0_f32; 25];
    image[12] = 1.0;
    let weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    let operator = Convolve2d::new(weights, [3, 3])?;
    let (_, found) = ticked!(platform, operator, image -> convolved, &image, [5, 5]);
    let middle: Vec<f32> = (1..4).flat_map(|y| found[5 * y + 1..][..3].to_vec()).collect();
    check_equal(middle, weights.to_vec())?;
    // A constant image stays constant, also at the border.
    let operator = Convolve2d::new(BLUR, [3, 3])?;
    let (_, found) = ticked!(platform, operator, image -> convolved, &[3.0; 25], [5, 5]);
    check_equal(found, vec![3.0; 25])
}

fn no_image(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Convolve2d::new(BLUR, [3, 3])?)?;
    let row = uploaded(platform, &[1.0; 5], harness.stream())?;
    harness.push(|ports| &mut ports.image, row)?;
    let text = check_error("a row", harness.tick(), |_| true)?;
    check_text(&text, &["Convolve2d", "[5]", "[rows, columns]"])
}

fn windowed(platform: &Platform) -> Result<(), Failed> {
    let n = 7;
    let real = Random::new(2).floats(3 * n);
    let signal: Vec<Complex<f32>> = real.iter().map(|x| Complex::new(*x, -2.0 * x)).collect();
    let angle = |i: usize| TAU * (i % n) as f64 / n as f64;
    type Made = fn(usize) -> Window<f32>;
    type Formula = fn(f64) -> f64;
    let windows: [(Made, Formula); 3] = [
        (Window::hann, |a| 0.5 - 0.5 * a.cos()),
        (Window::hamming, |a| 0.54 - 0.46 * a.cos()),
        (Window::blackman, |a| 0.42 - 0.5 * a.cos() + 0.08 * (2.0 * a).cos()),
    ];
    for (window, formula) in windows {
        let (shape, found) = ticked!(platform, window(n), signal -> windowed, &real, [3, n]);
        check_equal(shape, vec![3, n])?;
        let wanted = (0..3 * n).map(|i| f64::from(real[i]) * formula(angle(i)));
        check_close(&found, &wanted.collect::<Vec<_>>(), |_| 1e-7)?;
    }
    let (_, found) = ticked!(platform, Window::hann(n), signal -> windowed, &signal, [3, n]);
    let (_, of_real) = ticked!(platform, Window::hann(n), signal -> windowed, &real, [3, n]);
    let wanted: Vec<_> = of_real.iter().map(|x| Complex::new(*x, -2.0 * x)).collect();
    check_equal(found, wanted)?;
    let none: [f32; 0] = [];
    let (shape, _) = ticked!(platform, Window::hann(0), signal -> windowed, &none, [0, 0]);
    check_equal(shape, vec![0, 0])
}

fn other_length(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Window::<f32>::hann(8))?;
    let signal = uploaded(platform, &[1.0; 16], harness.stream())?;
    harness.push(|ports| &mut ports.signal, signal)?;
    let text = check_error("a longer signal", harness.tick(), |_| true)?;
    check_text(&text, &["operator `Window`", "a window of 8 weights", "shape [16]"])
}

fn resampled(platform: &Platform) -> Result<(), Failed> {
    let mut random = Random::new(3);
    for (up, down, len) in [(1, 1, 9), (2, 1, 5), (1, 3, 20), (3, 2, 1), (160, 147, 40), (4, 6, 33)]
    {
        let signals = random.floats(2 * len);
        let operator = Resample::new(up, down)?;
        let (shape, found) = ticked!(platform, operator, signal -> resampled, &signals, [2, len]);
        let new_len = (len * up).div_ceil(down);
        check_equal(shape, vec![2, new_len])?;
        let wanted: Vec<f64> =
            signals.chunks(len).flat_map(|signal| filtered(signal, up, down)).collect();
        check_close(&found, &wanted, |_| 1e-5)?;
        let complex: Vec<_> = signals.iter().map(|x| Complex::new(*x, 0.5 * x)).collect();
        let (_, found) =
            ticked!(platform, Resample::new(up, down)?, signal -> resampled, &complex, [2, len]);
        let (re, im): (Vec<f32>, Vec<f32>) = found.iter().map(|x| (x.re, x.im)).unzip();
        check_close(&re, &wanted, |_| 1e-5)?;
        check_close(&im, &wanted.iter().map(|x| 0.5 * x).collect::<Vec<_>>(), |_| 1e-5)?;
    }
    Ok(())
}

/// Returns the resampled signal in `f64`: zeros are put between the samples, the low-pass filter is applied, and
/// every `down`th result is kept.
fn filtered(signal: &[f32], up: usize, down: usize) -> Vec<f64> {
    let divisor = (1..=up.min(down))
        .rev()
        .find(|n| up.is_multiple_of(*n) && down.is_multiple_of(*n))
        .unwrap_or(1);
    let (up, down) = (up / divisor, down / divisor);
    let half = 10 * up.max(down) as i64;
    let bessel = |x: f64| -> f64 {
        // The integral in the definition of the Bessel function. The trapezoidal rule is exact for it.
        (0..64).map(|k| (x * (TAU * f64::from(k) / 64.0).cos()).exp()).sum::<f64>() / 64.0
    };
    let tap = |i: i64| {
        let x = std::f64::consts::PI * i as f64 / up.max(down) as f64;
        let sinc = if i == 0 { 1.0 } else { x.sin() / x };
        let at = i as f64 / half as f64;
        sinc * bessel(5.0 * (1.0 - at * at).max(0.0).sqrt())
    };
    let taps: Vec<f64> = (-half..=half).map(tap).collect();
    let sum: f64 = taps.iter().sum();
    let of = |m: usize| {
        let at = (m * down) as i64;
        let term = |(n, x): (usize, &f32)| {
            let k = at - (n * up) as i64 + half;
            usize::try_from(k).ok().and_then(|k| taps.get(k)).map_or(0.0, |tap| tap * f64::from(*x))
        };
        signal.iter().enumerate().map(term).sum::<f64>() * up as f64 / sum
    };
    (0..(signal.len() * up).div_ceil(down)).map(of).collect()
}

/// Checks tones that are resampled from 300 to 200 samples: 20 periods stay, and 140 periods disappear, since 200
/// samples can't show them.
fn tones(platform: &Platform) -> Result<(), Failed> {
    let tone = |periods: f64, len: usize| -> Vec<f64> {
        (0..len).map(|i| (TAU * periods * i as f64 / len as f64).sin()).collect()
    };
    for (periods, size) in [(20.0, 1.0), (140.0, 0.0)] {
        let signal: Vec<f32> = tone(periods, 300).iter().map(|x| *x as f32).collect();
        let operator = Resample::new(2, 3)?;
        let (_, found) = ticked!(platform, operator, signal -> resampled, &signal, [300]);
        let wanted: Vec<f64> = tone(periods, 200).iter().map(|x| size * x).collect();
        // The ends are not compared, since the signal begins and stops there.
        check_close(&found[20..180], &wanted[20..180], |_| 0.01)?;
    }
    Ok(())
}

fn constructors() -> Result<(), Failed> {
    for (weights, size) in
        [(6, [2, 3]), (6, [3, 2]), (8, [3, 3]), (0, [0, 0]), (1, [usize::MAX, 3])]
    {
        let made = Convolve2d::new(vec![1.0; weights], size);
        let text = check_error("Convolve2d", made.map_err(Error::Other), |_| true)?;
        check_text(&text, &[&format!("{weights} weights"), "odd"])?;
    }
    for (up, down) in [(0, 1), (1, 0), (0, 0), (100_003, 2), (3, usize::MAX)] {
        let made = Resample::<f32>::new(up, down);
        let text = check_error("Resample", made.map_err(Error::Other), |_| true)?;
        check_text(&text, &[&format!("{up} / {down}"), "from 1 to 100,000"])?;
    }
    Resample::<f32>::new(200_000, 400_000).map(drop)
}

/// Returns the elements of a tensor with three dimensions, in lines along an axis.
fn lines_of(values: &[f32], shape: [usize; 3], axis: usize) -> Vec<Vec<f64>> {
    let others: Vec<usize> = (0..3).filter(|other| *other != axis).collect();
    let place = |at: [usize; 3]| (at[0] * shape[1] + at[1]) * shape[2] + at[2];
    let mut lines = Vec::new();
    for first in 0..shape[others[0]] {
        for second in 0..shape[others[1]] {
            let line = (0..shape[axis]).map(|along| {
                let mut at = [0; 3];
                (at[axis], at[others[0]], at[others[1]]) = (along, first, second);
                f64::from(values[place(at)])
            });
            lines.push(line.collect());
        }
    }
    lines
}

#[kernel(reduce(identity = 1.0))]
fn product(a: f32, b: f32) -> f32 {
    a * b
}

fn reduced(platform: &Platform) -> Result<(), Failed> {
    let shape = [4, 5, 7];
    let values = Random::new(3).floats(shape.iter().product());
    let first_least = |line: &Vec<f64>| {
        let least = line.iter().copied().fold(f64::INFINITY, f64::min);
        line.iter().position(|x| *x == least).unwrap_or(usize::MAX) as u64
    };
    for axis in 0..3 {
        let lines = lines_of(&values, shape, axis);
        let kept: Vec<usize> = (0..3).filter(|other| *other != axis).map(|at| shape[at]).collect();
        let each = |of: fn(&Vec<f64>) -> f64| lines.iter().map(of).collect::<Vec<f64>>();
        macro_rules! floats {
            ($reduction:ty, $of:expr) => {{
                let operator = Reduce::<$reduction>::along(axis);
                let (found_shape, found) = ticked!(platform, operator, data -> reduced, &values, shape);
                check_equal(&found_shape, &kept)?;
                check_close(&found, &each($of), |_| 1e-5)?;
            }};
        }
        floats!(Sum<f32>, |line| line.iter().sum());
        floats!(Mean<f32>, |line| line.iter().sum::<f64>() / line.len() as f64);
        floats!(Max<f32>, |line| line.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        floats!(Norm1<f32>, |line| line.iter().map(|x| x.abs()).sum());
        floats!(product, |line| line.iter().product());
        let operator = Reduce::<ArgMin<f32>>::along(axis);
        let (found_shape, places) = ticked!(platform, operator, data -> reduced, &values, shape);
        check_equal(&found_shape, &kept)?;
        check_equal(places, lines.iter().map(first_least).collect())?;
    }
    let operator = Reduce::<Sum<f32>>::all();
    let (found_shape, found) = ticked!(platform, operator, data -> reduced, &values, shape);
    check_equal(found_shape, vec![1])?;
    check_close(&found, &[values.iter().copied().map(f64::from).sum()], |_| 1e-4)?;
    let operator = Reduce::<Sum<f32>>::along(0);
    let (found_shape, found) = ticked!(platform, operator, data -> reduced, &[1.0, 2.5], [2]);
    check_equal((found_shape, found), (vec![1], vec![3.5]))
}

fn no_axis(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Reduce::<Sum<f32>>::along(2))?;
    let data = uploaded(platform, &[1.0, 2.0], harness.stream())?.reshape([1, 2])?;
    harness.push(|ports| &mut ports.data, data)?;
    let text = check_error("an axis too many", harness.tick().map(drop), |_| true)?;
    check_text(&text, &["axis 2", "`data`", "[1, 2]"])?;
    let mut harness = OperatorHarness::new(platform, Reduce::<Sum<f32>>::along(4))?;
    let data = uploaded(platform, &[1.0], harness.stream())?.reshape([1; 6])?;
    harness.push(|ports| &mut ports.data, data)?;
    check_error("six dimensions", harness.tick().map(drop), |_| true).map(drop)
}
