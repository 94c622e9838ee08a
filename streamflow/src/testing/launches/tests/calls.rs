//! Reductions and scans, each with functions whose launches take the place of a wrong text in CUDA.

use super::*;
use crate::kernel::reduce::Described;
use crate::kernel::reductions::{ArgMax, ArgMin};
use crate::kernel::scan::Scanned;
use crate::{CudaStream, kernel_fn};

// Each test has functions of its own, so that it knows their launches.

#[kernel(reduce(identity = 0.0))]
fn total(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 0.0))]
fn nearly_total(a: f32, b: f32) -> f32 {
    a + b * 1.000_000_1
}

#[kernel(reduce(identity = 0.0))]
fn of_rows(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 1.0))]
fn product(a: f32, b: f32) -> f32 {
    a * b
}

#[kernel(reduce(identity = 1.0))]
fn nearly_product(a: f32, b: f32) -> f32 {
    a * (b * 1.000_000_1)
}

#[kernel(reduce(identity = 0.0, map = exp))]
fn of_exps(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 0.0, map = nearly_exp))]
fn of_nearly_exps(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 0.0, map = far_exp))]
fn of_far_exps(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel_fn]
fn exp(x: f32) -> f32 {
    x.exp()
}

#[kernel_fn]
fn nearly_exp(x: f32) -> f32 {
    x.exp() * 1.000_01
}

#[kernel_fn]
fn far_exp(x: f32) -> f32 {
    x.exp() * 1.001
}

#[kernel_fn]
fn inverse(x: i32) -> i32 {
    1000 / x
}

#[kernel(reduce(identity = 0, map = inverse))]
fn inverses(a: i32, b: i32) -> i32 {
    a + b
}

fn stream() -> (Platform, CudaStream) {
    let platform = Platform::host().build().unwrap();
    let stream = platform.default_stream(device(0)).unwrap();
    (platform, stream)
}

/// The calls of a function: those of reductions, or those of scans, whose parameters have other names.
fn of(info: &'static KernelInfo) -> Vec<Recorded> {
    let is_of =
        |launch: &Recorded| (launch.info.name, launch.info.params) == (info.name, info.params);
    recorded().into_iter().filter(is_of).collect()
}

/// How many launches are compared, if both sides have the same body.
fn compared(all: &[Recorded]) -> usize {
    compare(all, platforms, |info| info).unwrap().launches
}

/// The lengths have one tree each: of a thread, of a warp, of a block or tile, and of several.
#[test]
fn each_tree_is_repeated_and_the_last_bit_of_a_sum_is_noticed() {
    let (platform, s) = stream();
    for n in [5, 100, 5000, 20_000, 6, 101] {
        let a = platform.upload(&vec![1.0_f32; n]).unwrap();
        let mut sum = platform.upload(&[0.0_f32]).unwrap();
        let mut sums = platform.upload(&vec![0.0_f32; n]).unwrap();
        s.reduce::<total>(&mut sum, &a).unwrap();
        s.scan::<total>(&mut sums, &a).unwrap();
    }
    let bytes = |all: &[Recorded], at: usize| -> Vec<u64> {
        all.iter().map(|launch| launch.memory[at].bytes / 4).collect()
    };
    let (reductions, scans) = (of(Described::<total>::INFO), of(Scanned::<total>::INFO));
    assert_eq!((bytes(&reductions, 0), bytes(&reductions, 1)), (vec![1; 4], bytes(&scans, 0)));
    assert_eq!(bytes(&scans, 1), [5, 100, 5000, 20_000]);
    assert_eq!((compared(&reductions), compared(&scans)), (4 * SEEDS.len(), 4 * SEEDS.len()));
    for at in 0..4 {
        let one = std::slice::from_ref(&reductions[at]);
        let (failure, found) = difference(one, Described::<nearly_total>::INFO);
        assert_eq!((found.argument, found.index, found.len), ("out", 0, 1));
        assert!(found.ulps.is_some_and(|ulps| ulps > 0), "{failure}");
        let (failure, found) =
            difference(std::slice::from_ref(&scans[at]), Scanned::<nearly_total>::INFO);
        assert_eq!(found.argument, "out", "{failure}");
    }
    let (failure, _) = difference(&reductions[3..], Described::<nearly_total>::INFO);
    let text = "the launch had `out` of shape [1], `input` of shape [20000]; repeat it";
    assert!(failure.to_string().contains(text), "{failure}");
}

