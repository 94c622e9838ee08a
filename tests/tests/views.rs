//! Strided views of tensors, dense or with padded rows, in kernels. Each element is checked by its data, and no
//! element beside a view may be written.

use streamflow::memory::{Complex, PitchedTensor, TensorView, bf16};
use streamflow::prelude::*;
use streamflow_tests::foreign::launch_unordered;
use streamflow_tests::kernels::{add_views, fill, number_view, scale_view};
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_races, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_kernel_reads_and_writes_views_in_any_order", any_order)
        .both("a_kernel_writes_only_the_elements_of_its_view", only_the_view)
        .both("views_of_three_dimensions_and_of_one", dimensions)
        .both("views_have_every_element_type", every_type)
        .both("rows_of_a_pitched_tensor_are_aligned_and_apart", pitched)
        .both("views_without_elements_are_launched", empty)
        .both("a_view_of_another_rank_or_shape_is_refused", refused)
        .both("a_grid_smaller_than_a_view_is_refused", grids)
        .both("two_halves_are_written_by_one_kernel", halves)
        .both("columns_that_nothing_orders_are_no_race", columns)
        .both("parts_of_three_dimensions_race_where_they_overlap", parts)
        .both("a_view_waits_for_the_work_on_its_memory", ordered)
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

fn none() -> Failed {
    Failed::msg("a part within the tensor is an error")
}

/// Returns the elements of a pitched tensor.
fn rows<T: Element>(tensor: &PitchedTensor<T>, s: &CudaStream) -> Result<Vec<T>, Error> {
    let rows = (0..tensor.row_count()).filter_map(|row| tensor.row(row));
    rows.map(|row| s.download_blocking::<T>(&row))
        .collect::<Result<Vec<_>, Error>>()
        .map(|all| all.concat())
}

/// Checks each combination of a whole view, a part and a transposed view, from dense and padded rows to dense and
/// padded rows.
fn any_order(platform: &Platform) -> Result<(), Failed> {
    type View<'a> = TensorView<'a, f32>;
    let s = stream(platform)?;
    let (height, width) = (13, 21);
    let matrix = uploaded(platform, &numbers(height * width), &s)?.reshape([height, width])?;
    let mut padded = platform.pitched_tensor([height, width], &s)?;
    s.launch::<scale_view<f32>>([width, height], (padded.view_mut(), matrix.view(), 1.0))?;
    check_equal(rows(&padded, &s)?, numbers(height * width))?;
    type Form = for<'a> fn(View<'a>) -> Option<View<'a>>;
    type Number = fn(usize, usize) -> usize;
    let forms: [(Form, [usize; 2], Number); 4] = [
        (|view| Some(view), [13, 21], |y, x| 21 * y + x),
        (|view| Some(view.transpose()), [21, 13], |y, x| 21 * x + y),
        (|view| view.slice(0, 2..9)?.slice(1, 3..7), [7, 4], |y, x| 21 * (y + 2) + x + 3),
        (
            |view| view.transpose().slice(0, 20..21)?.slice(1, 1..13),
            [1, 12],
            |_, x| 21 * (x + 1) + 20,
        ),
    ];
    for (form, [rows_of, cols_of], element) in forms {
        for source in [matrix.view(), padded.view()] {
            let wanted: Vec<f32> = (0..rows_of * cols_of)
                .map(|i| -2.0 * element(i / cols_of, i % cols_of) as f32)
                .collect();
            let mut dense = platform.tensor([rows_of, cols_of], &s)?;
            let view = form(source).ok_or_else(none)?;
            check_equal(view.shape(), &[rows_of, cols_of][..])?;
            let grid = [cols_of, rows_of];
            s.launch::<scale_view<f32>>(grid, (dense.view_mut(), view, -2.0))?;
            check_equal(s.download_blocking::<f32>(&dense)?, wanted.clone())?;
            let mut target = platform.pitched_tensor([cols_of, rows_of], &s)?;
            s.launch::<scale_view<f32>>(grid, (target.view_mut().transpose(), view, -2.0))?;
            let mut back = platform.tensor([rows_of, cols_of], &s)?;
            s.launch::<scale_view<f32>>(grid, (back.view_mut(), target.view().transpose(), 1.0))?;
            check_equal(s.download_blocking::<f32>(&back)?, wanted)?;
        }
    }
    Ok(())
}

