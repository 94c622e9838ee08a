//! The types of kernels with one body: casts to any name of a type, type parameters, and structs by value.

use streamflow::__private::{KernelInfo, kernels};
use streamflow::kernel::{Float, Number};
use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_equal, kernels_without_warnings};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_cast_has_any_name_of_a_type", casts)
        .both("each_instance_has_its_own_types", instances)
        .both("an_instance_is_inferred_from_the_arguments", inferred)
        .both("an_instance_goes_through_any_strides", strided)
        .plain("instances_that_are_launched_are_in_the_list", listed)
        .both("a_struct_is_passed_field_by_field", structs)
        .both("values_are_passed_in_any_order", values)
        .optional(
            "no_kernel_has_a_warning_of_the_compiler",
            "STREAMFLOW_REQUIRE_NVRTC",
            kernels_without_warnings,
        )
}

type Sample = f32;

trait Format {
    type Word;
    const BIAS: i16;
}

struct Narrow;

impl Format for Narrow {
    type Word = i8;
    const BIAS: i16 = 3;
}

mod shadowed {
    #![allow(non_camel_case_types, reason = "a name that hides one of Rust's")]
    use streamflow::kernel;

    type u16 = f32;

    #[kernel(map)]
    pub(super) fn halved(out: &mut f32, a: &i32) {
        *out = *a as u16 / 2 as u16;
    }
}

#[kernel(map)]
fn cast(out: &mut i16, ratio: &mut f32, a: &f32) {
    *out = (*a as <Narrow as Format>::Word) as i16 + Narrow::BIAS;
    *ratio = *out as Sample / 4 as Sample;
}

fn casts(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[1.75_f32, -1000.0, 300.0, f32::NAN], &s)?;
    let mut out = uploaded(platform, &[99_i16; 4], &s)?;
    let mut ratio = uploaded(platform, &[f32::NAN; 4], &s)?;
    s.map::<cast>((&mut out, &mut ratio, &a))?;
    check_equal(s.download_blocking(&out)?, vec![4, -125, 130, 3])?;
    check_equal(s.download_blocking(&ratio)?, vec![1.0, -31.25, 32.5, 0.75])?;
    let a = uploaded(platform, &[3, -5, 70_001], &s)?;
    let mut out = uploaded(platform, &[f32::NAN; 3], &s)?;
    s.map::<shadowed::halved>((&mut out, &a))?;
    check_equal(s.download_blocking(&out)?, vec![1.5, -2.5, 35_000.5])
}

#[kernel_fn]
fn lerp<T: Float>(a: T, b: T, t: T) -> T {
    a + (b - a) * t
}

/// A mean with a weight of `N` for the first.
#[kernel_fn]
fn weighted<T: Number, const N: usize>(a: T, b: T) -> T {
    let mut sum = b;
    for _ in 0..N {
        sum += a;
    }
    sum / (N + 1) as T
}

#[kernel(map)]
fn scale<T: Number>(out: &mut T, a: &T, factor: T) {
    *out = *a * factor;
}

#[kernel(map)]
fn mixed<T: Number, const N: usize>(out: &mut T, a: &T, b: &f32) {
    *out = weighted::<T, N>(*a, lerp(*b as f64, 100.0, 0.5) as T) + weighted::<_, 0>(0_u8, 1) as T;
}

fn instances(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let b = uploaded(platform, &[0.0_f32, 50.0], &s)?;
    let a = uploaded(platform, &[10_u8, 200], &s)?;
    let mut out = uploaded(platform, &[7_u8; 2], &s)?;
    s.map::<mixed<u8, 1>>((&mut out, &a, &b))?;
    // 200 + 75 is 19.
    check_equal(s.download_blocking(&out)?, vec![31, 10])?;
    s.map::<mixed<u8, 2>>((&mut out, &a, &b))?;
    // 75 + 200 + 200 is 219.
    check_equal(s.download_blocking(&out)?, vec![24, 74])?;
    let a = uploaded(platform, &[10.5_f64, 200.0], &s)?;
    let mut out = uploaded(platform, &[f64::NAN; 2], &s)?;
    s.map::<mixed<f64, 1>>((&mut out, &a, &b))?;
    check_equal(s.download_blocking(&out)?, vec![31.25, 138.5])
}

fn inferred(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[1.5_f32, -2.0], &s)?;
    let mut out = uploaded(platform, &[f32::NAN; 2], &s)?;
    s.map::<scale<_>>((&mut out, &a, 2.0))?;
    check_equal(s.download_blocking(&out)?, vec![3.0, -4.0])?;
    let a = uploaded(platform, &[1_i64 << 40, -3], &s)?;
    let mut out = uploaded(platform, &[0_i64; 2], &s)?;
    s.map::<scale<_>>((&mut out, &a, 5))?;
    check_equal(s.download_blocking(&out)?, vec![5 << 40, -15])
}

