//! Copies of views with gaps: uploads, downloads and copies of pitched tensors and of parts of tensors. Each element is in
//! its place, and nothing beside the view is written.

use std::sync::Arc;

use streamflow::memory::{
    Complex, CopySource, CopyTarget, PitchedTensor, TensorView, TensorViewMut,
};
use streamflow::prelude::*;
use streamflow_tests::kernels::{fill, scale_view, slow_fill};
use streamflow_tests::layers::ShortRows;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("rows_are_copied_between_all_forms_of_memory", |platform| {
            let shapes = [[1, 1, 1], [3, 4, 5], [2, 1, 7], [4, 3, 1], [0, 3, 2], [2, 3, 0]];
            shapes.iter().try_for_each(|shape| between_forms(platform, *shape))
        })
        .control("rows_are_copied_between_all_forms_of_memory", |driver| {
            let platform = Platform::builder().driver(Arc::new(ShortRows::new(driver)))?;
            Ok(between_forms(&platform, [2, 3, 4]).is_ok())
        })
        .both("a_picture_is_cropped_and_put_into_another", crop)
        .both("rows_have_every_element_size", sizes)
        .both("a_kernel_reads_rows_that_copies_have_written", read_by_a_kernel)
        .both("a_pitched_tensor_is_filled_at_once", filled)
        .both("a_copy_of_another_shape_or_of_rows_with_gaps_is_refused", refused)
        .both("memory_behind_pointers_is_copied", pointers)
        .ordered("a_copy_of_rows_waits_for_the_work_on_its_memory", ordered)
}

fn none() -> Failed {
    Failed::msg("a part within the tensor is an error")
}

/// The value of the elements beside the view, which no copy may write.
const BESIDE: u32 = 0xABAB_ABAB;

/// A tensor of which the view is a part.
enum Form {
    Dense(Tensor<u32>),
    Pitched(PitchedTensor<u32>),
}

struct Place {
    form: Form,
    shape: [usize; 3],
    /// How many elements of each dimension are before the part, and how many are after it.
    margin: usize,
}

impl Place {
    fn new(
        platform: &Platform,
        s: &CudaStream,
        shape: [usize; 3],
        pitched: bool,
        margin: usize,
    ) -> Result<Self, Error> {
        let whole = shape.map(|len| len + 2 * margin);
        let form = if pitched {
            let mut tensor = platform.pitched_tensor(whole, s)?;
            s.fill_bytes(&mut tensor, BESIDE as u8)?;
            Form::Pitched(tensor)
        } else {
            let mut tensor = platform.tensor(whole, s)?;
            s.fill_bytes(&mut tensor, BESIDE as u8)?;
            Form::Dense(tensor)
        };
        Ok(Self { form, shape, margin })
    }

    fn range(&self, dimension: usize) -> std::ops::Range<usize> {
        self.margin..self.margin + self.shape[dimension]
    }

    fn view(&self) -> Result<TensorView<'_, u32>, Failed> {
        let whole = match &self.form {
            Form::Dense(tensor) => tensor.view(),
            Form::Pitched(tensor) => tensor.view(),
        };
        (0..3).try_fold(whole, |view, i| view.slice(i, self.range(i))).ok_or_else(none)
    }

    fn view_mut(&mut self) -> Result<TensorViewMut<'_, u32>, Failed> {
        let ranges = [0, 1, 2].map(|i| self.range(i));
        let whole = match &mut self.form {
            Form::Dense(tensor) => tensor.view_mut(),
            Form::Pitched(tensor) => tensor.view_mut(),
        };
        let mut parts = ranges.into_iter().enumerate();
        parts.try_fold(whole, |view, (i, range)| view.slice(i, range)).ok_or_else(none)
    }

    /// Checks all elements: those of the part must be consecutive numbers from `first` on, and those beside it must
    /// be unchanged.
    fn check(&self, s: &CudaStream, first: u32) -> Result<(), Failed> {
        let whole = match &self.form {
            Form::Dense(tensor) => s.download_blocking::<u32>(tensor)?,
            Form::Pitched(tensor) => s.download_blocking::<u32>(tensor)?,
        };
        let [_, b, c] = self.shape.map(|len| len + 2 * self.margin);
        let [_, rows, cols] = self.shape;
        let wanted: Vec<u32> = (0..whole.len())
            .map(|at| {
                let (x, y, z) = (at / (b * c), at / c % b, at % c);
                let within = self.range(0).contains(&x)
                    && self.range(1).contains(&y)
                    && self.range(2).contains(&z);
                if !within {
                    return BESIDE;
                }
                let [x, y, z] = [x, y, z].map(|at| at - self.margin);
                first + ((x * rows + y) * cols + z) as u32
            })
            .collect();
        check_equal(whole, wanted)
    }
}

