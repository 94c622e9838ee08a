//! The formats of images, as types.
//!
//! | Format | Rows of the memory | Samples of a row |
//! |---|---|---|
//! | [`Grey<T>`](Grey) | those of the image | one a pixel |
//! | [`Rgb<T>`](Rgb), [`Bgr<T>`](Bgr) | those of the image | three a pixel |
//! | [`Rgba<T>`](Rgba) | those of the image | four a pixel |
//! | [`Yuyv`] | those of the image | for two pixels luma, blue chroma, luma, red chroma |
//! | [`Nv12`], [`P010`] | luma, then half as many of chroma | one of luma a pixel; blue and red chroma for two pixels |
//! | [`I420`] | luma, then both planes of chroma, with half of the pitch | one of luma a pixel; one of chroma for two pixels |
//! | [`Bayer<T>`](Bayer) | those of the image | one a pixel, behind a mosaic of color filters |
//!
//! These are the layouts of OpenCV's `cvtColor` and of most cameras and decoders. `T` is `u8`, `u16` or `f32`; samples of `f32` are
//! brightness from 0 to 1.

use std::marker::PhantomData;

use crate::sample::Sample;

/// A format of images.
pub trait Format: sealed::Sealed + Send + Sync + 'static {
    /// The type of a sample.
    type Sample: Sample;
    /// The name, as in messages of errors.
    const NAME: &'static str;
    /// The arrangement of the samples.
    #[doc(hidden)]
    const LAYOUT: Layout;
}

/// A format with all samples of a pixel one after another.
pub trait Packed: Format {
    /// The number of samples of a pixel.
    const CHANNELS: usize = Self::LAYOUT.samples_of(1);
}

/// A format that images can be converted to.
pub trait Target: Format {}

/// Grey: one sample a pixel, its brightness.
#[derive(Debug)]
pub struct Grey<T>(PhantomData<fn() -> T>);
/// Red, green and blue.
#[derive(Debug)]
pub struct Rgb<T>(PhantomData<fn() -> T>);
/// Blue, green and red, as in OpenCV.
#[derive(Debug)]
pub struct Bgr<T>(PhantomData<fn() -> T>);
/// Red, green, blue and opacity.
#[derive(Debug)]
pub struct Rgba<T>(PhantomData<fn() -> T>);
/// YUV 4:2:0 of 8 bits in two planes: luma, and blue and red chroma by turns. Width and height are even.
#[derive(Debug)]
pub struct Nv12(());
/// YUV 4:2:0 of 10 bits in two planes, as [`Nv12`]. The lowest six of 16 bits are 0.
#[derive(Debug)]
pub struct P010(());
/// YUV 4:2:0 of 8 bits in three planes: luma, blue chroma and red chroma. Width, height and pitch are even.
#[derive(Debug)]
pub struct I420(());
/// YUV 4:2:2 of 8 bits in one plane (YUY2). The width is even.
#[derive(Debug)]
pub struct Yuyv(());
/// The samples of a sensor behind a mosaic of colour filters, of `u8`, or of `u16` with 10, 12 or up to 16 bits.
#[derive(Debug)]
pub struct Bayer<T>(PhantomData<fn() -> T>);

/// The arrangement of samples. The numbers are those of the kernels.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Grey = 0,
    Rgb = 1,
    Bgr = 2,
    Rgba = 3,
    Nv12 = 4,
    I420 = 5,
    Yuyv = 6,
    Bayer = 7,
}

impl Layout {
    /// The layout with this number.
    pub(crate) fn of(number: u32) -> Option<Self> {
        use Layout::{Bayer, Bgr, Grey, I420, Nv12, Rgb, Rgba, Yuyv};
        let all = [Grey, Rgb, Bgr, Rgba, Nv12, I420, Yuyv, Bayer];
        all.into_iter().find(|layout| *layout as u32 == number)
    }

    /// The samples of a row without padding. `usize::MAX` if the number overflows.
    pub(crate) const fn samples_of(self, width: usize) -> usize {
        let each = match self {
            Self::Grey | Self::Nv12 | Self::I420 | Self::Bayer => 1,
            Self::Yuyv => 2,
            Self::Rgb | Self::Bgr => 3,
            Self::Rgba => 4,
        };
        width.saturating_mul(each)
    }

    /// The rows of memory. `usize::MAX` if the number overflows.
    pub(crate) const fn rows_of(self, height: usize) -> usize {
        match self {
            Self::Nv12 | Self::I420 => height.saturating_add(height / 2),
            _ => height,
        }
    }

    /// The numbers that divide the width and the height.
    pub(crate) const fn steps(self) -> [usize; 2] {
        match self {
            Self::Nv12 | Self::I420 => [2, 2],
            Self::Yuyv => [2, 1],
            _ => [1, 1],
        }
    }

    /// Whether samples are luma and chroma.
    pub(crate) const fn is_yuv(self) -> bool {
        matches!(self, Self::Nv12 | Self::I420 | Self::Yuyv)
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! formats {
    ($($format:ident $(<$T:ident>)?, $sample:ty, $layout:ident, $name:literal;)*) => {$(
        impl $(<$T: Sample>)? sealed::Sealed for $format $(<$T>)? {}
        impl $(<$T: Sample>)? Format for $format $(<$T>)? {
            type Sample = $sample;
            const NAME: &'static str = $name;
            const LAYOUT: Layout = Layout::$layout;
        }
    )*};
}

formats! {
    Grey<T>, T, Grey, "grey";
    Rgb<T>, T, Rgb, "RGB";
    Bgr<T>, T, Bgr, "BGR";
    Rgba<T>, T, Rgba, "RGBA";
    Nv12, u8, Nv12, "NV12";
    P010, u16, Nv12, "P010";
    I420, u8, I420, "I420";
    Yuyv, u8, Yuyv, "YUYV";
    Bayer<T>, T, Bayer, "Bayer";
}

impl<T: Sample> Packed for Grey<T> {}
impl<T: Sample> Packed for Rgb<T> {}
impl<T: Sample> Packed for Bgr<T> {}
impl<T: Sample> Packed for Rgba<T> {}

impl<T: Sample> Target for Grey<T> {}
impl<T: Sample> Target for Rgb<T> {}
impl<T: Sample> Target for Bgr<T> {}
impl<T: Sample> Target for Rgba<T> {}
impl Target for Nv12 {}
impl Target for P010 {}
impl Target for I420 {}
impl Target for Yuyv {}
