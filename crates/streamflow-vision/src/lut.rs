//! `Lut`: samples replaced by those of a table.

use std::fmt;
use std::marker::PhantomData;

use streamflow::kernel::Number;
use streamflow::prelude::*;
use streamflow::{Failure, Table};

use crate::format::Packed;
use crate::image::Image;
use crate::sample::Sample;

/// Replaces each sample by the one that a table has for it, as OpenCV's `LUT`: for gamma, contrast, or false colours of a channel.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::Lut;
/// use streamflow_vision::format::Rgb;
///
/// # fn main() -> streamflow::Result<()> {
/// let negative: Lut<Rgb<u8>> = Lut::new((0..=255).rev().collect::<Vec<u8>>())?;
/// # Ok(())
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Lut<F: Packed> {
    /// The images.
    #[input]
    image: &Image<F>,
    /// The images with other samples, without padding.
    #[output]
    replaced: Image<F>,
    table: Table<F::Sample>,
    is_per_channel: bool,
    of: PhantomData<fn(F)>,
}

impl<F: Packed> Lut<F>
where
    F::Sample: streamflow::kernel::Integer,
{
    /// Creates an operator with a table for all channels, or with one for each channel, the first one first: 256 samples of `u8` in each,
    /// or 65,536 of `u16`.
    ///
    /// # Errors
    /// An error for a table with another number of samples.
    pub fn new(table: impl Into<Vec<F::Sample>>) -> Result<Self> {
        let (table, each) = (table.into(), 1 + F::Sample::FULL as usize);
        let is_per_channel = table.len() == each * F::CHANNELS;
        if table.len() != each && !is_per_channel {
            return Err(Failure::msg(format!(
                "`Lut` has a table of {} samples, and {} has {each} numbers and {} channels; give it {each} samples, or {}",
                table.len(),
                F::NAME,
                F::CHANNELS,
                each * F::CHANNELS
            )));
        }
        Ok(Self { table: Table::new(table), is_per_channel, of: PhantomData })
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Lut<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let (info, table) = (image.info(), self.table.on(cx)?);
        let mut out = cx.tensor([info.height, info.width * F::CHANNELS], &stream)?;
        let stride = if self.is_per_channel { table.len() / F::CHANNELS } else { 0 };
        stream.map::<replace<F::Sample>>((&mut out, image.view(), table, F::CHANNELS, stride))?;
        io.replaced.emit(Image::of(out, info))
    }
}

impl<F: Packed> fmt::Debug for Lut<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lut").field("table", &self.table).finish_non_exhaustive()
    }
}

/// The kernel of [`Lut`], and of `Equalize` with one table. The table of a channel begins `stride` after that of the channel before.
#[kernel(map)]
pub(crate) fn replace<T: Number>(
    out: &mut T,
    #[at] [_y, column]: [usize; 2],
    sample: &T,
    table: &[T],
    channels: usize,
    stride: usize,
) {
    *out = table[*sample as usize + column % channels * stride];
}
