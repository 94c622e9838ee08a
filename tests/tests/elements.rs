//! Kernels for every element type, compared with a wider type, and with every shape of grid, on both platforms.
//! Outputs are filled with 0xFF bytes before the launch, which is NaN in each float type.

use std::fmt::Debug;

use streamflow::f16;
use streamflow::memory::{Bool8, Complex, bf16};
use streamflow::prelude::*;
use streamflow_tests::kernels::{
    RESULTS, add_one, axpy, complex_math, fill, more_scalars, reverse, scalars, select, spin,
    to_bf16, transpose,
};
use streamflow_tests::numbers::Number;
use streamflow_tests::random::Random;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_error};

/// Zero, sizes around a warp and a block, and larger sizes that are multiples of neither.
const SIZES: [usize; 8] = [0, 1, 31, 33, 255, 257, 1003, 10_007];

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("axpy_of_f16", axpy_is_near::<f16>)
        .both("axpy_of_bf16", axpy_is_near::<bf16>)
        .both("axpy_of_complex64", axpy_is_near::<Complex<f32>>)
        .both("axpy_of_complex128", axpy_is_near::<Complex<f64>>)
        .both("axpy_of_f32", axpy_is_near::<f32>)
        .both("axpy_of_f64", axpy_is_near::<f64>)
        .both("axpy_of_i8", axpy_is_near::<i8>)
        .both("axpy_of_i16", axpy_is_near::<i16>)
        .both("axpy_of_i32", axpy_is_near::<i32>)
        .both("axpy_of_i64", axpy_is_near::<i64>)
        .both("axpy_of_u8", axpy_is_near::<u8>)
        .both("axpy_of_u16", axpy_is_near::<u16>)
        .both("axpy_of_u32", axpy_is_near::<u32>)
        .both("axpy_of_u64", axpy_is_near::<u64>)
        .both("scalars_of_every_type_are_passed_exactly", scalars_arrive)
        .both("scalars_of_cuda_structs_are_passed_exactly", structs_arrive)
        .both("complex_arithmetic_is_near_num_complex_in_f64", complex_arithmetic)
        .both("bf16_is_rounded_to_even_and_keeps_a_nan", rounding_to_bf16)
        .both("every_byte_but_0_is_true", masks)
        .both("a_grid_of_two_dimensions_covers_each_element", two_dimensions)
        .both("dynamic_shared_memory_grows_and_shrinks", dynamic_shared_memory)
        .both("empty_tensors_and_grids_work", empty_tensors)
        .both("a_kernel_on_a_view_writes_only_the_view", views)
        .both("strided_views_are_an_error_for_kernels", strided_views)
}

fn poisoned<T: Element>(platform: &Platform, len: usize, s: &CudaStream) -> Result<Tensor<T>> {
    let mut tensor = platform.tensor([len], s)?;
    s.fill_bytes(&mut tensor, 0xFF)?;
    Ok(tensor)
}

fn check_values<T: PartialEq + Debug>(what: &str, found: &[T], wanted: &[T]) -> Result<(), Failed> {
    check(found.len() == wanted.len(), || format!("{what}: {} values", found.len()))?;
    let wrong = found.iter().zip(wanted).position(|(found, wanted)| found != wanted);
    wrong.map_or(Ok(()), |i| {
        Err(Failed::msg(format!("{what}: value {i} is {:?}, not {:?}", found[i], wanted[i])))
    })
}

fn axpy_is_near<T: Number>(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut random = Random::new(7);
    for n in SIZES {
        let a = T::factor(&mut random);
        let xs: Vec<T> = (0..n).map(|_| T::factor(&mut random)).collect();
        let ys: Vec<T> = (0..n).map(|_| T::term(&mut random)).collect();
        let (x, y) = (uploaded(platform, &xs, &s)?, uploaded(platform, &ys, &s)?);
        let mut out = poisoned(platform, n, &s)?;
        s.launch::<axpy<T>>(n, (&mut out, a, &x, &y))?;
        let found = platform.download(&out, &s)?;
        let found = found.wait_blocking()?;
        check(found.len() == n, || format!("{} values, not {n}", found.len()))?;
        for (i, ((&found, &x), &y)) in found.iter().zip(&xs).zip(&ys).enumerate() {
            let (off, tolerance) = T::error(found, a, x, y);
            // A NaN is never within the tolerance, so it fails here.
            check(off.abs() <= tolerance, || {
                format!("{n} values, {i}: {a} * {x} + {y} is not {found}: off by {off:e}")
            })?;
        }
    }
    Ok(())
}

