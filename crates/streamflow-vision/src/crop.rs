//! `Crop`: a part of images.

use std::fmt;
use std::marker::PhantomData;

use streamflow::Failure;
use streamflow::prelude::*;

use crate::format::Packed;
use crate::image::{Image, Info};

/// Copies a part of images. A kernel that reads a part once needs no copy: [`Image::view`] has parts by `slice`.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow_vision::Crop;
/// use streamflow_vision::format::Rgb;
///
/// // 64 × 48 pixels from column 10 and row 20 on.
/// let crop: Crop<Rgb<u8>> = Crop::new([10, 20], [64, 48]);
/// ```
#[operator(no_new, unlisted)]
pub struct Crop<F: Packed> {
    /// The images.
    #[input]
    image: &Image<F>,
    /// The part, without padding.
    #[output]
    cropped: Image<F>,
    from: [usize; 2],
    size: [usize; 2],
    of: PhantomData<fn(F)>,
}

impl<F: Packed> Crop<F> {
    /// Creates an operator for the part whose first pixel is at `[x, y]` and whose size is `[width, height]`.
    pub fn new(from: [usize; 2], size: [usize; 2]) -> Self {
        Self { from, size, of: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<F: Packed> Compute for Crop<F> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let ([x, y], [width, height]) = (self.from, self.size);
        let info = image.info();
        let range = |from: usize, len: usize, most: usize| {
            from.checked_add(len).filter(|end| *end <= most).map(|end| from..end)
        };
        let (Some(rows), Some(columns)) =
            (range(y, height, info.height), range(x, width, info.width))
        else {
            return Err(self.beyond(info));
        };
        let columns = columns.start * F::CHANNELS..columns.end * F::CHANNELS;
        let part = image.view().slice(0, rows).and_then(|part| part.slice(1, columns));
        let part = part.ok_or_else(|| self.beyond(info))?;
        let mut out = cx.tensor(part.shape(), &stream)?;
        stream.copy(&part, &mut out)?;
        io.cropped.emit(Image::of(out, Info { width, height, ..info }))
    }
}

impl<F: Packed> Crop<F> {
    #[cold]
    fn beyond(&self, info: Info) -> Failure {
        let ([x, y], [width, height]) = (self.from, self.size);
        Failure::msg(format!(
            "`Crop` takes {width} × {height} pixels from column {x} and row {y}, and the image of its input `image` has {} × {}; send larger \
             images, or take a part within them",
            info.width, info.height
        ))
    }
}

impl<F: Packed> fmt::Debug for Crop<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Crop({:?} from {:?})", self.size, self.from)
    }
}
