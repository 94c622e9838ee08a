//! `Pad`: images with a border around them.

use std::fmt;
use std::marker::PhantomData;

use streamflow::Failure;
use streamflow::kernel::Number;
use streamflow::prelude::*;

use crate::format::Packed;
use crate::image::{Image, Info};
use crate::sample::Sample;
use crate::sampling::{Border, place, rounded};

/// Adds a border around images, as OpenCV's `copyMakeBorder`.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::format::Rgb;
/// use streamflow_vision::{Border, Pad};
///
/// // Two grey columns on the left and three on the right.
/// let pad: Pad<Rgb<u8>> = Pad::new([2, 0], [3, 0], Border::Constant([128.0; 4]));
/// ```
#[operator(no_new, unlisted)]
pub struct Pad<F: Packed> {
    /// The images.
    #[input]
    image: &Image<F>,
    /// The images with their border, in rows without padding.
    #[output]
    padded: Image<F>,
    before: [usize; 2],
    after: [usize; 2],
    border: Border,
    of: PhantomData<fn(F)>,
}

impl<F: Packed> Pad<F> {
    /// Creates an operator that adds `before = [left, top]` and `after = [right, bottom]` columns and rows.
    pub fn new(before: [usize; 2], after: [usize; 2], border: Border) -> Self {
        Self { before, after, border, of: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Pad<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let info = image.info();
        let length = |axis: usize, len: usize| {
            self.before[axis].checked_add(len)?.checked_add(self.after[axis])
        };
        let (width, height) = (length(0, info.width), length(1, info.height));
        let row = width.and_then(|width| width.checked_mul(F::CHANNELS));
        let (Some(width), Some(height), Some(row)) = (width, height, row) else {
            return Err(Failure::msg(format!(
                "`Pad` adds {:?} columns and rows before and {:?} after, and with the {} × {} pixels of its input `image` these are too many",
                self.before, self.after, info.width, info.height
            )));
        };
        if info.width == 0 || info.height == 0 {
            return Err(Failure::msg(
                "`Pad` received an image without pixels at its input `image`; send images with pixels",
            ));
        }
        let mut out = cx.tensor([height, row], &stream)?;
        let frame = Frame {
            before: self.before.map(|length| length as i64),
            size: [info.width as i64, info.height as i64],
            pitch: image.pitch(),
            channels: F::CHANNELS,
            border: self.border.code(),
            constant: self.border.constant(),
            whole: F::Sample::IS_WHOLE,
            limit: F::Sample::FULL,
        };
        stream.map::<pad<F::Sample>>((&mut out, image.samples(), frame))?;
        io.padded.emit(Image::of(out, Info { width, height, ..info }))
    }
}

impl<F: Packed> fmt::Debug for Pad<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pad({:?} before, {:?} after, {:?})", self.before, self.after, self.border)
    }
}

/// The arguments of a launch of [`pad`].
#[derive(Debug, Clone, Copy, KernelArg)]
struct Frame {
    before: [i64; 2],
    size: [i64; 2],
    pitch: usize,
    channels: usize,
    border: u32,
    constant: [f32; 4],
    whole: bool,
    limit: f32,
}

/// The kernel of [`Pad`].
#[kernel(map)]
fn pad<T: Number>(out: &mut T, #[at] [y, column]: [usize; 2], image: &[T], frame: Frame) {
    let channel = column % frame.channels;
    let x = place((column / frame.channels) as i64 - frame.before[0], frame.size[0], frame.border);
    let from_y = place(y as i64 - frame.before[1], frame.size[1], frame.border);
    if x < 0 || from_y < 0 {
        *out = rounded(frame.constant[channel], frame.whole, frame.limit) as T;
    } else {
        *out = image[from_y as usize * frame.pitch + x as usize * frame.channels + channel];
    }
}