fn scalars_arrive(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    // The limits of each type, and values whose bytes all differ.
    let half = f16::from_f32(-1.5);
    let low = (half, -1.25e-30_f32, -1.25e-300_f64);
    let high = (f16::MAX, f32::MAX, f64::MIN_POSITIVE);
    let ends = (i8::MIN, i16::MIN, i32::MIN, i64::MIN);
    let bytes = (0x12_i8, 0x1234_i16, 0x1234_5678_i32, 0x1234_5678_9abc_def0_i64);
    let most = (u8::MAX, u16::MAX, u32::MAX, u64::MAX, usize::MAX - 5);
    let some = (0xfe_u8, 0xfedc_u16, 0xfedc_ba98_u32, 0xfedc_ba98_7654_3210_u64, 0x8000_0001_usize);
    for (f, i, u) in [(low, ends, most), (high, bytes, some)] {
        let mut floats = poisoned(platform, 3, &s)?;
        let (mut ints, mut naturals) = (poisoned(platform, 4, &s)?, poisoned(platform, 5, &s)?);
        s.launch::<scalars>(
            1,
            (
                &mut floats,
                i.0,
                f.2,
                f.0,
                u.3,
                &mut ints,
                i.1,
                f.1,
                u.0,
                u.4,
                u.1,
                i.3,
                &mut naturals,
                i.2,
                u.2,
            ),
        )?;
        let wanted = [f.0.to_f64(), f64::from(f.1), f.2];
        check_values("floats", &s.download_blocking::<f64>(&floats)?, &wanted)?;
        let wanted = [i64::from(i.0), i64::from(i.1), i64::from(i.2), i.3];
        check_values("integers", &s.download_blocking::<i64>(&ints)?, &wanted)?;
        let wanted = [u64::from(u.0), u64::from(u.1), u64::from(u.2), u.3, u.4 as u64];
        check_values("naturals", &s.download_blocking::<u64>(&naturals)?, &wanted)?;
    }
    Ok(())
}

fn structs_arrive(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = poisoned(platform, 8, &s)?;
    let (z, w) = (Complex::new(1.5_f32, -2.25e-30), Complex::new(-1e300, 3.75));
    let (b, h) = (bf16::from_f32(-1.5e30), f16::from_f32(0.25));
    s.launch::<more_scalars>(1, (7, z, true.into(), w, b, &mut out, h))?;
    let (re, im) = (z.re.into(), z.im.into());
    let wanted = [re, im, w.re, w.im, b.to_f64(), 1.0, 7.0, 0.25];
    check_values("structs", &s.download_blocking::<f64>(&out)?, &wanted)
}

/// Checks each operation on complex numbers of `f32` and `f64` with the operations of the Rust type in `f64`.
fn complex_arithmetic(platform: &Platform) -> Result<(), Failed> {
    let mut random = Random::new(11);
    let mut part = || random.bits() as i64 as f64 / (1_u64 << 62) as f64;
    let mut numbers =
        |n: usize| (0..n).map(|_| Complex::new(part(), part())).collect::<Vec<Complex<f64>>>();
    // The last pair is equal, so that the comparison has both results.
    let (mut a, mut b) = (numbers(300), numbers(300));
    a.push(Complex::new(3.0, -4.0));
    b.push(Complex::new(3.0, -4.0));
    let singles = |from: &[Complex<f64>]| {
        let single = |z: &Complex<f64>| Complex::new(z.re as f32, z.im as f32);
        from.iter().map(single).collect::<Vec<Complex<f32>>>()
    };
    let wide = |z: &Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
    let (a32, b32) = (singles(&a), singles(&b));
    let s = stream(platform)?;
    let (x, y) = (uploaded(platform, &a32, &s)?, uploaded(platform, &b32, &s)?);
    let mut out = poisoned(platform, RESULTS * a.len(), &s)?;
    s.launch::<complex_math<Complex<f32>>>(a.len(), (&mut out, &x, &y, 1.25))?;
    let found: Vec<Complex<f64>> =
        s.download_blocking::<Complex<f32>>(&out)?.iter().map(wide).collect();
    let (a32, b32): (Vec<_>, Vec<_>) =
        (a32.iter().map(wide).collect(), b32.iter().map(wide).collect());
    check_complex("complex64", &found, (&a32, &b32), 1e-5)?;
    let (x, y) = (uploaded(platform, &a, &s)?, uploaded(platform, &b, &s)?);
    let mut out = poisoned(platform, RESULTS * a.len(), &s)?;
    s.launch::<complex_math<Complex<f64>>>(a.len(), (&mut out, &x, &y, 1.25))?;
    check_complex("complex128", &s.download_blocking(&out)?, (&a, &b), 1e-13)
}