fn only_the_view(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut matrix = uploaded(platform, &vec![7_u32; 10 * 12], &s)?.reshape([10, 12])?;
    let part = matrix.view_mut().slice(0, 3..8).and_then(|view| view.slice(1, 2..9));
    // The grid has fewer threads than the part has elements, so the kernel loops.
    s.launch::<number_view>(5, (part.ok_or_else(none)?, 100))?;
    let wanted: Vec<u32> = (0..120)
        .map(|i| match (i / 12, i % 12) {
            (y @ 3..8, x @ 2..9) => 100 + 7 * (y - 3) + x - 2,
            _ => 7,
        })
        .collect();
    check_equal(s.download_blocking::<u32>(&matrix)?, wanted)
}

fn dimensions(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let cube = uploaded(platform, &numbers(4 * 5 * 6), &s)?.reshape([4, 5, 6])?;
    // The part has the elements [1..3, 2..5, 4..6]. After it comes a column of a matrix.
    let part = cube
        .view()
        .slice(0, 1..3)
        .and_then(|it| it.slice(1, 2..5))
        .and_then(|it| it.slice(2, 4..6));
    let part = part.ok_or_else(none)?;
    let b = uploaded(platform, &[0.25_f32; 12], &s)?;
    let mut out = platform.pitched_tensor([2, 3, 2], &s)?;
    let mut lines = platform.tensor::<f32>([12, 3], &s)?;
    s.fill_bytes(&mut lines, 0)?;
    let lines_view = lines.view_mut().slice(1, 1..2).ok_or_else(none)?;
    let refused = s.launch::<add_views>(12, (out.view_mut(), lines_view, part, &b));
    // A column is a view of two dimensions, which this kernel refuses.
    check_error("a column", refused, |error| matches!(error, Error::KernelRequirement { .. }))?;
    let mut line = platform.tensor([12], &s)?;
    s.launch::<add_views>(12, (out.view_mut(), line.view_mut(), part, &b))?;
    let wanted: Vec<f32> = (0..12)
        .map(|i| (30 * (1 + i / 6) + 6 * (2 + i / 2 % 3) + 4 + i % 2) as f32 + 0.25)
        .collect();
    check_equal(rows(&out, &s)?, wanted)?;
    check_equal(s.download_blocking::<f32>(&line)?, vec![1.5; 12])
}

fn every_type(platform: &Platform) -> Result<(), Failed> {
    fn scaled<T: Element + std::ops::Mul<Output = T>>(
        platform: &Platform,
        values: [T; 6],
        factor: T,
    ) -> Result<(), Failed> {
        let s = stream(platform)?;
        let input = uploaded(platform, &values, &s)?.reshape([2, 3])?;
        let mut out = platform.pitched_tensor([3, 2], &s)?;
        s.launch::<scale_view<T>>([2, 3], (out.view_mut(), input.view().transpose(), factor))?;
        let wanted = [0, 3, 1, 4, 2, 5].map(|i| factor * values[i]);
        check_equal(rows(&out, &s)?, wanted.to_vec())
    }
    let values = [1.0_f32, -2.0, 3.0, 4.5, 0.0, 6.0];
    scaled(platform, values, 2.0)?;
    scaled(platform, values.map(bf16::from_f32), bf16::from_f32(-0.5))?;
    let complex = values.map(|x| Complex::new(f64::from(x), 1.0));
    scaled(platform, complex, Complex::new(0.0, 1.0))
}

