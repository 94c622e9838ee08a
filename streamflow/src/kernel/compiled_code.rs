//! Compiled code, in a form that a driver loads.

use std::borrow::Cow;

use crate::driver::Image;

/// Code that is compiled already, for [`Platform::module`](crate::Platform::module): PTX text, a CUBIN or a fatbin, made
/// by another tool or by [`compile_for`](super::compile_for).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledCode<'a>(Cow<'a, [u8]>);

impl<'a> CompiledCode<'a> {
    /// Makes compiled code from its bytes.
    ///
    /// # Safety
    /// `image` is text, or a complete CUBIN or fatbin: the driver reads as many bytes of a CUBIN or a fatbin as its header says.
    /// Text that is not PTX is refused when it is loaded.
    pub const unsafe fn new(image: &'a [u8]) -> Self {
        Self(Cow::Borrowed(image))
    }

    /// The code's bytes. PTX from [`compile_for`](super::compile_for) ends with a NUL.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn into_image(self) -> Image {
        Image(self.0.into_owned())
    }
}

impl CompiledCode<'static> {
    /// Wraps an image that the compiler has made.
    pub(super) fn of(Image(code): Image) -> Self {
        Self(Cow::Owned(code))
    }
}
