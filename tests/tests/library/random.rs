//! Random numbers: consecutive calls, streams, refused calls, and statistics.

use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_math::random::{Philox, Real};
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::setup::{recorded, stream};
use streamflow_tests::{Failed, Suite, check, check_close, check_equal, check_error, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("random_calls_one_after_the_other_give_the_numbers_of_one_call", |platform| {
            consecutive::<f32>(platform)?;
            consecutive::<f64>(platform)
        })
        .both("random_numbers_do_not_depend_on_streams", streams)
        .both("a_random_call_comes_after_earlier_uses_of_its_memory", ordered)
        .both("a_random_call_is_one_launch", |platform| one_launch(platform.driver().clone()))
        .both("a_refused_random_call_gives_no_numbers", refused)
        .both("random_numbers_have_their_distribution", |platform| {
            bits(platform)?;
            distributed::<f32>(platform)?;
            distributed::<f64>(platform)
        })
        .cuda("random_numbers_past_2_to_the_32", past_32_bits)
}

/// Returns the values of a tensor that a call has filled.
fn made<T: Element>(
    (platform, s): (&Platform, &CudaStream),
    len: usize,
    fill: impl FnOnce(&mut Tensor<T>) -> Result<(), Error>,
) -> Result<Vec<T>> {
    let mut out = platform.tensor([len], s)?;
    fill(&mut out)?;
    Ok(s.download_blocking(&out)?)
}

fn consecutive<T: Real + From<f32>>(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let on = (platform, &s);
    let (mean, deviation) = (T::from(3.0), T::from(0.5));
    // The ends are next to the end of a round, so that the numbers continue in the next round.
    let ends = [262_130, 2 * 262_144 - 50];
    for start in ends.map(|end| Philox::<T>::new(7).at(1_000_002).skip(end)) {
        let lens = [1, 2, 0, 5, 300, 7, 4, 251];
        let total: usize = lens.iter().sum();
        let whole = made(on, total, |out| start.clone().uniform(&s, out))?;
        let normals = made(on, total, |out| start.clone().normal(&s, out, mean, deviation))?;
        let (first, mut uniform, mut normal, mut at) = (start.clone(), start.clone(), start, 0);
        for len in lens {
            let drawn = first.drawn() + at as u64;
            check_equal((uniform.drawn(), normal.drawn()), (drawn, drawn))?;
            let part = at..at + len;
            let skipped = uniform.clone();
            let found = made(on, len, |out| uniform.uniform(&s, out))?;
            check(found == whole[part.clone()], || format!("uniforms of {skipped:?}"))?;
            let found = made(on, len, |out| normal.normal(&s, out, mean, deviation))?;
            check(found == normals[part], || format!("normals of {skipped:?}"))?;
            at += len;
        }
        let found = made(on, 9, |out| first.skip(300).uniform(&s, out))?;
        check(found == whole[300..309], || "uniforms after a skip".into())?;
    }
    Ok(())
}

/// Checks calls on two streams that are made in another order than that of their numbers.
fn streams(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(2))?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let whole = made((platform, &a), 3000, |out| Philox::new(1).fill_u32(&a, out))?;
    let mut out = platform.tensor([3000], &a)?;
    for (at, s) in [(2000, &b), (0, &a), (1000, &b)] {
        let mut part = out.slice_mut(at..at + 1000).ok_or_else(|| Failed::msg("no such part"))?;
        Philox::new(1).skip(at as u64).fill_u32(s, &mut part)?;
    }
    check(a.download_blocking(&out)? == whole, || "other numbers on two streams".into())
}

fn ordered(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(2))?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let wanted: Vec<f32> = made((platform, &a), 1003, |out| Philox::new(5).uniform(&a, out))?;
    let mut out = platform.tensor([1003], &a)?;
    a.launch::<slow_fill>(1003, (&mut out, 9.0, 20_000_000))?;
    Philox::new(5).uniform(&b, &mut out)?;
    check(a.download_blocking(&out)? == wanted, || "the slow kernel wrote last".into())
}

fn one_launch(driver: std::sync::Arc<dyn streamflow::driver::Driver>) -> Result<(), Failed> {
    let (recorder, platform) = recorded(driver)?;
    let s = stream(&platform)?;
    let (mut x, mut y) = (platform.tensor::<f32>([77], &s)?, platform.tensor::<f64>([9], &s)?);
    let (mut narrow, mut wide) = (Philox::new(1), Philox::new(2));
    // Compiles the kernels before the calls are counted.
    narrow.uniform(&s, &mut x)?;
    wide.normal(&s, &mut y, 0.0, 1.0)?;
    recorder.clear();
    narrow.uniform(&s, &mut x)?;
    wide.normal(&s, &mut y, 0.0, 1.0)?;
    let calls = recorder.calls();
    check_equal(calls.len(), 2)?;
    check(calls.iter().all(|call| matches!(call, Call::Launch { .. })), || format!("{calls:?}"))
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = platform.tensor::<f32>([10], &s)?;
    let mut philox = Philox::new(3);
    for (mean, deviation) in [(0.0, -1.0), (f32::NAN, 1.0), (0.0, f32::INFINITY), (0.0, f32::NAN)] {
        let text =
            check_error("a normal", philox.normal(&s, &mut out, mean, deviation), |error| {
                matches!(error, Error::KernelRequirement { .. })
            })?;
        check_text(&text, &["normal_f32", "mean", &format!("deviation = {deviation}")])?;
    }
    let elsewhere = Platform::host().build()?;
    let mut foreign = elsewhere.tensor::<f32>([10], &stream(&elsewhere)?)?;
    check_error("memory of another platform", philox.uniform(&s, &mut foreign), |_| true)?;
    check_equal(philox.drawn(), 0)?;
    // With a deviation of 0, every number is the mean.
    philox.normal(&s, &mut out, 2.5, 0.0)?;
    check_equal(s.download_blocking(&out)?, vec![2.5; 10])?;
    check_equal(philox.drawn(), 10)
}

