//! The types of samples.

use streamflow::Element;
use streamflow::kernel::Number;

/// The type of an image's samples: `u8`, `u16` or `f32`.
pub trait Sample: Element + Number + sealed::Sealed {
    /// The value of full brightness: 255, 65,535, or 1 for `f32`.
    const FULL: f32;
    /// Whether samples are whole numbers, to which results are rounded.
    const IS_WHOLE: bool;
    /// The sample of a number that it can have.
    #[doc(hidden)]
    fn cast(value: f32) -> Self;
    /// The number of a sample.
    #[doc(hidden)]
    fn number(self) -> f32;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
    impl Sealed for f32 {}
}

impl Sample for u8 {
    const FULL: f32 = 255.0;
    const IS_WHOLE: bool = true;
    fn cast(value: f32) -> Self {
        value as Self
    }
    fn number(self) -> f32 {
        f32::from(self)
    }
}

impl Sample for u16 {
    const FULL: f32 = 65_535.0;
    const IS_WHOLE: bool = true;
    fn cast(value: f32) -> Self {
        value as Self
    }
    fn number(self) -> f32 {
        f32::from(self)
    }
}

impl Sample for f32 {
    const FULL: f32 = 1.0;
    const IS_WHOLE: bool = false;
    fn cast(value: f32) -> Self {
        value
    }
    fn number(self) -> f32 {
        self
    }
}