fn pitched(platform: &Platform) -> Result<(), Failed> {
    const ALIGNMENT: usize = PitchedTensor::<u8>::ALIGNMENT;
    let s = stream(platform)?;
    for cols in [1, 511, 512, 513] {
        let mut bytes: PitchedTensor<u8> = platform.pitched_tensor([3, cols], &s)?;
        check_equal(bytes.pitch(), cols.next_multiple_of(ALIGNMENT))?;
        check_equal(bytes.strides()[..].to_vec(), vec![bytes.pitch(), 1])?;
        check_equal((bytes.shape(), bytes.len()), (&[3, cols][..], 3 * cols))?;
        // Each row gets its own content.
        for row in 0..3 {
            let mut target = bytes.row_mut(row).ok_or_else(none)?;
            check_equal(target.len(), cols)?;
            s.fill_bytes(&mut target, row as u8)?;
        }
        let wanted: Vec<u8> = (0..3 * cols).map(|i| (i / cols) as u8).collect();
        check_equal(rows(&bytes, &s)?, wanted)?;
        check(bytes.row(3).is_none(), || "a row beyond the last".into())?;
        // A view without padding is a slice, and a view with padding is not.
        let is_dense = cols == ALIGNMENT;
        check_equal(bytes.view().as_contiguous().is_ok(), is_dense)?;
    }
    let wide: PitchedTensor<Complex<f64>> = platform.pitched_tensor([2, 2, 33], &s)?;
    check_equal((wide.pitch(), wide.row_count()), (1024, 4))?;
    check_equal(wide.strides()[..].to_vec(), vec![128, 64, 1])?;
    let no_rows = platform.pitched_tensor::<f32>(&[][..], &s);
    check_error("no dimension", no_rows, |error| matches!(error, Error::Shape { .. }))?;
    let too_wide = platform.pitched_tensor::<f32>([1 << 57, 1], &s);
    check_error("too wide", too_wide, |error| matches!(error, Error::Shape { .. })).map(drop)
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for shape in [[0, 5], [5, 0], [0, 0]] {
        let (dense, mut padded) =
            (platform.tensor(shape, &s)?, platform.pitched_tensor::<f32>(shape, &s)?);
        let [height, width] = shape;
        s.launch::<scale_view<f32>>([width, height], (padded.view_mut(), dense.view(), 1.0))?;
        s.launch::<scale_view<f32>>([9, 9], (padded.view_mut(), dense.view(), 1.0))?;
        check_equal(rows(&padded, &s)?, vec![])?;
    }
    let matrix = uploaded(platform, &numbers(12), &s)?.reshape([3, 4])?;
    let nothing = matrix.view().slice(1, 4..4).ok_or_else(none)?;
    let mut out = platform.pitched_tensor([3, 0], &s)?;
    Ok(s.launch::<scale_view<f32>>([1, 3], (out.view_mut(), nothing, 1.0))?)
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let cube = uploaded(platform, &numbers(24), &s)?.reshape([2, 3, 4])?;
    let mut out = platform.tensor([2, 3], &s)?;
    let launched = s.launch::<scale_view<f32>>([3, 2], (out.view_mut(), cube.view(), 1.0));
    let text =
        check_error("a cube", launched, |error| matches!(error, Error::KernelRequirement { .. }))?;
    check_text(
        &text,
        &["`scale_view`", "`a.shape().len() == 2`", "out.shape() = [2, 3], a.shape() = [2, 3, 4]"],
    )?;
    let matrix = uploaded(platform, &numbers(6), &s)?.reshape([3, 2])?;
    let launched = s.launch::<scale_view<f32>>([3, 2], (out.view_mut(), matrix.view(), 1.0));
    let text =
        check_error("a shape", launched, |error| matches!(error, Error::KernelRequirement { .. }))?;
    check_text(&text, &["`out.shape() == a.shape()`"])
}

fn grids(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let matrix = uploaded(platform, &numbers(600), &s)?.reshape([20, 30])?;
    let mut out = platform.pitched_tensor([20, 30], &s)?;
    let launched = s.launch::<scale_view<f32>>([30, 19], (out.view_mut(), matrix.view(), 1.0));
    let text = check_error("a small grid", launched, |error| matches!(error, Error::Grid { .. }))?;
    check_text(&text, &["`out`", "570", "600", "pass only a smaller view"])?;
    let launched = s.launch::<number_view>(0, (platform.tensor([2, 2], &s)?.view_mut(), 1));
    check_error("an empty grid", launched, |error| matches!(error, Error::Grid { .. }))?;
    // A part of the same tensor needs only as many threads as the part has elements.
    let part = out.view_mut().slice(0, 0..19).ok_or_else(none)?;
    let from = matrix.view().slice(0, 0..19).ok_or_else(none)?;
    Ok(s.launch::<scale_view<f32>>([30, 19], (part, from, 1.0))?)
}

fn halves(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut both = uploaded(platform, &[0.0_f32; 24], &s)?.reshape([24, 1])?;
    let mut whole = both.view_mut();
    check(whole.reborrow().split_at(0, 25).is_none(), || "a split beyond the end".into())?;
    check(whole.reborrow().split_at(2, 0).is_none(), || "a split of no dimension".into())?;
    let (left, right) = whole.split_at(0, 12).ok_or_else(none)?;
    check_equal((left.len(), right.as_view().len()), (12, 12))?;
    let mut rest = platform.tensor([12, 1], &s)?;
    s.launch::<scale_view<f32>>([1, 12], (rest.view_mut(), right.as_view(), 1.0))?;
    let ones = uploaded(platform, &[1.0_f32; 24], &s)?.reshape([24, 1])?;
    let of_ones = ones.view().slice(0, 0..12).ok_or_else(none)?;
    s.launch::<scale_view<f32>>([1, 12], (left, of_ones, 5.0))?;
    s.launch::<scale_view<f32>>([1, 12], (right, of_ones, 6.0))?;
    let wanted: Vec<f32> = (0..24).map(|i| if i < 12 { 5.0 } else { 6.0 }).collect();
    check_equal(s.download_blocking::<f32>(&both)?, wanted)
}

