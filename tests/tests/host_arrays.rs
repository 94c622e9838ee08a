//! Arrays of `ndarray` and images of `image` as host memory. Where the layouts agree, both use the same
//! addresses; where they differ, there is an error that shows both layouts.

use std::task::{Context, Poll, Waker};

use image::flat::SampleLayout;
use image::{
    DynamicImage, FlatSamples, GenericImageView, ImageBuffer, Luma, LumaA, Pixel, Rgb, Rgba,
};
use ndarray::{Array, Array2, Array3, ArrayD, IxDyn, ShapeBuilder, s};
use streamflow::memory::{Downloaded, HostArray, Pinned};
use streamflow::prelude::*;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("an_array_goes_to_a_device_and_comes_back_in_place", arrays)
        .both("page_locked_memory_is_an_array", pinned_arrays)
        .both("an_awaited_download_is_an_array_and_an_image_in_place", awaited)
        .both("an_image_goes_to_a_device_and_comes_back_in_place", images)
        .both("page_locked_memory_is_an_image", pinned_images)
        .plain("elements_are_those_of_the_array", elements_of_arrays)
        .plain("an_array_of_another_layout_names_both", other_arrays)
        .plain("an_image_of_another_layout_names_both", other_images)
        .plain("samples_of_one_row_or_column_need_no_stride", samples)
        .plain("a_layout_of_one_order_needs_no_copy", dense_arrays)
        .plain("a_part_of_an_image_needs_no_copy_or_names_both_layouts", parts_of_images)
        .both("each_kind_of_pixel_goes_to_a_device_and_comes_back_in_place", pixels)
        .both("an_array_may_change_after_its_upload", changed_array)
        .both("a_page_locked_view_waits_for_the_upload_that_reads_it", changed_view)
        .both(
            "page_locked_memory_that_is_dropped_waits_for_the_upload_that_reads_it",
            dropped_memory,
        )
}

/// Returns the numbers 0, 1, 2, … in a row-major array.
fn numbers(shape: &[usize]) -> Result<ArrayD<f32>, Failed> {
    let count = shape.iter().product::<usize>();
    let values = (0..count).map(|i| i as f32).collect();
    ArrayD::from_shape_vec(IxDyn(shape), values).map_err(Failed::msg)
}

fn is_layout(error: &Error) -> bool {
    matches!(error, Error::HostLayout { .. })
}

fn arrays(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform)?;
    for shape in [&[2, 3][..], &[4], &[], &[2, 1, 3, 2], &[0, 5], &[3, 0]] {
        let array = numbers(shape)?;
        let tensor = platform.upload_array(&array)?;
        check_equal(tensor.shape(), shape)?;
        let download = platform.download(&tensor, &stream)?;
        let back = download.array_blocking()?;
        check(back == array, || format!("{back:?}"))?;
        check_equal(back.as_ptr(), download.wait_blocking()?.as_ptr())?;
    }
    // The rows of this part follow each other without gaps, although it is a part of a larger array.
    let whole = numbers(&[4, 3])?;
    let tensor = platform.upload_array(&whole.slice(s![1..3, ..]))?;
    let download = platform.download(&tensor, &stream)?;
    check_equal(download.wait_blocking()?, &[3.0, 4.0, 5.0, 6.0, 7.0, 8.0][..])
}

/// Awaits a download that is complete, and returns its data.
fn downloaded<T: Element>(download: Download<T>) -> Result<Downloaded<T>, Failed> {
    download.wait_blocking()?;
    let mut future = download.into_future();
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(downloaded) => Ok(downloaded?),
        Poll::Pending => Err(Failed::msg("a complete download is pending")),
    }
}

fn awaited(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform)?;
    let array = numbers(&[2, 3])?;
    let tensor = platform.upload_array(&array)?;
    let found = downloaded(platform.download(&tensor, &stream)?)?;
    check(found.array()? == array, || format!("{:?}", found.array()))?;
    check_equal(found.array()?.as_ptr(), found.as_ptr())?;
    check_error("an image", found.image::<Rgb<f32>>(), is_layout)?;
    let image = ImageBuffer::from_fn(4, 3, |x, y| Rgb([x as u8, y as u8, 7]));
    let tensor = platform.upload_array(&image)?;
    let found = downloaded(platform.download(&tensor, &stream)?)?;
    let back = found.image::<Rgb<u8>>()?;
    check_equal((back.dimensions(), back.get_pixel(3, 2)), ((4, 3), &Rgb([3, 2, 7])))?;
    check_equal(back.as_raw().as_ptr(), found.as_ptr())?;
    let gray = check_error("gray", found.image::<Luma<u8>>(), is_layout)?;
    check_text(&gray, &["[3, 4, 3]", "[height, width, 1]"])
}