/// Checks every pair of dense and pitched tensors, as a whole and as a part, with every kind of upload and
/// download.
fn between_forms(platform: &Platform, shape: [usize; 3]) -> Result<(), Failed> {
    let s = stream(platform)?;
    let len = shape.iter().product();
    let forms = [(false, 0), (true, 0), (false, 2), (true, 1)];
    for (from_pitched, from_margin) in forms {
        for (to_pitched, to_margin) in forms {
            let mut source = Place::new(platform, &s, shape, from_pitched, from_margin)?;
            let mut target = Place::new(platform, &s, shape, to_pitched, to_margin)?;
            let values: Vec<u32> = (1..=len as u32).collect();
            s.upload_blocking(&values, &mut source.view_mut()?)?;
            source.check(&s, 1)?;
            s.copy(&source.view()?, &mut target.view_mut()?)?;
            target.check(&s, 1)?;
            check_equal(s.download_blocking(&target.view()?)?, values.clone())?;
            let later: Vec<u32> = (100..100 + len as u32).collect();
            let mut pinned = platform.pinned(device(0), len)?;
            pinned.as_mut_slice_blocking()?.copy_from_slice(&later);
            s.upload(&pinned, &mut target.view_mut()?)?;
            target.check(&s, 100)?;
            let download = s.download(&target.view()?)?;
            check_equal(download.shape(), &shape[..])?;
            check_equal(download.wait_blocking()?, &later[..])?;
            s.download_into(&source.view()?, &mut pinned)?;
            check_equal(pinned.as_slice_blocking()?, &values[..])?;
        }
    }
    Ok(())
}

/// Checks that a part of a padded picture can become a picture of its own, and can be put into another picture.
fn crop(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let pixels: Vec<u8> = (0..20 * 30 * 3).map(|i| (i % 251) as u8).collect();
    let mut picture = platform.pitched_tensor([20, 30, 3], &s)?;
    s.upload_blocking(&pixels, &mut picture)?;
    let part = picture.view().slice(0, 4..9).and_then(|view| view.slice(1, 10..22));
    let part = part.ok_or_else(none)?;
    let mut small = platform.tensor([5, 12, 3], &s)?;
    s.copy(&part, &mut small)?;
    let pixel = |y: usize, x: usize, channel| pixels[(y * 30 + x) * 3 + channel];
    let wanted: Vec<u8> = (0..180).map(|i| pixel(4 + i / 36, 10 + i / 3 % 12, i % 3)).collect();
    check_equal(s.download_blocking::<u8>(&small)?, wanted.clone())?;
    check_equal(s.download(&part)?.wait_blocking()?, &wanted[..])?;
    // A part with a single channel has rows of one element.
    let channel = part.slice(2, 1..2).ok_or_else(none)?;
    let one: Vec<u8> = (0..60).map(|i| pixel(4 + i / 12, 10 + i % 12, 1)).collect();
    check_equal(s.download_blocking(&channel)?, one)?;
    let mut corner = picture.view_mut().slice(0, 0..5).and_then(|view| view.slice(1, 0..12));
    s.copy(&small, corner.as_mut().ok_or_else(none)?)?;
    let seen = s.download_blocking::<u8>(&picture)?;
    let expected: Vec<u8> = (0..20 * 30 * 3)
        .map(|i| match (i / 90, i / 3 % 30) {
            (y @ 0..5, x @ 0..12) => wanted[(y * 12 + x) * 3 + i % 3],
            (y, x) => pixel(y, x, i % 3),
        })
        .collect();
    check_equal(seen, expected)
}