fn check_complex(
    what: &str,
    found: &[Complex<f64>],
    (a, b): (&[Complex<f64>], &[Complex<f64>]),
    tolerance: f64,
) -> Result<(), Failed> {
    for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
        let wanted = [
            if x == y { Complex::new(50.0, 0.0) } else { x + y },
            x - y,
            x * y,
            x / y,
            Complex::new(x.re, y.im),
            Complex::new(-x.re, x.im),
            Complex::new(x.re.hypot(x.im), y.im.atan2(y.re)),
            Complex::from_polar(x.re.exp(), x.im),
            y,
            Complex::new(x.re * 1.25 + 2.0, x.im * 1.25),
            Complex::new(x.re * 1.25 - 0.5, x.im * 1.25),
            Complex::new((1.0 - x.re) / 2.0, -x.im / 2.0),
            Complex::new(1.25, 0.0) / y,
            ((y + x) * y - x) / y,
        ];
        let results = &found[RESULTS * i..RESULTS * (i + 1)];
        for (operation, (found, wanted)) in results.iter().zip(wanted).enumerate() {
            // The tolerance is relative to the sizes of the summands, since sums may be near 0.
            let size = 3.0 + wanted.norm() + (x.norm() + 1.0) * (1.0 + 1.0 / y.norm());
            check((found - wanted).norm() <= tolerance * size, || {
                format!("{what}: operation {operation} of {x} and {y} is {found}, not {wanted}")
            })?;
        }
    }
    Ok(())
}

/// Checks ties, the largest numbers, subnormal numbers, and NaNs with a sign and a payload.
fn rounding_to_bf16(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let cases: [(f32, u16); 12] = [
        (1.0, 0x3f80),
        (f32::from_bits(0x3f80_8000), 0x3f80),
        (f32::from_bits(0x3f81_8000), 0x3f82),
        (f32::from_bits(0x3f80_8001), 0x3f81),
        (f32::from_bits(0x3f80_7fff), 0x3f80),
        (f32::MAX, 0x7f80),
        (f32::NEG_INFINITY, 0xff80),
        (f32::from_bits(0x0000_8001), 0x0001),
        (-0.0, 0x8000),
        (f32::from_bits(0x7f80_0001), 0x7fc0),
        (f32::from_bits(0xffa5_1234), 0xffe5),
        (f32::from_bits(0xff7f_7fff), 0xff7f),
    ];
    let xs = cases.map(|(x, _)| x);
    // These doubles are not in the middle between two neighbours themselves, but round to a float that is.
    let mut ys = xs.map(f64::from);
    ys[1] = f64::from(xs[1]) + 1e-15;
    ys[2] = f64::from(xs[2]) - 1e-15;
    ys[9] = f64::NAN;
    ys[10] = -1e300;
    let (x, y) = (uploaded(platform, &xs, &s)?, uploaded(platform, &ys, &s)?);
    let (mut out, mut of_doubles) = (poisoned(platform, 12, &s)?, poisoned(platform, 12, &s)?);
    s.launch::<to_bf16>(12, (&mut out, &mut of_doubles, &x, &y))?;
    let bits = |found: Vec<bf16>| found.into_iter().map(bf16::to_bits).collect::<Vec<_>>();
    let mut wanted = cases.map(|(_, bits)| bits);
    check_values("floats", &bits(s.download_blocking(&out)?), &wanted)?;
    wanted[1] = 0x3f81;
    wanted[2] = 0x3f81;
    wanted[10] = 0xff80;
    check_values("doubles", &bits(s.download_blocking(&of_doubles)?), &wanted)
}

