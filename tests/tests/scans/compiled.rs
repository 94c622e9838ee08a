//! The CUDA text of scans, compiled as C++ for the host by the module of the same name of reductions.

use streamflow::__private::{KernelInfo, ScanKernel, Scanned};
use streamflow::kernel::reductions::{ArgMax, Max, Mean, Min, Sum};
use streamflow_tests::Failed;

use crate::reductions::compiled::{Case, run_all, run_mistakes};

const SCAN: &str = include_str!("../../../streamflow/src/kernel/cuda/scan.cuh");

fn info<K: ScanKernel>() -> &'static KernelInfo {
    Scanned::<K>::INFO
}

fn cases() -> Vec<Case> {
    let case = |name, test, kernels| Case { name, test, kernels, tree: SCAN, edit: None };
    let sum = || vec![info::<super::sum>()];
    let library = vec![
        info::<Sum<u8>>(),
        info::<Mean<u8>>(),
        info::<Min<u8>>(),
        info::<Max<i32>>(),
        info::<ArgMax<i32>>(),
    ];
    vec![
        case("lengths", super::some_lengths, sum()),
        case("few lengths", super::few_lengths, sum()),
        case("few columns", super::few_columns, sum()),
        case("axes", super::each_axis, sum()),
        case("strides", super::strides, sum()),
        case("order", super::order, vec![info::<super::last>()]),
        case("mapped", super::mapped, vec![info::<super::squares>()]),
        case("two words", super::of_two_words, vec![info::<Sum<u64>>()]),
        case("library", super::library, library),
        case("groups", super::groups, sum()),
        case("repeated", super::repeated, vec![info::<super::repeated_squares_so_far>()]),
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
        ("few lengths", "if (lane == 0) before[step] = op.identity();", ""),
        ("few lengths", "return sizeof(State) <= 4 ? 8", "return sizeof(State) <= 4 ? 4"),
        (
            "few lengths",
            "if (other == warp) of_warps = of_block;",
            "if (other + 1 == warp) of_warps = of_block;",
        ),
        ("few lengths", "before[step] = op.combine(sum, before[step]);", ""),
        ("few lengths", "lane < of_group ? board", "lane <= of_group ? board"),
        (
            "groups",
            "is_last ? super > 0 : lane < of_super;",
            "is_last ? super > 0 : lane + 1 < of_super;",
        ),
        (
            "few lengths",
            "if (writes_words && by + 4 <= rest) {",
            "if (writes_words && by < rest) {",
        ),
        (
            "few lengths",
            "if (tiles > 1) {\n        if (warp == 0)",
            "if (tiles > 2) {\n        if (warp == 0)",
        ),
        ("few lengths", "out + at + by, four);", "out + at, four);"),
        ("two words", "(uint4*)at + part, word", "(uint4*)at, word"),
        ("strides", "row.reads_words && row.writes_words && (tile", "row.reads_words && (tile"),
        ("strides", "row.reads_words && row.writes_words && (tile", "row.writes_words && (tile"),
        ("two words", "(const uint4*)at + part", "(const uint4*)at"),
        ("few columns", "in[is_line ? (at + k) * s3", "in[is_line ? (at + k)"),
        ("few columns", "before = op.combine(before, own[3]);", "before = own[3];"),
        (
            "strides",
            "of.stride[1], of.stride[2], of.stride[3]);",
            "of.stride[2], of.stride[1], of.stride[3]);",
        ),
        ("strides", "out[is_line ? (at + k) * s3", "out[is_line ? (at + k)"),
        ("order", "op.combine(other[step], value[step])", "op.combine(value[step], other[step])"),
        ("library", "at + by + c + 1);", "at + by + c);"),
        ("repeated", "before[step] = op.combine(sum, before[step]);", ""),
        ("repeated", "lane < of_group ? board", "lane <= of_group ? board"),
    ];
    run_mistakes(cases, &mistakes)
}