fn sizes(platform: &Platform) -> Result<(), Failed> {
    fn there_and_back<T: Element + PartialEq + std::fmt::Debug>(
        platform: &Platform,
        value: impl Fn(usize) -> T,
    ) -> Result<(), Failed> {
        let s = stream(platform)?;
        let values: Vec<T> = (0..7 * 33).map(value).collect();
        let mut padded = platform.pitched_tensor([7, 33], &s)?;
        s.upload_blocking(&values, &mut padded)?;
        let mut dense = platform.tensor([7, 33], &s)?;
        s.copy(&padded, &mut dense)?;
        check_equal(s.download_blocking(&dense)?, values.clone())?;
        check_equal(s.download(&padded)?.wait_blocking()?, &values[..])
    }
    there_and_back(platform, |i| i as u8)?;
    there_and_back(platform, |i| i as i16)?;
    there_and_back(platform, |i| i as f64)?;
    there_and_back(platform, |i| Complex::new(i as f64, -1.0))
}

/// Checks a padded picture whose halves are written by two copies, and which a kernel reads as a whole. Padding
/// that was never written is no element of the view, so the race checker, under which each test on the simulator
/// runs, has nothing to report.
fn read_by_a_kernel(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let values: Vec<f32> = (0..60).map(|i| i as f32).collect();
    let mut whole = platform.pitched_tensor([6, 10], &s)?;
    s.upload_blocking(&values, &mut whole)?;
    let dense = uploaded(platform, &values, &s)?.reshape([6, 10])?;
    let mut halves = platform.pitched_tensor([6, 10], &s)?;
    let (mut left, mut right) = halves.view_mut().split_at(1, 4).ok_or_else(none)?;
    s.copy(&dense.view().slice(1, 0..4).ok_or_else(none)?, &mut left)?;
    s.copy(&dense.view().slice(1, 4..10).ok_or_else(none)?, &mut right)?;
    for read in [&whole, &halves] {
        let mut out = platform.tensor([6, 10], &s)?;
        s.launch::<scale_view<f32>>([10, 6], (out.view_mut(), read.view(), 1.0))?;
        check_equal(s.download_blocking::<f32>(&out)?, values.clone())?;
    }
    Ok(())
}