/// Checks samples that own their memory. The stride of a dimension with one element is ignored.
fn samples() -> Result<(), Failed> {
    let of = |width, height, width_stride, height_stride| FlatSamples {
        samples: vec![0_u8, 1, 2, 3, 4, 5],
        layout: SampleLayout {
            channels: 2,
            channel_stride: 1,
            width,
            width_stride,
            height,
            height_stride,
        },
        color_hint: None,
    };
    for (image, shape) in [(of(3, 1, 2, 77), [1, 3, 2]), (of(1, 3, 77, 2), [3, 1, 2])] {
        let (elements, found) = image.elements()?;
        check_equal((elements, found.dims()), (&image.samples[..], &shape[..]))?;
        check_equal(elements.as_ptr(), image.samples.as_ptr())?;
    }
    let padded = of(1, 2, 2, 4);
    let error = check_error("rows apart", padded.elements().map(drop), is_layout)?;
    check_text(&error, &["[2, 1, 2]"])
}

fn pinned_arrays(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform)?;
    let mut pinned = platform.pinned::<f32>(device(0), 6)?;
    let start = pinned.as_slice_blocking()?.as_ptr();
    // A transposed array is uploaded by a copy into page-locked memory, which also changes the order of the
    // elements.
    let array = Array2::from_shape_fn((3, 2), |(i, j)| (10 * i + j) as f32);
    let mut view = pinned.array_mut_blocking([2, 3])?;
    check_equal(view.as_ptr(), start)?;
    view.assign(&array.t());
    let mut tensor = platform.tensor::<f32>([2, 3], &stream)?;
    stream.upload(&pinned, &mut tensor)?;
    let download = platform.download(&tensor, &stream)?;
    check(download.array_blocking()? == array.t().into_dyn(), || "other values".into())?;
    check_equal(pinned.array_blocking([3, 2])?.as_ptr(), start)?;
    for shape in [[2, 2], [0, 3], [7, 1]] {
        let error = check_error("to read", pinned.array_blocking(shape), is_layout)?;
        check_text(&error, &[&format!("{shape:?}"), "its 6 elements"])?;
        check_error("to write", pinned.array_mut_blocking(shape).map(|_| ()), is_layout)?;
    }
    Ok(())
}

fn elements_of_arrays() -> Result<(), Failed> {
    let array = numbers(&[2, 3])?;
    let (elements, shape) = array.elements()?;
    check_equal(
        (elements.as_ptr(), elements.len(), shape.dims()),
        (array.as_ptr(), 6, &[2, 3][..]),
    )?;
    let image = ImageBuffer::<Rgb<u16>, Vec<u16>>::new(4, 2);
    let (elements, shape) = image.elements()?;
    check_equal((elements.as_ptr(), elements.len()), (image.as_ptr(), 24))?;
    check_equal(shape.dims(), &[2, 4, 3][..])?;
    let samples = image.as_flat_samples();
    check_equal(samples.elements()?.0.as_ptr(), image.as_ptr())?;
    let error = check_error("nine dimensions", numbers(&[1; 9])?.elements(), |error| {
        matches!(error, Error::Shape { .. })
    })?;
    check_text(&error, &["8 dimensions"])
}