/// Two streams write separate columns of one tensor, and nothing orders the two writes. The simulator's race
/// checker, under which each test runs, compares the rows of the columns, and not the range from the first to the
/// last element.
fn columns(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(2))?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let mut matrix = platform.tensor([64, 10], &a)?;
    a.fill_bytes(&mut matrix, 0xFF)?;
    b.wait(a.record()?)?;
    let (left, right) = matrix.view_mut().split_at(1, 4).ok_or_else(none)?;
    // Both launches come after the allocation, and the two views have no element in common.
    launch_unordered::<number_view>(&a, 256, (left, 0))?;
    launch_unordered::<number_view>(&b, 384, (right, 1000))?;
    let wanted: Vec<u32> = (0..640)
        .map(|i| match (i / 10, i % 10) {
            (y, x @ 0..4) => 4 * y + x,
            (y, x) => 1000 + 6 * y + x - 4,
        })
        .collect();
    check_equal(b.download_blocking::<u32>(&matrix)?, wanted)
}

/// Two streams write separate parts of a tensor of three dimensions, and nothing orders the two writes. In both
/// outer dimensions, the rows of one part lie between those of the other. The control: parts with an element in
/// common are reported.
fn parts(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(2))?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let zeros = uploaded(platform, &[0.0; 8], &a)?.reshape([2, 2, 2])?;
    let values = [uploaded(platform, &[1.0; 8], &a)?, uploaded(platform, &[2.0; 8], &a)?];
    let mut lines = [platform.tensor([8], &a)?, platform.tensor([8], &a)?];
    let mut cube = platform.tensor([2, 3, 4], &a)?;
    a.fill_bytes(&mut cube, 0)?;
    b.wait(a.record()?)?;
    let [of_a, of_b] = &mut lines;
    let corner = cube.view_mut().slice(1, 0..2).ok_or_else(none)?;
    let (left, right) = corner.split_at(2, 2).ok_or_else(none)?;
    launch_unordered::<add_views>(&a, 8, (left, of_a.view_mut(), zeros.view(), &values[0]))?;
    launch_unordered::<add_views>(&b, 8, (right, of_b.view_mut(), zeros.view(), &values[1]))?;
    let wanted: Vec<f32> = (0..24)
        .map(|i| match (i / 4 % 3, i % 4) {
            (2, _) => 0.0,
            (_, 0..2) => 1.0,
            _ => 2.0,
        })
        .collect();
    check_equal(b.download_blocking::<f32>(&cube)?, wanted)?;
    check_races(platform)?;

    let overlapping = cube.view_mut().slice(1, 1..3).and_then(|part| part.slice(2, 1..3));
    let (part, line) = (overlapping.ok_or_else(none)?, of_a.view_mut());
    launch_unordered::<add_views>(&a, 8, (part, line, zeros.view(), &values[0]))?;
    let other = cube.view_mut().slice(1, 0..2).and_then(|part| part.slice(2, 0..2));
    let (part, line) = (other.ok_or_else(none)?, of_b.view_mut());
    launch_unordered::<add_views>(&b, 8, (part, line, zeros.view(), &values[1]))?;
    let races = platform.take_races();
    check(!platform.is_race_checked() || races.races.len() == 1, || format!("{races}"))
}

/// Checks views of one tensor on separate streams: each launch waits for the earlier accesses to the elements
/// that it reads or overwrites.
fn ordered(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(3))?;
    let (a, b, c) = (pool.allocate("a")?, pool.allocate("b")?, pool.allocate("c")?);
    let mut flat = platform.tensor([12], &a)?;
    let mut padded = platform.pitched_tensor([4, 3], &b)?;
    for round in 0..5 {
        let value = round as f32;
        a.launch::<fill>(12, (&mut flat, value))?;
        let matrix = flat.reshape([3, 4])?;
        b.launch::<scale_view<f32>>([3, 4], (padded.view_mut(), matrix.view().transpose(), 2.0))?;
        let mut out = platform.tensor([4, 3], &c)?;
        c.launch::<scale_view<f32>>([3, 4], (out.view_mut(), padded.view(), 3.0))?;
        check_equal(a.download_blocking::<f32>(&out)?, vec![6.0 * value; 12])?;
        flat = matrix.reshape([12])?;
    }
    Ok(())
}
