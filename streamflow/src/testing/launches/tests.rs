#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod calls;

use super::*;
use crate::error::{BodyFailure, BodyProblem};
use crate::kernel;
use crate::kernel::Kernel;

/// data[i] = first + 2 * data[i]
#[kernel(requires(first.len() == data.len()), unsafe cuda = "")]
fn doubled(data: &mut [f32], first: &[f32], number: u32) {
    let _ = number;
    data.iter_mut().zip(first).for_each(|(data, first)| *data = first + 2.0 * *data);
}

/// As `doubled`, but of a grid of two dimensions.
#[kernel(requires(first.len() == data.len()), unsafe cuda = "")]
fn mistaken(data: &mut [f32], first: &[f32], number: u32) {
    let len = data.len() - data.len() / 8;
    doubled(&mut data[..len], &first[..len], number);
}

/// out[i] = table[at[i]]
#[kernel(partial, unsafe cuda = "")]
fn gathered(out: &mut [i32], table: &[i32], at: &[u32]) {
    out.iter_mut().zip(at).for_each(|(out, at)| *out = table[*at as usize]);
}

#[kernel(map)]
fn shifted(out: &mut i64, a: &i64, by: i64) {
    *out += *a / by;
}

fn launches(kernels: &[&str]) -> Vec<Recorded> {
    recorded().into_iter().filter(|launch| kernels.contains(&launch.info.name)).collect()
}

fn platforms() -> Result<[Platform; 2]> {
    Ok([Platform::host().build()?, Platform::host().seed(7).build()?])
}

/// The difference of launches and a body that is wrong.
fn difference(all: &[Recorded], cuda: &'static KernelInfo) -> (BodyFailure, BodyDifference) {
    let failed = compare(all, platforms, |_| cuda).unwrap_err();
    let Error::Bodies(failure) = failed else { panic!("{failed}") };
    let BodyProblem::Differ(difference) = &failure.problem else { panic!("{failure}") };
    (*failure.clone(), difference.clone())
}

#[test]
fn launches_are_repeated_with_other_values_on_both_platforms() {
    let platform = Platform::host().build().unwrap();
    let s = platform.default_stream(device(0)).unwrap();
    for n in [5, 70, 70, 300, 4, 6, 8] {
        let (mut data, first) = (
            platform.upload(&vec![0.0_f32; n]).unwrap(),
            platform.upload(&vec![0.0_f32; n]).unwrap(),
        );
        s.launch::<doubled>(n, (&mut data, &first, 3)).unwrap();
    }
    let all = launches(&["doubled"]);
    let sizes: Vec<u64> = all.iter().map(|launch| launch.memory[1].bytes / 4).collect();
    assert_eq!(sizes, [5, 70, 300, 4]);
    assert!(all.iter().all(|launch| launch.memory[0].is_written && !launch.memory[1].is_written));
    let equal = compare(&all, platforms, |info| info).unwrap();
    assert_eq!((equal.launches, &equal.kernels[..]), (4 * SEEDS.len(), &["doubled"][..]));
    assert_eq!(equal.to_string(), "compared 16 launches of `doubled`");
    let (failure, difference) = difference(&all, mistaken::INFO);
    // 5 and 70 less 5 / 8 and 70 / 8.
    assert_eq!((difference.argument, difference.index, difference.len), ("data", 62, 70));
    assert!(failure.launch.contains("`data` of 280 bytes"), "{}", failure.launch);
}

#[test]
fn a_body_that_random_values_do_not_suit_is_listed() {
    let platform = Platform::host().build().unwrap();
    let s = platform.default_stream(device(0)).unwrap();
    let mut out = platform.upload(&[0_i32; 100]).unwrap();
    let (table, at) =
        (platform.upload(&[5_i32; 2]).unwrap(), platform.upload(&[1_u32; 100]).unwrap());
    s.launch::<gathered>(100, (&mut out, &table, &at)).unwrap();
    let compared = compare(&launches(&["gathered"]), platforms, |info| info).unwrap();
    assert_eq!((compared.launches, compared.kernels.len()), (0, 0));
    let text = compared.to_string();
    assert!(text.contains("not compared: `gathered` (") && text.contains("len is 2"), "{text}");
}

#[test]
fn a_kernel_that_may_report_is_repeated_with_a_report_of_its_own() {
    let platform = Platform::host().build().unwrap();
    let s = platform.default_stream(device(0)).unwrap();
    let mut out = platform.upload(&[0_i64; 12]).unwrap().reshape([3, 4]).unwrap();
    let a = platform.upload(&[1_i64; 4]).unwrap();
    s.map::<shifted>((&mut out, &a, 2)).unwrap();
    let compared = compare(&launches(&["shifted"]), platforms, |info| info).unwrap();
    assert_eq!(compared.launches, SEEDS.len());
}

/// An operand is found by its address: here each has the name in CUDA of the other one.
#[test]
fn an_expression_is_repeated_with_its_operands_in_order() {
    let platform = Platform::host().build().unwrap();
    let s = platform.default_stream(device(0)).unwrap();
    let x1 = platform.upload(&[1.0_f64; 1000]).unwrap();
    let (x0, mut out) =
        (platform.upload(&[2.0_f32; 1000]).unwrap(), platform.upload(&[0.0_f32; 1000]).unwrap());
    s.evaluate(&mut out, crate::expr!(x1 as f32 + x0 * 3.0)).unwrap();
    let all = launches(&["x1 as f32 + x0 * 3.0"]);
    let bytes: Vec<_> = all[0].memory.iter().map(|memory| (memory.name, memory.bytes)).collect();
    assert_eq!(bytes, [("out", 4000), ("x0", 8000), ("x1", 4000)]);
    let compared = compare(&all, platforms, |info| info).unwrap();
    assert_eq!(compared.launches, SEEDS.len());
}

/// out[0] = 1
#[kernel(partial, unsafe cuda = "")]
fn mark(out: &mut [u8]) {
    out[0] = 1;
}

#[test]
fn a_launch_that_can_t_be_repeated_is_listed_with_the_reason() {
    let platform = Platform::host().build().unwrap();
    let s = platform.default_stream(device(0)).unwrap();
    let mut out = platform.buffer::<u8>((64 << 20) + 1, &s).unwrap();
    s.launch::<mark>(1, (&mut out,)).unwrap();
    let compared = compare(&launches(&["mark"]), platforms, |info| info).unwrap();
    assert_eq!(compared.launches, 0);
    let text = "not compared: `mark` (its arguments have more than 64 MiB)";
    assert!(compared.to_string().contains(text), "{compared}");
}