fn filled(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut padded = platform.pitched_tensor::<u16>([3, 5], &s)?;
    s.fill_bytes(&mut padded, 7)?;
    check_equal(s.download_blocking(&padded)?, vec![0x0707; 15])?;
    let mut rows = padded.view_mut().slice(0, 1..2).ok_or_else(none)?;
    s.fill_bytes(&mut rows, 8)?;
    let wanted: Vec<u16> = (0..15).map(|i| if i / 5 == 1 { 0x0808 } else { 0x0707 }).collect();
    check_equal(s.download_blocking(&padded)?, wanted.clone())?;
    let mut columns = padded.view_mut().slice(1, 1..2).ok_or_else(none)?;
    let error = check_error("columns", s.fill_bytes(&mut columns, 9), |error| {
        matches!(error, Error::Strided { .. })
    })?;
    check_text(&error, &["[3, 1]", "other elements between", "by a kernel", "StridedMut"])?;
    check_equal(s.download_blocking(&padded)?, wanted)
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let dense = uploaded(platform, &[1_u32; 12], &s)?.reshape([3, 4])?;
    let mut padded = platform.pitched_tensor::<u32>([4, 3], &s)?;
    s.fill_bytes(&mut padded, 0)?;
    let is_shape = |error: &Error| matches!(error, Error::ShapeMismatch { .. });
    let text = check_error("another shape", s.copy(&dense, &mut padded), is_shape)?;
    check_text(&text, &["copy:", "[3, 4]", "[4, 3]", "`slice`"])?;
    let is_strided = |error: &Error| matches!(error, Error::Strided { .. });
    let transposed = dense.view().transpose();
    let text = check_error("columns", s.copy(&transposed, &mut padded), is_strided)?;
    check_text(&text, &["[4, 3]", "[1, 4]", "gaps between the elements of a row", "kernel"])?;
    let text =
        check_error("to columns", s.copy(&dense, &mut padded.view_mut().transpose()), is_strided)?;
    check_text(&text, &["[3, 4]", "gaps between the elements of a row"])?;
    check_error("a download", s.download_blocking(&transposed), is_strided)?;
    let is_length = |error: &Error| matches!(error, Error::LengthMismatch { .. });
    let text = check_error("a short upload", s.upload_blocking(&[1; 11], &mut padded), is_length)?;
    check_text(&text, &["11", "12"])?;
    // Dense memory of another shape holds the same elements in the same order.
    let mut line = platform.tensor([12], &s)?;
    s.copy(&dense, &mut line)?;
    check_equal(s.download_blocking::<u32>(&line)?, vec![1; 12])?;
    check_equal(s.download_blocking(&padded)?, vec![0; 12])
}

fn pointers(platform: &Platform) -> Result<(), Failed> {
    fn there(
        s: &CudaStream,
        source: &impl CopySource<u8>,
        target: &mut impl CopyTarget<u8>,
    ) -> Result<Vec<u8>, Error> {
        s.copy(source, target)?;
        s.download_blocking(source)
    }
    let s = stream(platform)?;
    let values = [3, 1, 4, 1];
    let mut source = platform.pitched_tensor([2, 2], &s)?;
    s.upload_blocking(&values, &mut source)?;
    let mut target = Box::new(platform.pitched_tensor([2, 2], &s)?);
    check_equal(there(&s, &&source, &mut &mut *target)?, values.to_vec())?;
    check_equal(there(&s, &Arc::new(source), &mut target)?, values.to_vec())?;
    let shared = Shared::new(target);
    check_equal(there(&s, &shared, &mut platform.tensor([2, 2], &s)?)?, values.to_vec())
}

const SLOW: u64 = 20_000_000;

/// Checks that a copy of columns waits for the slow stream that writes them, that a third stream's read waits for
/// the copy, and that the columns are overwritten only after the copy.
fn ordered(platform: &Platform) -> Result<bool> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(3))?;
    let (a, b, c) = (pool.allocate("a")?, pool.allocate("b")?, pool.allocate("c")?);
    let mut matrix = platform.tensor([33, 31], &a)?;
    // This launch also loads the kernel, since CUDA waits for the device when it loads one.
    a.launch::<fill>(1023, (&mut matrix, 0.0))?;
    let mut columns = platform.pitched_tensor::<f32>([33, 7], &b)?;
    b.fill_bytes(&mut columns, 0)?;
    let mut other = platform.tensor([1003], &b)?;
    a.launch::<slow_fill>(1023, (&mut matrix, 7.0, SLOW))?;
    b.launch::<slow_fill>(1003, (&mut other, 0.0, 2 * SLOW))?;
    let part = matrix.view().slice(1, 2..9).ok_or_else(none)?;
    b.copy(&part, &mut columns)?;
    a.launch::<fill>(1023, (&mut matrix, 9.0))?;
    Ok(c.download(&columns)?.wait_blocking()?.iter().all(|&value| value == 7.0))
}