/// The parts have a state with two fields.
#[test]
fn parts_of_another_type_are_no_values_of_their_own() {
    let (platform, s) = stream();
    let a = platform.upload(&vec![1_u8; 20_000]).unwrap();
    let mut place = platform.upload(&[0_u64]).unwrap();
    s.reduce::<ArgMax<u8>>(&mut place, &a).unwrap();
    let all = of(Described::<ArgMax<u8>>::INFO);
    let types: Vec<_> = all[0].memory.iter().map(|of| (of.name, of.cuda, of.bytes)).collect();
    let wanted = [("out", "unsigned long long", 8), ("input", "unsigned char", 20_000)];
    assert_eq!((all.len(), types), (1, wanted.to_vec()));
    assert_eq!(compared(&all), SEEDS.len());
    let (_, found) = difference(&all, Described::<ArgMin<u8>>::INFO);
    assert_eq!((found.argument, found.len, found.ulps), ("out", 1, None));
}

#[test]
fn views_are_repeated_with_their_strides_along_their_axis() {
    let (platform, s) = stream();
    let a = platform.upload(&vec![1.0_f32; 30 * 40]).unwrap().reshape([30, 40]).unwrap();
    let mut out = platform.upload(&vec![0.0_f32; 41 * 30]).unwrap().reshape([41, 30]).unwrap();
    let input = a.view().transpose();
    let part = out.view_mut().slice(0, 1..41).unwrap();
    s.scan_axis::<of_rows>(part, input, 1).unwrap();
    let mut sums = platform.upload(&[0.0_f32; 40]).unwrap();
    s.reduce_axis::<of_rows>(&mut sums, a.view().transpose(), 1).unwrap();
    let (reductions, scans) = (of(Described::<of_rows>::INFO), of(Scanned::<of_rows>::INFO));
    assert_eq!((compared(&reductions), compared(&scans)), (SEEDS.len(), SEEDS.len()));
    let (failure, found) = difference(&scans, Scanned::<nearly_total>::INFO);
    assert_eq!((found.len, found.argument), (40 * 30, "out"));
    let text = "`out` of shape [40, 30], `input` of shape [40, 30] along axis 1";
    assert!(failure.launch.contains(text), "{failure}");
    let (_, found) = difference(&reductions, Described::<nearly_total>::INFO);
    assert_eq!(found.len, 40);
}

/// A product of small values is 0 on both sides.
#[test]
fn a_wrong_product_is_noticed_by_spread_values() {
    let (platform, s) = stream();
    let a = platform.upload(&vec![1.0_f32; 5000]).unwrap();
    let mut out = platform.upload(&[0.0_f32]).unwrap();
    s.reduce::<product>(&mut out, &a).unwrap();
    let all = of(Described::<product>::INFO);
    assert_eq!(compared(&all), SEEDS.len());
    let (failure, found) = difference(&all, Described::<nearly_product>::INFO);
    assert_eq!(failure.seed, 2, "{failure}");
    let value: f32 = found.rust.parse().unwrap();
    assert!(value.is_normal(), "{failure}");
}

#[test]
fn a_function_that_is_not_exact_may_round_otherwise() {
    let (platform, s) = stream();
    let a = platform.upload(&vec![1.0_f32; 1000]).unwrap();
    let mut out = platform.upload(&[0.0_f32]).unwrap();
    s.reduce::<of_exps>(&mut out, &a).unwrap();
    let all = of(Described::<of_exps>::INFO);
    let near = compare(&all, platforms, |_| Described::<of_nearly_exps>::INFO).unwrap();
    assert_eq!(near.launches, SEEDS.len());
    let (_, found) = difference(&all, Described::<of_far_exps>::INFO);
    assert!(found.tolerance.contains("1e-4"), "{}", found.tolerance);
}

/// Small values have a 0, and spread ones have none.
#[test]
fn values_that_a_function_reports_are_left_out() {
    let (platform, s) = stream();
    let a = platform.upload(&vec![1_i32; 500]).unwrap();
    let mut out = platform.upload(&[0_i32]).unwrap();
    s.reduce::<inverses>(&mut out, &a).unwrap();
    assert_eq!(compared(&of(Described::<inverses>::INFO)), 2);
}
