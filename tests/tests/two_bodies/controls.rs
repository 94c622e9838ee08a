//! Kernels whose two bodies differ on purpose: a GPU must show each difference. The Rust bodies are right.

use streamflow::prelude::*;
use streamflow::testing::{
    BodyDifference, BodyFailure, BodyProblem, Draw, KernelBody, KernelValues, Outcome, Tolerance,
    compare_bodies,
};
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::{REQUIRE, skipped};

/// The CUDA body does not write the last element.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i + 1 < out_len) out[i] = x[i] + 1.0f;
")]
fn leaves_one_out(out: &mut [f32], x: &[f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = x + 1.0);
}

/// The CUDA body is wrong from the second block on.
#[kernel(threads(128), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = x[threadIdx.x] + 1.0f;
")]
fn ignores_its_block(out: &mut [f32], x: &[f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = x + 1.0);
}

/// The CUDA body does not loop, although the kernel says so.
#[kernel(grid_stride, unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = x[i] + 1.0f;
")]
fn does_not_loop(out: &mut [f32], x: &[f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = x + 1.0);
}

/// The CUDA body adds another number, by 2 to the power of -18.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = x[i] + 1.000003814697265625f;
")]
fn adds_too_much(out: &mut [f32], x: &[f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = x + 1.0);
}

/// The CUDA body has a typing error.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = x[i] + onne;
")]
fn does_not_compile(out: &mut [f32], x: &[f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = x + 1.0);
}

fn input(draw: &mut Draw) -> (Grid, (Vec<f32>, Vec<f32>)) {
    let n = draw.len(0..=5000);
    (n.into(), (vec![f32::NAN; n], draw.values(n, 0.0..=1.0)))
}

fn one_thread(draw: &mut Draw) -> (Grid, (Vec<f32>, Vec<f32>)) {
    let (_, values) = input(draw);
    (Grid::blocks(values.0.len().min(1)).threads(1), values)
}

type Values = (Vec<f32>, Vec<f32>);

/// Returns the failure that a GPU shows, or why the test was skipped.
fn failure<K: KernelValues<Values = Values>>(
    tolerance: Tolerance,
    input: fn(&mut Draw) -> (Grid, Values),
) -> Result<Result<BodyFailure, String>, Failed> {
    match compare_bodies::<K>(tolerance, input) {
        Err(Error::Bodies(failure)) => Ok(Ok(*failure)),
        Err(other) => Err(other.into()),
        Ok(outcome @ Outcome::Skipped(_)) => Ok(Err(skipped(outcome).unwrap_or_default())),
        Ok(Outcome::Passed(tried)) => {
            Err(Failed::msg(format!("the bodies differ, and this was not found: {tried}")))
        }
    }
}

fn differs<K: KernelValues<Values = Values>>(
    suite: Suite,
    tolerance: Tolerance,
    input: fn(&mut Draw) -> (Grid, Values),
    is_right: fn(&BodyDifference) -> bool,
) -> Suite {
    let name = format!("control_{}", K::INFO.name);
    suite.optional(&name, REQUIRE, move || {
        let failure = match failure::<K>(tolerance, input)? {
            Ok(failure) => failure,
            Err(skipped) => return Ok(Some(skipped)),
        };
        let BodyProblem::Differ(difference) = &failure.problem else {
            return Err(Failed::msg(format!("another failure: {failure}")));
        };
        check_equal(difference.argument, "out")?;
        check(is_right(difference), || failure.to_string())?;
        Ok(None)
    })
}

pub(crate) fn add(suite: Suite) -> Suite {
    let close = Tolerance::relative(1e-6);
    let suite = differs::<leaves_one_out>(suite, close, input, |found| {
        found.index + 1 == found.len && found.count == 1 && found.cuda == "NaN"
    });
    let suite = differs::<ignores_its_block>(suite, close, input, |found| {
        found.index >= 128 && found.len == 129
    });
    let suite = differs::<does_not_loop>(suite, close, one_thread, |found| {
        (found.index, found.len, found.count) == (1, 2, 1)
    });
    let suite = differs::<adds_too_much>(suite, Tolerance::relative(1e-7), input, |found| {
        found.ulps.is_some_and(|ulps| (15..=33).contains(&ulps))
    });
    suite
        .optional("control_within_the_tolerance", REQUIRE, || {
            Ok(skipped(compare_bodies::<adds_too_much>(Tolerance::relative(1e-5), input)?))
        })
        .optional("control_does_not_compile", REQUIRE, move || {
            let failure = match failure::<does_not_compile>(close, input)? {
                Ok(failure) => failure,
                Err(skipped) => return Ok(Some(skipped)),
            };
            let text = failure.to_string();
            let by_cuda =
                matches!(failure.problem, BodyProblem::Failed { body: KernelBody::Cuda, .. });
            check(by_cuda && text.contains("onne") && text.contains("controls.rs"), || text)?;
            Ok(None)
        })
}