/// Checks a mask whose bytes another program has made, as an upload of bytes writes them.
fn masks(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for byte in [0_u8, 1, 2, 0x80, 0xff] {
        let mut mask: Tensor<Bool8> = platform.tensor([100], &s)?;
        s.fill_bytes(&mut mask, byte)?;
        let (mut out, mut differs) = (poisoned(platform, 100, &s)?, poisoned(platform, 100, &s)?);
        let (a, b) = (bf16::from_f32(1.0), bf16::from_f32(-2.0));
        s.launch::<select>(100, (&mut out, &mut differs, &mask, a, b, true.into()))?;
        let wanted = if byte == 0 { b } else { a };
        check_values("selected", &s.download_blocking(&out)?, &[wanted; 100])?;
        let truth = Bool8::from(byte == 0);
        check_values("differs", &s.download_blocking(&differs)?, &[truth; 100])?;
        let bytes = s.download_blocking(&mask)?;
        check(bytes.iter().all(|truth| truth.get() == (byte != 0)), || format!("{byte}"))?;
    }
    Ok(())
}

fn two_dimensions(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for (rows, cols) in [(1, 1), (1, 67), (67, 1), (33, 31), (45, 129)] {
        let matrix: Vec<i32> = (0..rows * cols).map(|i| 3 * i as i32 - 1000).collect();
        let input = uploaded(platform, &matrix, &s)?;
        let wanted: Vec<i32> =
            (0..rows * cols).map(|i| matrix[i % rows * cols + i / rows]).collect();
        let grids = [Grid::from([cols, rows]), Grid::elements([cols, rows]).threads([7, 5])];
        for grid in grids {
            let mut out = poisoned(platform, rows * cols, &s)?;
            s.launch::<transpose>(grid, (&mut out, &input, rows as u32, cols as u32))?;
            check_values(&format!("{rows}x{cols}"), &s.download_blocking(&out)?, &wanted)?;
        }
    }
    Ok(())
}

/// Checks sizes of dynamic shared memory. The largest exceeds the 48 KiB that a kernel may use without an
/// attribute.
fn dynamic_shared_memory(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let grid = |len: usize| Grid::blocks(1).threads(256).shared_bytes(4 * len);
    // The size grows and shrinks. The limit, once raised, must be neither lowered nor set again.
    for len in [1, 257, 12_000, 16_001, 33, 13_007, 16_001] {
        let values: Vec<u32> = (0..len as u32).map(|i| 7 * i + 1).collect();
        let input = uploaded(platform, &values, &s)?;
        let mut out = poisoned(platform, len, &s)?;
        s.launch::<reverse>(grid(len), (&mut out, &input))?;
        let wanted: Vec<u32> = values.iter().rev().copied().collect();
        check_values(&format!("{len}"), &s.download_blocking(&out)?, &wanted)?;
    }
    let input = uploaded(platform, &[5_u32; 3], &s)?;
    let mut out = poisoned::<u32>(platform, 3, &s)?;
    let refused = s.launch::<reverse>(grid(1 << 18), (&mut out, &input));
    let text = check_error("1 MiB", refused, |error| matches!(error, Error::Driver(_)))?;
    check(text.contains("`reverse`") && text.contains("1048576 bytes"), || {
        format!("1 MiB of shared memory is refused with: {text}")
    })?;
    check_values("refused", &s.download_blocking(&out)?, &[u32::MAX; 3])?;
    if platform.name() == "cuda" {
        // A body can query the size of its shared memory, so no grid makes it use more.
        s.launch::<reverse>(grid(0), (&mut out, &input))?;
        check_values("none at all", &s.download_blocking(&out)?, &[u32::MAX; 3])?;
    }
    s.launch::<reverse>(grid(3), (&mut out, &input))?;
    check_values("after that", &s.download_blocking(&out)?, &[5; 3])
}