const MANY: usize = 50_000;

/// Checks that each of the 32 bits is set in half of the words, and that no word is like the one before.
fn bits(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for seed in [0, 1, u64::MAX] {
        let words = made((platform, &s), MANY, |out| Philox::new(seed).fill_u32(&s, out))?;
        for bit in 0..32 {
            let set = words.iter().filter(|word| *word >> bit & 1 == 1).count() as f64;
            let changes = words.windows(2).filter(|two| (two[0] ^ two[1]) >> bit & 1 == 1).count();
            for count in [set, changes as f64] {
                // The limit is 6 standard deviations.
                check((count / MANY as f64 - 0.5).abs() < 3.0 / (MANY as f64).sqrt(), || {
                    format!("seed {seed}, bit {bit}: {count} of {MANY}")
                })?;
            }
        }
    }
    Ok(())
}

/// Checks the moments, the share of each tenth of the range, and the correlation with later numbers.
fn distributed<T: Real + From<f32> + Into<f64>>(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut philox = Philox::<T>::new(2026);
    let n = MANY as f64;
    let wide = |values: Vec<T>| -> Vec<f64> { values.into_iter().map(Into::into).collect() };
    let mean = |f: &dyn Fn(f64) -> f64, of: &[f64]| of.iter().map(|x| f(*x)).sum::<f64>() / n;

    let uniforms = wide(made((platform, &s), MANY, |out| philox.uniform(&s, out))?);
    check(uniforms.iter().all(|x| *x > 0.0 && *x <= 1.0), || "beyond (0, 1]".into())?;
    let tenths = (0..10).map(|tenth| {
        let is_in = |x: f64| f64::from(u8::from((x * 10.0).ceil() as usize == tenth + 1));
        mean(&is_in, &uniforms)
    });
    // The limit is 6 standard deviations of a share of 0.1.
    check_close(&tenths.collect::<Vec<_>>(), &[0.1; 10], |_| 1.8 / n.sqrt())?;

    let (at, deviation) = (T::from(-4.0), T::from(2.0));
    let normals = wide(made((platform, &s), MANY, |out| philox.normal(&s, out, at, deviation))?);
    let standard: Vec<f64> = normals.iter().map(|x| (x + 4.0) / 2.0).collect();
    let moments = [1, 2, 3, 4].map(|power| mean(&|x| x.powi(power), &standard));
    check_close(&moments, &[0.0, 1.0, 0.0, 3.0], |_| 60.0 / n.sqrt())?;
    check_close(&moments[..2], &[0.0, 1.0], |_| 9.0 / n.sqrt())?;
    let within = mean(&|x| f64::from(u8::from(x.abs() < 1.0)), &standard);
    check_close(&[within], &[0.682_689_5], |_| 3.0 / n.sqrt())?;
    // Neighbouring numbers are the sine and the cosine of one angle, and must not be correlated either.
    for lag in [1, 2, 3, 4, 8] {
        let products: f64 = standard.iter().zip(&standard[lag..]).map(|(a, b)| a * b).sum();
        check((products / n).abs() < 6.0 / n.sqrt(), || format!("lag {lag}: {}", products / n))?;
    }
    Ok(())
}

/// Checks 16 GiB of words. The last words must be those that a short call at the same place gives.
fn past_32_bits(platform: &Platform) -> Result<(), Failed> {
    const LEN: usize = (1 << 32) + 11;
    let s = stream(platform)?;
    let mut all = platform.buffer::<u32>(LEN, &s)?;
    let mut philox = Philox::new(4);
    philox.fill_u32(&s, &mut all)?;
    check_equal(philox.drawn(), LEN as u64)?;
    for at in [0, (1 << 31) - 5, LEN - 11] {
        let mut part = platform.buffer::<u32>(11, &s)?;
        s.copy(&all.slice(at..at + 11).ok_or_else(|| Failed::msg("no such part"))?, &mut part)?;
        let short =
            made((platform, &s), 11, |out| Philox::new(4).skip(at as u64).fill_u32(&s, out))?;
        check_equal(s.download_blocking(&part)?, short)?;
    }
    Ok(())
}
