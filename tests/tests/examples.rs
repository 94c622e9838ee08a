//! The examples' kernels and workloads against `f64`, on both platforms.
//!
//! Outputs are filled with NaN before, so that an element that a kernel does not write is NaN.

use std::io::Cursor;
use std::sync::OnceLock;

use streamflow::prelude::*;
use streamflow_examples::edges::{self, Edges};
use streamflow_examples::overlap::Overlap;
use streamflow_examples::png_io::{self, Image};
use streamflow_examples::seed_app::{self, HandWired, Streams};
use streamflow_tests::random::Random;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_close, check_error, check_text};

/// The image is embedded, since the machine with the GPU has no source tree.
const ASTRONAUT: &[u8] = include_bytes!("../../examples/data/astronaut.png");

const EPSILON: f64 = f32::EPSILON as f64;

/// Sizes around a warp and a block, and larger sizes that are multiples of neither.
const SIZES: [usize; 9] = [1, 2, 31, 33, 255, 257, 1000, 4099, 100_003];

/// Widths and heights of images. Some are thinner than the blur, and none is a multiple of a block.
const IMAGES: [(u32, u32); 8] =
    [(1, 1), (1, 7), (5, 1), (2, 2), (3, 4), (17, 31), (33, 9), (257, 67)];

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("exp_linspace_is_near_f64", exp_linspace)
        .both("multiply_sum_rows_is_near_f64", multiply_sum_rows)
        .both("multiply_sum_rows_accepts_only_its_block_size", one_block_size)
        .both("different_lengths_are_an_error", lengths_that_disagree)
        .both("seed_application_is_near_f64", seed_application)
        .both("ticks_in_flight_keep_their_values", ticks_in_flight)
        .both("edges_of_random_images_are_near_f64", edges_of_random_images)
        .both("values_in_chunks_are_near_f64", chunks)
        .large(|suite| suite.both("edges_of_a_photograph_are_near_f64", edges_of_a_photograph))
}

/// Returns a tensor full of NaN.
fn poisoned(platform: &Platform, len: usize, stream: &CudaStream) -> Result<Tensor<f32>> {
    uploaded(platform, &vec![f32::NAN; len], stream)
}

fn exp_linspace(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for n in SIZES {
        let step = 10.0 / (n - 1).max(1) as f32;
        let mut out = poisoned(platform, n, &s)?;
        s.launch::<seed_app::exp_linspace>(n, (&mut out, 0.0, step))?;
        let last = (n - 1).max(1) as f64;
        let expected: Vec<f64> = (0..n).map(|i| (10.0 * i as f64 / last).exp()).collect();
        check_close(platform.download(&out, &s)?.wait_blocking()?, &expected, |x| {
            seed_app::EXP_TOLERANCE * EPSILON * x
        })?;
    }
    Ok(())
}

fn multiply_sum_rows(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut random = Random::new(1);
    for cols in SIZES {
        let rows = 1 + random.below(if cols > 10_000 { 3 } else { 40 });
        let (a, b) = (random.floats(rows * cols), random.floats(rows * cols));
        let (mut expected, mut magnitudes) = (Vec::new(), Vec::new());
        for (a, b) in a.chunks(cols).zip(b.chunks(cols)) {
            let products = || a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b));
            expected.push(products().sum::<f64>());
            magnitudes.push(products().map(f64::abs).sum::<f64>());
        }
        let (a, b) = (uploaded(platform, &a, &s)?, uploaded(platform, &b, &s)?);
        let mut out = poisoned(platform, rows, &s)?;
        let grid = Grid::blocks(rows);
        s.launch::<seed_app::multiply_sum_rows>(grid, (&mut out, &a, &b, cols as u32))?;
        let sums = platform.download(&out, &s)?;
        let c = seed_app::SUM_TOLERANCE * (cols as f64).sqrt() * EPSILON;
        for ((sum, expected), magnitude) in
            sums.wait_blocking()?.iter().zip(&expected).zip(&magnitudes)
        {
            let off = (f64::from(*sum) - expected).abs();
            check(off <= c * magnitude, || {
                format!("{rows}x{cols}: {sum}, not {expected}: off by {off:e}")
            })?;
        }
    }
    Ok(())
}