fn other_arrays() -> Result<(), Failed> {
    let refused = |name: &str, found: Result<(&[f32], _), Error>, strides: &str, wanted: &str| {
        let error = check_error(name, found.map(|(elements, _)| elements.len()), is_layout)?;
        check_text(&error, &[strides, wanted, "`as_standard_layout()`"])
    };
    let array = numbers(&[2, 3])?;
    let f_order = Array::<f32, _>::zeros((2, 3).f());
    refused("F order", f_order.elements(), "[1, 2]", "[3, 1]")?;
    let reversed = array.slice(s![..;-1, ..]);
    refused("a reversed axis", reversed.elements(), "[-3, 1]", "[3, 1]")?;
    let padded = numbers(&[2, 5])?;
    let padded = padded.slice(s![.., ..3]);
    refused("padded rows", padded.elements(), "[5, 1]", "[3, 1]")?;
    let broadcast = numbers(&[3])?;
    let broadcast = broadcast.broadcast((2, 3)).ok_or_else(|| Failed::msg("no broadcast"))?;
    refused("repeated rows", broadcast.elements(), "[0, 1]", "[3, 1]")?;
    let swapped = Array3::<f32>::zeros((2, 3, 4));
    let swapped = swapped.view().permuted_axes([2, 0, 1]);
    refused("swapped axes", swapped.elements(), "[1, 12, 4]", "[6, 3, 1]")
}

fn images(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform)?;
    let image = ImageBuffer::from_fn(4, 3, |x, y| Rgb([x as u8, y as u8, (x * y) as u8]));
    let tensor = platform.upload_array(&image)?;
    check_equal(tensor.shape(), &[3, 4, 3][..])?;
    let download = platform.download(&tensor, &stream)?;
    let back = download.image_blocking::<Rgb<u8>>()?;
    check_equal(back.dimensions(), (4, 3))?;
    check_equal(back.get_pixel(3, 2), &Rgb([3, 2, 6]))?;
    check_equal(back.as_raw().as_ptr(), download.wait_blocking()?.as_ptr())?;
    let error = check_error("gray", download.image_blocking::<Luma<u8>>(), is_layout)?;
    check_text(&error, &["[3, 4, 3]", "[height, width, 1]"])?;
    // Images of gray values have tensors of two dimensions, or of three.
    let tensor = tensor.reshape([9, 4])?.reshape([4, 9, 1])?;
    let download = platform.download(&tensor, &stream)?;
    check_equal(download.image_blocking::<Luma<u8>>()?.dimensions(), (9, 4))?;
    let tensor = tensor.reshape([4, 9])?;
    let download = platform.download(&tensor, &stream)?;
    check_equal(download.image_blocking::<Luma<u8>>()?.dimensions(), (9, 4))?;
    let empty = platform.upload_array(&ImageBuffer::<Luma<f32>, Vec<f32>>::new(0, 5))?;
    check_equal(empty.shape(), &[5, 0, 1][..])?;
    let download = platform.download(&empty, &stream)?;
    check_equal(download.image_blocking::<Luma<f32>>()?.dimensions(), (0, 5))
}

fn pinned_images(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform)?;
    let mut pinned = platform.pinned::<u8>(device(0), 6)?;
    let start = pinned.as_slice_blocking()?.as_ptr();
    let mut image = pinned.image_mut_blocking::<Luma<u8>>(3, 2)?;
    check_equal(image.as_raw().as_ptr(), start)?;
    image.enumerate_pixels_mut().for_each(|(x, y, pixel)| pixel.0 = [(10 * y + x) as u8]);
    let mut tensor = platform.tensor::<u8>([2, 3], &stream)?;
    stream.upload(&pinned, &mut tensor)?;
    let download = platform.download(&tensor, &stream)?;
    check_equal(download.wait_blocking()?, &[0, 1, 2, 10, 11, 12][..])?;
    let image = pinned.image_mut_blocking::<Rgb<u8>>(3, 1).map(|image| image.dimensions());
    let error = check_error("nine bytes", image, is_layout)?;
    check_text(&error, &["[1, 3, 3]", "the 6 elements"])
}

fn other_images() -> Result<(), Failed> {
    let bytes = [0_u8; 40];
    let samples = |channel_stride, width_stride, height_stride| {
        let (channels, width, height) = (3, 4, 2);
        let layout =
            SampleLayout { channels, channel_stride, width, width_stride, height, height_stride };
        FlatSamples { samples: &bytes[..], layout, color_hint: None }
    };
    check_equal(samples(1, 3, 12).elements()?.0.len(), 24)?;
    for (strides, text) in
        [((1, 3, 16), "[16, 3, 1]"), ((8, 1, 4), "[4, 1, 8]"), ((1, 4, 16), "[16, 4, 1]")]
    {
        let samples = samples(strides.0, strides.1, strides.2);
        let found = samples.elements().map(|(elements, _)| elements.len());
        let error = check_error("strides", found, is_layout)?;
        check_text(&error, &["[2, 4, 3]", text, "[12, 3, 1]"])?;
    }
    let mut short = samples(1, 3, 12);
    short.samples = &bytes[..23];
    let found = short.elements().map(|(elements, _)| elements.len());
    check_text(&check_error("too few samples", found, is_layout)?, &["24 elements"])
}

