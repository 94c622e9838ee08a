//! Arrays and images of other crates as host memory, with the features `ndarray` and `image`.
//!
//! The functions of this module copy no elements. A tensor is row-major and dense. An array or an image of that layout is
//! uploaded as a slice with a shape, and page-locked memory and downloads are read as arrays and images. For any other layout
//! a function returns an error that names the layout it has found and the layout it needs. The caller then chooses how to copy.

#[cfg(feature = "image")]
mod image;
#[cfg(feature = "ndarray")]
mod ndarray;

use super::{Element, Shape};
use crate::error::{Error, Result};

/// An array or an image of another crate, in host memory: `ndarray::ArrayBase` with the feature `ndarray`, and
/// `image::ImageBuffer` and `image::FlatSamples` with the feature `image`.
/// [`Platform::upload_array`](crate::Platform::upload_array) takes one.
///
/// An `image::DynamicImage` has methods such as `as_rgb8`, which returns its buffer if it has pixels of this type, and
/// `to_rgb8`, which converts it to such a buffer. An `image::SubImage` has no samples of its own: `to_image` copies it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no array or image whose memory can be uploaded",
    label = "no array of `ndarray`, and no `ImageBuffer` or `FlatSamples` of `image`",
    note = "of a `SubImage` upload `to_image()`, of a `DynamicImage` upload `to_rgb8()` or its kin, and a slice by `Platform::upload`"
)]
pub trait HostArray {
    /// The type of the elements.
    type Element: Element;

    /// The elements, and the shape of a tensor with these elements. An image has the shape `[height, width, channels]`.
    /// Copies no elements.
    ///
    /// # Errors
    /// [`Error::HostLayout`] if the elements are not dense and row-major; [`Error::Shape`] for more dimensions than a tensor
    /// can have.
    fn elements(&self) -> Result<(&[Self::Element], Shape)>;
}

/// The error for an array or image whose strides are not the dense strides of its shape.
#[cold]
fn other_strides(
    what: &'static str,
    shape: &[usize],
    strides: &[isize],
    remedy: &'static str,
) -> Error {
    let wanted = Shape::new(shape)
        .map_or_else(|_| "row-major".into(), |shape| format!("{:?}", shape.dense_strides()));
    Error::HostLayout {
        what,
        found: format!("the shape {shape:?} and the strides {strides:?}"),
        wanted: format!("the strides {wanted}"),
        remedy,
    }
}

/// The error for an array or an image whose shape does not fit the device memory, or for device memory whose shape no image has.
#[cold]
fn other_shape(what: &'static str, found: &[usize], wanted: String, remedy: &'static str) -> Error {
    Error::HostLayout { what, found: format!("the shape {found:?}"), wanted, remedy }
}