/// Checks that another block size is refused. The kernel's shared memory fits only one block size, and a launch
/// is a safe call.
fn one_block_size(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let ones = uploaded(platform, &[1.0; 3 * 5], &s)?;
    let mut out = poisoned(platform, 3, &s)?;
    for threads in [32, 255, 512, 1024] {
        let grid = Grid::blocks(3).threads(threads);
        let refused = s.launch::<seed_app::multiply_sum_rows>(grid, (&mut out, &ones, &ones, 5));
        let text = check_error("another block", refused, |it| matches!(it, Error::Grid { .. }))?;
        let asked = format!("{threads}x1x1");
        check_text(&text, &["`multiply_sum_rows`", &asked, "256x1x1"])?;
    }
    check(s.download_blocking(&out)?.iter().all(|x| x.is_nan()), || {
        "the kernel was launched".into()
    })?;
    let grid = Grid::blocks(3).threads(256);
    s.launch::<seed_app::multiply_sum_rows>(grid, (&mut out, &ones, &ones, 5))?;
    check(s.download_blocking(&out)? == [5.0; 3], || "wrong data".into())
}

fn lengths_that_disagree(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (a, b) = (poisoned(platform, 12, &s)?, poisoned(platform, 11, &s)?);
    let mut out = poisoned(platform, 3, &s)?;
    for (b, cols) in [(&b, 4), (&a, 5), (&a, 0)] {
        let grid = Grid::blocks(3);
        let launched = s.launch::<seed_app::multiply_sum_rows>(grid, (&mut out, &a, b, cols));
        let Err(error) = launched else {
            return Err(Failed::msg(format!("12 and {} values in 3 rows of {cols}", b.len())));
        };
        let text = error.to_string();
        check(text.contains("multiply_sum_rows"), || format!("no kernel in: {text}"))?;
    }
    let values = platform.download(&out, &s)?;
    let untouched = values.wait_blocking()?.iter().all(|x| x.is_nan());
    check(untouched, || "a rejected launch has written".into())
}

fn seed_application(platform: &Platform) -> Result<(), Failed> {
    for (rows, cols) in [(1, 1), (1, 2), (1, 256), (3, 5), (7, 1023), (128, 257), (65, 3)] {
        let expected = seed_app::reference(rows, cols);
        for streams in [Streams::Pool, Streams::Default] {
            let mut app = HandWired::new(platform, rows, cols, streams)?;
            for _ in 0..3 {
                let sums = app.tick()?;
                let tolerance = seed_app::tolerance(cols);
                check_close(sums.wait_blocking()?, &expected, |x| tolerance * x)?;
            }
        }
    }
    Ok(())
}

/// Queues many ticks before the first result is read: recycled memory must not change the results of earlier
/// ticks.
fn ticks_in_flight(platform: &Platform) -> Result<(), Failed> {
    let (rows, cols) = (5, 301);
    let mut app = HandWired::new(platform, rows, cols, Streams::Pool)?;
    let downloads: Vec<_> = (0..20).map(|_| app.tick()).collect::<Result<_, Error>>()?;
    let expected = seed_app::reference(rows, cols);
    let tolerance = seed_app::tolerance(cols);
    for download in &downloads {
        check_close(download.wait_blocking()?, &expected, |x| tolerance * x)?;
    }
    Ok(())
}

fn chunks(platform: &Platform) -> Result<(), Failed> {
    for (rows, cols, chunks) in [(1, 1, 1), (7, 33, 3), (5, 257, 5)] {
        let mut image = Overlap::new(platform, rows, cols, chunks)?;
        image.on_several()?;
        image.check()?.map_err(|wrong| Failed::msg(format!("{rows}x{cols}: {wrong}")))?;
        // The control: the check has overwritten the values.
        check(image.check()?.is_err(), || "old values are right".into())?;
    }
    Ok(())
}

fn edges_of_random_images(platform: &Platform) -> Result<(), Failed> {
    let mut random = Random::new(2);
    for (width, height) in IMAGES {
        let rgb = random.bytes(3 * width as usize * height as usize);
        let image = Image { width, height, rgb };
        assert_edges(platform, &image, &edges::reference(&image))?;
    }
    Ok(())
}

fn edges_of_a_photograph(platform: &Platform) -> Result<(), Failed> {
    // The expected values are computed once, since that is slow without optimisation, and they are the same for
    // every seed.
    static EXPECTED: OnceLock<Vec<f64>> = OnceLock::new();
    let image = png_io::decode(Cursor::new(ASTRONAUT))?;
    assert_edges(platform, &image, EXPECTED.get_or_init(|| edges::reference(&image)))
}

fn assert_edges(platform: &Platform, image: &Image, expected: &[f64]) -> Result<(), Failed> {
    let (width, height) = (image.width, image.height);
    let mut pipeline = Edges::new(platform, image)?;
    // Two runs are in flight at once, and share only the photograph.
    for run in [pipeline.run()?, pipeline.run()?] {
        check_close(run.wait_blocking()?, expected, |_| edges::TOLERANCE)
            .map_err(|failed| Failed::msg(format!("{width}x{height}: {failed}")))?;
    }
    Ok(())
}