/// Checks arrays of up to eight dimensions, with each order of those dimensions that have one element.
fn dense_arrays() -> Result<(), Failed> {
    for shape in [&[][..], &[5], &[0], &[2, 0, 3], &[1, 2, 1, 2, 1, 2], &[2, 1, 2, 1, 2, 1, 2, 1]] {
        let array = numbers(shape)?;
        let (elements, found) = array.elements()?;
        check_equal((elements.as_ptr(), elements.len()), (array.as_ptr(), array.len()))?;
        check_equal(found.dims(), shape)?;
    }
    // A column is both row-major and column-major, and reversing an axis of one element changes no address.
    let column = Array::<f32, _>::zeros((3, 1).f());
    check_equal(column.elements()?.0.as_ptr(), column.as_ptr())?;
    let row = Array2::from_shape_fn((1, 3), |(_, j)| j as f32);
    let reversed = row.slice(s![..;-1, ..]);
    check_equal(reversed.elements()?.0.as_ptr(), row.as_ptr())?;
    // An empty array has nothing to copy.
    check_equal(Array::<f32, _>::zeros((0, 3).f()).elements()?.0.len(), 0)
}

fn parts_of_images() -> Result<(), Failed> {
    let image = ImageBuffer::from_fn(4, 3, |x, y| Rgb([x as u8, y as u8, 0]));
    let part = |x: u32, y: u32, width: u32, height: u32| {
        let whole = image.as_flat_samples();
        let start = whole.layout.index(0, x, y).unwrap_or(usize::MAX);
        let samples = whole.samples.get(start..).unwrap_or_default();
        FlatSamples {
            samples,
            layout: SampleLayout { width, height, ..whole.layout },
            color_hint: None,
        }
    };
    // A part of an image is contiguous if it has whole rows, or pixels of one row.
    for (x, y, width, height) in [(0, 1, 4, 2), (1, 1, 2, 1), (2, 0, 1, 1)] {
        let part = part(x, y, width, height);
        let (elements, shape) = part.elements()?;
        check_equal(elements.as_ptr(), image.get_pixel(x, y).0.as_ptr())?;
        check_equal(shape.dims(), &[height as usize, width as usize, 3][..])?;
    }
    let columns = part(1, 0, 2, 3);
    let refused = |samples: &FlatSamples<&[u8]>| {
        check_error("columns", samples.elements().map(|(found, _)| found.len()), is_layout)
    };
    check_text(&refused(&columns)?, &["[3, 2, 3]", "[12, 3, 1]", "[6, 3, 1]", "row by row"])?;
    // A view of `image` has no samples of its own, so the program copies it.
    let copy = image.view(1, 0, 2, 3).to_image();
    check_equal(copy.elements()?.0, &[1, 0, 0, 2, 0, 0, 1, 1, 0, 2, 1, 0, 1, 2, 0, 2, 2, 0][..])?;
    // This layout has more elements than there are addresses.
    let layout = SampleLayout::row_major_packed(u8::MAX, u32::MAX, u32::MAX);
    let vast = FlatSamples { samples: &[0_u8; 4][..], layout, color_hint: None };
    let found = vast.elements().map(|(found, _)| found.len());
    check_error("a vast image", found, |error| matches!(error, Error::Shape { .. })).map(drop)
}

/// Uploads an image and downloads it again, and checks that both use the image's own addresses on the host.
fn pixel<P>(platform: &Platform, image: &ImageBuffer<P, Vec<P::Subpixel>>) -> Result<(), Failed>
where
    P: Pixel<Subpixel: Element> + PartialEq + std::fmt::Debug,
{
    check_equal(image.elements()?.0.as_ptr(), image.as_raw().as_ptr())?;
    let tensor = platform.upload_array(image)?;
    check_equal(tensor.shape(), &[2, 3, P::CHANNEL_COUNT.into()][..])?;
    let download = platform.download(&tensor, &stream(platform)?)?;
    let back = download.image_blocking::<P>()?;
    check_equal(back.dimensions(), (3, 2))?;
    check_equal(back.as_raw().as_ptr(), download.wait_blocking()?.as_ptr())?;
    for (x, y, wanted) in image.enumerate_pixels() {
        check_equal(back.get_pixel(x, y), wanted)?;
    }
    Ok(())
}

