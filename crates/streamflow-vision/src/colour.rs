//! How samples stand for colours.

/// How samples stand for colours. Of images in RGB or grey, [`matrix`](Self::matrix) alone counts: it has the weights of brightness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Colour {
    /// The weights of red, green and blue in the brightness.
    pub matrix: Matrix,
    /// The numbers that stand for black and white in a format of YUV.
    pub range: Range,
    /// The places of chroma samples that several pixels share.
    pub siting: Siting,
}

/// The weights of red, green and blue in the brightness (*luma*).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Matrix {
    /// ITU-R BT.601: standard definition, JPEG, and most libraries without another word. The weights are 0.299, 0.587 and 0.114.
    #[default]
    Bt601,
    /// ITU-R BT.709: high definition. The weights are 0.2126, 0.7152 and 0.0722.
    Bt709,
    /// ITU-R BT.2020, non-constant luminance: ultra high definition. The weights are 0.2627, 0.678 and 0.0593.
    Bt2020,
}

/// The numbers that stand for black and white in a format of YUV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Range {
    /// Of 8 bits, 16 to 235 for luma and 16 to 240 for chroma, as in video; of 10 bits, four times these.
    #[default]
    Limited,
    /// All numbers of the samples, as in JPEG.
    Full,
}

/// The place of a chroma sample that two or four pixels share. A conversion from such a format interpolates linearly between the
/// places, and a conversion to it filters at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Siting {
    /// Each chroma sample is that of all its pixels, and is made of their mean, without interpolation, as in OpenCV.
    #[default]
    Block,
    /// In the middle of its pixels, as in JPEG and MPEG-1.
    Center,
    /// At the left pixels, between the two rows, as in MPEG-2, H.264 and H.265 by default.
    Left,
    /// At the upper left pixel, as in BT.2020 and Blu-ray discs of ultra high definition.
    TopLeft,
}

impl Matrix {
    /// The weights of red, green and blue.
    pub(crate) fn weights(self) -> [f64; 3] {
        match self {
            Self::Bt601 => [0.299, 0.587, 0.114],
            Self::Bt709 => [0.2126, 0.7152, 0.0722],
            Self::Bt2020 => [0.2627, 0.678, 0.0593],
        }
    }
}
