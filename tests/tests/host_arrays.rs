//! Arrays of `ndarray` and images of `image` as host memory: the same addresses where the layouts agree, and else an error
//! with both layouts.

use image::flat::SampleLayout;
use image::{FlatSamples, ImageBuffer, Luma, Rgb};
use ndarray::{Array, Array2, Array3, ArrayD, IxDyn, ShapeBuilder, s};
use streamflow::memory::HostArray;
use streamflow::prelude::*;
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("an_array_goes_to_a_device_and_comes_back_in_place", arrays)
        .both("page_locked_memory_is_an_array", pinned_arrays)
        .both("an_image_goes_to_a_device_and_comes_back_in_place", images)
        .both("page_locked_memory_is_an_image", pinned_images)
        .plain("elements_are_those_of_the_array", elements_of_arrays)
        .plain("an_array_of_another_layout_names_both", other_arrays)
        .plain("an_image_of_another_layout_names_both", other_images)
}

/// The numbers 0, 1, 2, … in a row-major array.
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
    // Each row of a part follows the other, also where it is a part of a larger array.
    let whole = numbers(&[4, 3])?;
    let tensor = platform.upload_array(&whole.slice(s![1..3, ..]))?;
    let download = platform.download(&tensor, &stream)?;
    check_equal(download.wait_blocking()?, &[3.0, 4.0, 5.0, 6.0, 7.0, 8.0][..])
}

fn pinned_arrays(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform)?;
    let mut pinned = platform.pinned::<f32>(device(0), 6)?;
    let start = pinned.as_slice_blocking()?.as_ptr();
    // An upload of a transposed array: the copy is the one into page-locked memory.
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
    // Gray values have two dimensions, or three.
    for tensor in [tensor.reshape([9, 4])?.reshape([4, 9, 1])?] {
        let download = platform.download(&tensor, &stream)?;
        check_equal(download.image_blocking::<Luma<u8>>()?.dimensions(), (9, 4))?;
        let tensor = tensor.reshape([4, 9])?;
        let download = platform.download(&tensor, &stream)?;
        check_equal(download.image_blocking::<Luma<u8>>()?.dimensions(), (9, 4))?;
    }
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