fn strided(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a: Vec<u16> = (0..12).collect();
    let a = uploaded(platform, &a, &s)?.reshape([3, 4])?;
    let mut out = uploaded(platform, &[9_u16; 12], &s)?.reshape([4, 3])?;
    s.map::<scale<u16>>((&mut out, a.view().transpose(), 10_000))?;
    let wanted = (0..12_u16).map(|i| (i % 3 * 4 + i / 3).wrapping_mul(10_000));
    check_equal(s.download_blocking(&out)?, wanted.collect())
}

/// A launch that never runs.
#[expect(dead_code, reason = "no code of the program launches this instance")]
fn uncalled(s: &CudaStream, out: &mut Tensor<i8>, a: &Tensor<i8>) -> Result<()> {
    Ok(s.map::<scale<i8>>((out, a, 2))?)
}

fn listed() -> Result<(), Failed> {
    let all = kernels();
    let instances = |name: &str| {
        let of = all.iter().filter(|kernel| kernel.name == name && kernel.file == file!());
        let infos: Vec<Option<KernelInfo>> = of.map(|kernel| kernel.info).collect();
        infos
    };
    let types = instances("scale").into_iter().flatten().map(|info| info.generics);
    let mut types: Vec<_> =
        types.flatten().map(|(name, cuda)| format!("{name} = {cuda}")).collect();
    types.sort_unstable();
    // Each instance has its code for slices and two for strides. The compiler makes no code of a function that nothing calls.
    let wanted = ["float", "long long", "unsigned short"].map(|ty| vec![format!("T = {ty}"); 3]);
    check_equal(types, wanted.concat())?;
    check(instances("mixed").len() == 9, || format!("{:?}", instances("mixed").len()))
}

/// Fields of several sizes, in an order with gaps.
#[derive(Debug, Clone, Copy, KernelArg)]
struct Lens {
    channel: u8,
    focus: f32,
    is_wide: bool,
    distortion: [f64; 3],
    center: Center,
    gain: i16,
}

#[derive(Debug, Clone, Copy, KernelArg)]
struct Center {
    x: f32,
    y: i64,
}

const LENS: Lens = Lens {
    channel: 200,
    focus: 0.5,
    is_wide: true,
    distortion: [1.0e-3, -2.0e100, 3.0],
    center: Center { x: -8.25, y: -1 << 50 },
    gain: -321,
};

#[kernel_fn]
fn shifted(center: Center, by: f32) -> Center {
    let mut moved = center;
    moved.x += by;
    moved
}

#[kernel(map)]
fn fields(out: &mut f64, lens: Lens, #[at] i: usize) {
    *out = match i {
        0 => lens.channel as f64,
        1 => lens.focus as f64,
        2 => lens.is_wide as u8 as f64,
        6 => lens.center.x as f64,
        7 => lens.center.y as f64,
        8 => lens.gain as f64,
        9 => shifted(lens.center, 0.25).x as f64,
        10 => lens.distortion.len() as f64,
        i => lens.distortion[i - 3],
    };
}

fn structs(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[f64::NAN; 11], &s)?;
    s.map::<fields>((&mut out, LENS))?;
    let y = -((1_i64 << 50) as f64);
    let wanted = vec![200.0, 0.5, 1.0, 1.0e-3, -2.0e100, 3.0, -8.25, y, -321.0, -8.0, 3.0];
    check_equal(s.download_blocking(&out)?, wanted)
}

#[kernel(map)]
fn ordered(
    before: f32,
    out: &mut f32,
    center: Center,
    flag: bool,
    a: &f32,
    weights: [f32; 5],
    lens: Lens,
    after: u8,
) {
    let sum = before + center.x * 10.0 + lens.focus * 100.0 + after as f32 * 1000.0 + weights[4];
    *out = if flag { sum + *a } else { -1.0 };
}

fn values(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[0.25_f32, 0.5], &s)?;
    let weights = [0.0, 0.0, 0.0, 0.0, 20_000.0];
    let center = Center { x: 2.0, y: 0 };
    for (flag, wanted) in [(true, [27_071.25, 27_071.5]), (false, [-1.0, -1.0])] {
        let mut out = uploaded(platform, &[f32::NAN; 2], &s)?;
        s.map::<ordered>((1.0, &mut out, center, flag, &a, weights, LENS, 7))?;
        check_equal(s.download_blocking(&out)?, wanted.to_vec())?;
        // The code for strides has the same values.
        let mut square = uploaded(platform, &[f32::NAN; 4], &s)?.reshape([2, 2])?;
        s.map::<ordered>((1.0, &mut square, center, flag, &a, weights, LENS, 7))?;
        check_equal(s.download_blocking(&square)?, [wanted, wanted].concat())?;
    }
    Ok(())
}
