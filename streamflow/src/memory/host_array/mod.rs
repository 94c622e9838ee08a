//! Arrays and images of other crates as host memory, with the features `ndarray` and `image`.
//!
//! Nothing here copies. A tensor is row-major and dense, so an array or an image of that layout is a slice with a
//! shape, and page-locked memory and downloads can be views of these crates. Any other layout is an error that names
//! both layouts: the caller then chooses how to copy.

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
/// For an `image::DynamicImage`, `as_rgb8` and similar methods return a buffer of known pixels, and `to_rgb8` converts
/// to one. An `image::SubImage` has no samples of its own: `to_image` copies it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no array or image whose memory can be uploaded",
    label = "no array of `ndarray`, and no `ImageBuffer` or `FlatSamples` of `image`",
    note = "of a `SubImage` upload `to_image()`, of a `DynamicImage` upload `to_rgb8()` or its kin, and a slice by `Platform::upload`"
)]
pub trait HostArray {
    /// The type of the elements.
    type Element: Element;

    /// The elements, and the shape of a tensor of them. An image has the shape `[height, width, channels]`. Nothing is
    /// copied.
    ///
    /// # Errors
    /// [`Error::HostLayout`] if the elements are not one after the other, the last dimension varying fastest;
    /// [`Error::Shape`] for more dimensions than a tensor has.
    fn elements(&self) -> Result<(&[Self::Element], Shape)>;
}

/// The error for strides that a tensor of this shape does not have.
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

/// The error for memory with another number of elements than the array, or with another shape than the image.
#[cold]
fn other_shape(what: &'static str, found: &[usize], wanted: String, remedy: &'static str) -> Error {
    Error::HostLayout { what, found: format!("the shape {found:?}"), wanted, remedy }
}