fn empty_tensors(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut none = platform.tensor::<f32>([3, 0, 5], &s)?;
    check(none.is_empty() && none.shape() == [3, 0, 5], || format!("{none:?}"))?;
    s.upload_blocking(&[], &mut none)?;
    s.upload(&platform.pinned(device(0), 0)?, &mut none)?;
    s.fill_bytes(&mut none, 7)?;
    s.launch::<add_one>(0, (&mut none,))?;
    // This launch has threads, but the slice has no elements.
    s.launch::<add_one>(100, (&mut none,))?;
    let mut other = platform.buffer(0, &s)?;
    s.copy(&none, &mut other)?;
    check(s.download_blocking(&other)?.is_empty(), || "an empty tensor has values".into())?;
    let download = platform.download(&none, &s)?;
    check(download.shape() == [3, 0, 5], || format!("{:?}", download.shape()))?;
    check(download.wait_blocking()?.is_empty(), || "an empty tensor has values".into())?;
    // A grid without threads launches nothing, for any arguments that the kernel need not write.
    let mut some = uploaded(platform, &[1.0], &s)?;
    s.launch::<spin>(0, (&mut some, 0))?;
    s.launch::<spin>(Grid::blocks([0, 3]), (&mut some, 0))?;
    check_values("no grid", &s.download_blocking(&some)?, &[1.0])
}

/// Checks a kernel that writes only a part of a slice, and work that writes the two halves of a slice.
fn views(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let values: Vec<f32> = (0..1003).map(|i| i as f32).collect();
    let mut data = uploaded(platform, &values, &s)?;
    let outside = || Failed::msg("a part within the slice is an error");
    let mut part = data.slice_mut(301..602).ok_or_else(outside)?;
    s.launch::<add_one>(part.len(), (&mut part,))?;
    let wanted: Vec<f32> =
        (0..1003).map(|i| i as f32 + if (301..602).contains(&i) { 1.0 } else { 0.0 }).collect();
    check_values("a part", &s.download_blocking(&data)?, &wanted)?;
    let (mut left, mut right) = data.split_at_mut(501).ok_or_else(outside)?;
    s.upload_blocking(&values[..501], &mut left)?;
    s.launch::<fill>(right.len(), (&mut right, 4.0))?;
    let (left, right) = (&*left, &*right);
    check_values("left", &s.download_blocking(left)?, &values[..501])?;
    check_values("right", &s.download_blocking(right)?, &[4.0; 502])?;
    let refused = [(5, 4), (0, 1004), (1004, 1004), (usize::MAX, usize::MAX)];
    let given = refused.into_iter().find(|&(from, to)| data.slice(from..to).is_some());
    check(given.is_none() && data.slice(..=usize::MAX).is_none(), || {
        format!("{given:?} is accepted")
    })?;
    check(data.split_at_mut(1004).is_none(), || {
        "a split at 1004 of 1003 elements is accepted".into()
    })
}

fn strided_views(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let values: Vec<f32> = (0..35).map(|i| i as f32).collect();
    let matrix = uploaded(platform, &values, &s)?.reshape([5, 7])?;
    let outside = || Failed::msg("a part within the slice is an error");
    let mut out = poisoned(platform, 14, &s)?;
    let rows = matrix.view().slice(0, 2..4).ok_or_else(outside)?;
    let y = uploaded(platform, &[0.0; 14], &s)?;
    s.launch::<axpy<f32>>(14, (&mut out, 1.0, &*rows.as_contiguous()?, &y))?;
    check_values("rows", &s.download_blocking(&out)?, &values[14..28])?;
    let one = rows.slice(0, 1..2).and_then(|row| row.slice(1, 3..6)).ok_or_else(outside)?;
    let found = s.download_blocking(&*one.as_contiguous()?)?;
    check_values("part of a row", &found, &values[24..27])?;
    let none = matrix.view().slice(0, 5..5).ok_or_else(outside)?;
    check(none.as_contiguous()?.is_empty(), || "a view of no rows has values".into())?;
    let columns = matrix.view().slice(1, 0..6).ok_or_else(outside)?;
    for (what, view) in [("columns", columns), ("transposed", matrix.view().transpose())] {
        let refused = view.as_contiguous().map(|view| view.len());
        let text = check_error(what, refused, |error| matches!(error, Error::Strided { .. }))?;
        let (shape, strides) = (view.shape(), view.strides());
        check(text.contains(&format!("shape {shape:?} with strides {strides:?}")), || {
            text.clone()
        })?;
    }
    let missing = matrix.view().slice(2, 0..1).is_some() || matrix.view().slice(0, 4..6).is_some();
    check(!missing, || "a view outside of the tensor is accepted".into())
}
