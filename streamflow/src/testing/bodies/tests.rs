#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::kernel;
use crate::testing::KernelBody;
#[cfg(feature = "half")]
use crate::{Element, f16};

/// out[i] = a * x[i]
#[kernel(requires(out.len() == x.len()), unsafe cuda = "")]
fn scale(out: &mut [f32], a: f32, x: &[f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = a * x);
}

/// As `scale`, but of an odd number of values the last one is not written.
#[kernel(requires(out.len() == x.len()), unsafe cuda = "")]
fn scale_pairs(out: &mut [f32], a: f32, x: &[f32]) {
    for (out, x) in out.chunks_exact_mut(2).zip(x.chunks_exact(2)) {
        out.copy_from_slice(&[a * x[0], a * x[1]]);
    }
}

/// As `scale`, but rounds its results differently.
#[kernel(requires(out.len() == x.len()), unsafe cuda = "")]
fn scale_exactly(out: &mut [f32], a: f32, x: &[f32]) {
    out.iter_mut()
        .zip(x)
        .for_each(|(out, x)| *out = (f64::from(a) * f64::from(*x) * 1.000_000_1) as f32);
}

/// As `scale` for up to 64 elements. Panics for more.
#[kernel(unsafe cuda = "")]
fn fails(out: &mut [f32], a: f32, x: &[f32]) {
    assert!(out.len() < 65, "too many");
    scale(out, a, x);
}

fn draw(draw: &mut Draw) -> (Grid, (Vec<f32>, f32, Vec<f32>)) {
    let n = draw.len(0..=5000);
    (n.into(), (vec![f32::NAN; n], draw.value(1.0..=2.0), draw.values(n, 1.0..=2.0)))
}

/// Compares the Rust bodies of two kernels. The body of `C` takes the place of a CUDA body.
fn compared<R, C>(tolerance: Tolerance) -> Result<u64, Box<BodyFailure>>
where
    R: KernelValues<Values = (Vec<f32>, f32, Vec<f32>)>,
    C: KernelValues<Values = R::Values>,
{
    let [rust, cuda] = [1, 2].map(|seed| Platform::host().seed(seed).build().unwrap());
    compare::<R, C>(&rust, Some(&cuda), tolerance, draw).map_err(|error| match error {
        Error::Bodies(failure) => failure,
        other => panic!("{other}"),
    })
}

#[test]
fn equal_bodies_pass() {
    assert_eq!(compared::<scale, scale>(Tolerance::EXACT), Ok(CASES));
}

#[test]
fn a_value_that_one_body_leaves_out_is_reported() {
    let failure = *compared::<scale, scale_pairs>(Tolerance::relative(0.5)).unwrap_err();
    let BodyProblem::Differ(difference) = &failure.problem else { panic!("{failure}") };
    assert_eq!((difference.argument, difference.cuda.as_str()), ("out", "NaN"));
    assert_eq!((difference.count, difference.index), (1, difference.len - 1));
    assert_eq!(difference.len % 2, 1);
    assert_eq!(failure.replay, format!("STREAMFLOW_TEST_SEED={}", failure.seed));
    let text = Error::Bodies(Box::new(failure.clone())).to_string();
    let len = difference.len;
    for part in [
        "two bodies of kernel `scale` differ".to_owned(),
        format!("`out[{}]` is {} in Rust and NaN in CUDA", len - 1, difference.rust),
        format!("1 of {len} values differ by more than 5e-1 of the larger"),
        format!("a grid of {len} elements and `out` of {len} elements, `a` = 1."),
        failure.replay,
    ] {
        assert!(text.contains(&part), "no {part:?} in: {text}");
    }
}

#[test]
fn a_difference_within_the_tolerance_passes() {
    let compared = compared::<scale, scale_exactly>;
    assert_eq!(compared(Tolerance::ulps(3)), Ok(CASES));
    assert_eq!(compared(Tolerance::relative(1e-6)), Ok(CASES));
    let failure = compared(Tolerance::EXACT).unwrap_err();
    let BodyProblem::Differ(difference) = failure.problem else { panic!("{failure}") };
    assert!(difference.ulps.is_some_and(|ulps| (1..=3).contains(&ulps)), "{difference}");
}

#[test]
fn a_body_that_fails_is_named_with_the_case() {
    for (failure, body) in [
        (compared::<fails, scale>(Tolerance::EXACT), KernelBody::Rust),
        (compared::<scale, fails>(Tolerance::EXACT), KernelBody::Cuda),
    ] {
        let failure = failure.unwrap_err();
        let BodyProblem::Failed { body: failed, cause } = &failure.problem else {
            panic!("{failure}")
        };
        assert_eq!(*failed, body);
        assert!(cause.to_string().contains("too many"), "{cause}");
        assert!(failure.launch.contains("of 65 elements"), "{failure}");
        assert!(failure.to_string().contains(&format!("the {body} body of kernel")), "{failure}");
    }
}

#[test]
fn input_that_the_kernel_refuses_is_reported() {
    let host = Platform::host().build().unwrap();
    let refused = compare::<scale, scale>(&host, None, Tolerance::EXACT, |draw| {
        let n = draw.len(0..=100);
        (n.into(), (vec![0.0; n], 1.0, vec![0.0; n + 1]))
    });
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("out.len() == x.len()") && text.contains("STREAMFLOW_TEST_SEED=0"),
        "{text}"
    );
}

/// A kernel with scalars of every type, a slice that is only read, and two slices that are written.
#[cfg(feature = "half")]
#[kernel(partial, unsafe cuda = "")]
#[allow(clippy::too_many_arguments, reason = "one of each type")]
fn each_type<T: Element>(
    a: f16,
    b: f32,
    c: f64,
    d: i8,
    e: i16,
    f: i32,
    g: i64,
    h: u8,
    i: u16,
    j: u32,
    k: u64,
    l: usize,
    read: &[T],
    first: &mut [T],
    second: &mut [f64],
) {
    first.copy_from_slice(read);
    let all = [a.to_f64(), b.into(), c, d.into(), e.into(), f.into(), g as f64];
    second[..7].copy_from_slice(&all);
    let all = [h.into(), i.into(), j.into(), k as f64, l as f64];
    second[7..12].copy_from_slice(&all);
}

#[cfg(feature = "half")]
#[test]
fn scalars_of_every_type_and_several_slices_reach_the_kernel() {
    let host = Platform::host().build().unwrap();
    let one = f16::from_f32(1.0);
    let values =
        (one, 2.0, 3.0, 4, 5, 6, 7, 8, 9, 10, 11, 12, vec![13_u8, 14], vec![0, 0], vec![0.5; 13]);
    let written = run::<each_type<u8>>(&host, Grid::from(1), &values).unwrap();
    assert_eq!(written.12, [13, 14]);
    assert_eq!(written.13, [13, 14]);
    let expected: Vec<f64> = (1..=12).map(f64::from).chain([0.5]).collect();
    assert_eq!(written.14, expected);
    // The values that the caller passed are unchanged.
    assert_eq!((values.13.as_slice(), values.14[0]), ([0, 0].as_slice(), 0.5));
}