fn pixels(platform: &Platform) -> Result<(), Failed> {
    let (at, at16) = (|x: u32, y: u32| (10 * y + x) as u8, |x: u32, y: u32| (1000 * y + x) as u16);
    let rgb = ImageBuffer::from_fn(3, 2, |x, y| Rgb([at(x, y), 1, 2]));
    pixel(platform, &rgb)?;
    pixel(platform, &ImageBuffer::from_fn(3, 2, |x, y| Rgba([at(x, y), 1, 2, 3])))?;
    pixel(platform, &ImageBuffer::from_fn(3, 2, |x, y| Luma([at(x, y)])))?;
    pixel(platform, &ImageBuffer::from_fn(3, 2, |x, y| LumaA([at(x, y), 1])))?;
    pixel(platform, &ImageBuffer::from_fn(3, 2, |x, y| Luma([at16(x, y)])))?;
    pixel(platform, &ImageBuffer::from_fn(3, 2, |x, y| Rgba([at16(x, y), 1, 2, 3])))?;
    pixel(platform, &ImageBuffer::from_fn(3, 2, |x, y| Rgb([f32::from(at(x, y)), 0.5, -0.0])))?;
    // A `DynamicImage`, whose pixel type is known only at run time, can be read as an image of that pixel type.
    let start = rgb.as_ptr();
    let decoded = DynamicImage::ImageRgb8(rgb);
    let known = decoded.as_rgb8().ok_or_else(|| Failed::msg("no RGB"))?;
    check_equal(known.elements()?.0.as_ptr(), start)?;
    check(decoded.as_luma8().is_none(), || "a silent conversion".into())?;
    pixel(platform, known)
}

const LEN: usize = 256;
const SLOW: u64 = 20_000_000;

/// Checks that the call has read the host's memory when it returns, so that the array may change.
fn changed_array(platform: &Platform) -> Result<(), Failed> {
    let mut array = Array2::from_elem((2, LEN), 7.0_f32);
    let tensor = platform.upload_array(&array)?;
    array.fill(9.0);
    drop(array);
    let download = platform.download(&tensor, &stream(platform)?)?;
    check_equal(download.wait_blocking()?, &[7.0; 2 * LEN][..])
}

/// Returns a stream with slow work, and behind that work an upload of page-locked memory that is full of 7.
fn late_upload(platform: &Platform) -> Result<(CudaStream, Pinned<f32>, Tensor<f32>), Failed> {
    let stream = stream(platform)?;
    let mut pinned = platform.pinned::<f32>(device(0), LEN)?;
    pinned.array_mut_blocking([2, LEN / 2])?.fill(7.0);
    let (mut slow, mut tensor) = (platform.buffer(1, &stream)?, platform.tensor([LEN], &stream)?);
    stream.launch::<slow_fill>(1, (&mut slow, 0.0, SLOW))?;
    stream.upload(&pinned, &mut tensor)?;
    Ok((stream, pinned, tensor))
}

fn changed_view(platform: &Platform) -> Result<(), Failed> {
    let (stream, mut pinned, tensor) = late_upload(platform)?;
    pinned.array_mut_blocking([LEN])?.fill(9.0);
    check_equal(stream.download_blocking(&tensor)?, vec![7.0; LEN])?;
    let (stream, mut pinned, tensor) = late_upload(platform)?;
    pinned.image_mut_blocking::<Luma<f32>>(LEN as u32, 1)?.fill(9.0);
    check_equal(stream.download_blocking(&tensor)?, vec![7.0; LEN])
}

fn dropped_memory(platform: &Platform) -> Result<(), Failed> {
    let (stream, pinned, tensor) = late_upload(platform)?;
    drop(pinned);
    let mut others = Vec::new();
    for _ in 0..4 {
        let mut other = platform.pinned::<f32>(device(0), LEN)?;
        other.array_mut_blocking([LEN])?.fill(9.0);
        others.push(other);
    }
    check_equal(stream.download_blocking(&tensor)?, vec![7.0; LEN])
}
