//! The CUDA text of scans, compiled as C++ for the host by the module of the same name of reductions.

use streamflow::__private::{KernelInfo, ScanKernel, Scanned};
use streamflow::kernel::reductions::{ArgMax, Max, Mean, Sum};
use streamflow_tests::Failed;

use crate::reductions::compiled::{Case, run_all, run_mistakes};

const SCAN: &str = include_str!("../../../streamflow/src/kernel/cuda/scan.cuh");

fn info<K: ScanKernel>() -> &'static KernelInfo {
    Scanned::<K>::INFO
}

fn cases() -> Vec<Case> {
    let case = |name, test, kernels| Case { name, test, kernels, tree: SCAN, edit: None };
    let sum = || vec![info::<super::sum>()];
    let library =
        vec![info::<Sum<u8>>(), info::<Mean<u8>>(), info::<Max<i32>>(), info::<ArgMax<i32>>()];
    vec![
        case("lengths", super::some_lengths, sum()),
        case("few lengths", super::few_lengths, sum()),
        case("few columns", super::few_columns, sum()),
        case("axes", super::each_axis, sum()),
        case("strides", super::strides, sum()),
        case("order", super::order, vec![info::<super::last>()]),
        case("mapped", super::mapped, vec![info::<super::squares>()]),
        case("library", super::library, library),
        case("many tiles", super::many_tiles, vec![info::<Sum<u8>>()]),
    ]
}

pub(super) fn all() -> Result<Option<String>, Failed> {
    run_all(&cases())
}

pub(super) fn mistakes() -> Result<Option<String>, Failed> {
    let mistakes = [
        (
            "few lengths",
            "own[c] = op.combine(own[c - 1], own[c]);",
            "own[c] = op.combine(own[0], own[c]);",
        ),
        ("few lengths", "if (lane >= by) value", "if (lane > by) value"),
        ("few lengths", "if (lane == 0) before = op.identity();", ""),
        (
            "few lengths",
            "const int steps = sizeof(State) <= 4 ? 4",
            "const int steps = sizeof(State) <= 4 ? 2",
        ),
        (
            "few lengths",
            "if (other == warp) of_warps = all;",
            "if (other + 1 == warp) of_warps = all;",
        ),
        ("few lengths", "before[step] = op.combine(sum, before[step]);", ""),
        ("few lengths", "lane < of_group ? board", "lane <= of_group ? board"),
        ("many tiles", "super > 0 ? board", "super > 1 ? board"),
        ("few lengths", "lane < of_super ? board", "lane + 1 < of_super ? board"),
        (
            "few lengths",
            "if (writes_words && at + 4 <= length) {",
            "if (writes_words && at < length) {",
        ),
        ("few columns", "in[is_line ? (at + c) * of.stride[3]", "in[is_line ? (at + c)"),
        ("few columns", "before = op.combine(before, own[3]);", "before = own[3];"),
        ("strides", "offset(at + c, of.shape, of.stride)", "offset(at + c, of.shape, of.to)"),
        ("strides", "(at + c) * of.to[3]", "(at + c)"),
        ("order", "op.combine(other, value)", "op.combine(value, other)"),
        ("library", "at + c + 1);", "at + c);"),
    ];
    run_mistakes(cases, &mistakes)
}
