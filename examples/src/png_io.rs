//! Reads and writes photographs as PNG.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use png::{BitDepth, ColorType, DecodingError, EncodingError, Transformations};

/// An image of 8 bits per channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The number of pixels per row.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// Red, green, blue, row by row: `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

/// Why a photograph could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The file can't be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why the file can't be read.
        source: io::Error,
    },
    /// The file is not a PNG, or is damaged.
    #[error("cannot decode {} as PNG", path.display())]
    Decode {
        /// The file.
        path: PathBuf,
        /// Why the file can't be decoded.
        source: DecodingError,
    },
    /// The file can't be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why the file can't be written.
        source: io::Error,
    },
    /// The image can't be encoded.
    #[error("cannot encode {} as PNG", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// Why the image can't be encoded.
        source: EncodingError,
    },
}

/// Reads a PNG: grey, RGB, RGBA or palette. Alpha is dropped, and 16-bit channels are reduced to 8 bits.
///
/// # Errors
/// [`PngError::Read`] and [`PngError::Decode`], with the file's name.
pub fn read(path: &Path) -> Result<Image, PngError> {
    let unreadable = |source| PngError::Read { path: path.into(), source };
    let file = File::open(path).map_err(unreadable)?;
    // Opening a directory succeeds on Linux, and only reading it fails. So the type of the file is checked.
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    decode(BufReader::new(file)).map_err(|source| match source {
        DecodingError::IoError(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
            PngError::Read { path: path.into(), source }
        }
        source => PngError::Decode { path: path.into(), source },
    })
}

/// Decodes a PNG as [`read`] does.
///
/// # Errors
/// [`DecodingError`], which says why the data can't be decoded.
pub fn decode(from: impl io::BufRead + io::Seek) -> Result<Image, DecodingError> {
    let mut decoder = png::Decoder::new(from);
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let bytes = reader.output_buffer_size().ok_or(DecodingError::LimitsExceeded)?;
    let mut raw = vec![0; bytes];
    let info = reader.next_frame(&mut raw)?;
    debug_assert_eq!(info.bit_depth, BitDepth::Eight);
    raw.truncate(info.buffer_size());
    let rgb = match info.color_type {
        ColorType::Rgb => raw,
        ColorType::Rgba => raw.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect(),
        ColorType::GrayscaleAlpha => raw.chunks_exact(2).flat_map(|p| [p[0]; 3]).collect(),
        // The decoder expands palettes to RGB, so an image of one channel is grey.
        ColorType::Grayscale | ColorType::Indexed => raw.iter().flat_map(|&g| [g; 3]).collect(),
    };
    Ok(Image { width: info.width, height: info.height, rgb })
}

/// Writes an 8-bit grey PNG, completely or not at all.
///
/// The bytes go to a temporary file in the same directory; the file is then renamed to `path`. If anything fails, the
/// temporary file is removed, and an existing file at `path` does not change.
///
/// # Errors
/// [`PngError::Write`] and [`PngError::Encode`], with the file's name. An existing `path` must be an ordinary file, not
/// a device for example: renaming would replace it.
pub fn write_grey(path: &Path, width: u32, height: u32, grey: &[u8]) -> Result<(), PngError> {
    write(path, |to| encode_grey(to, width, height, grey))
}

/// Writes an 8-bit RGB PNG, as [`write_grey`] does.
///
/// # Errors
/// As for [`write_grey`].
pub fn write_rgb(path: &Path, image: &Image) -> Result<(), PngError> {
    let Image { width, height, ref rgb } = *image;
    write(path, |to| encode(to, width, height, ColorType::Rgb, rgb))
}

fn write(
    path: &Path,
    encode: impl FnOnce(&mut dyn Write) -> Result<(), EncodingError>,
) -> Result<(), PngError> {
    let unwritable = |source| PngError::Write { path: path.into(), source };
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let what = "exists and is not an ordinary file";
        return Err(unwritable(io::Error::new(io::ErrorKind::AlreadyExists, what)));
    }
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".png.part");
    // Temporary files are private by default, and this file needs the permissions of an ordinary file.
    #[cfg(unix)]
    builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    let mut part = builder.tempfile_in(directory).map_err(unwritable)?;
    let mut to = BufWriter::new(part.as_file_mut());
    encode(&mut to).map_err(|source| match source {
        EncodingError::IoError(source) => PngError::Write { path: path.into(), source },
        source => PngError::Encode { path: path.into(), source },
    })?;
    to.flush().map_err(unwritable)?;
    drop(to);
    // Without `sync_data`, a crash soon after the rename could leave an empty file at `path`.
    part.as_file().sync_data().map_err(unwritable)?;
    part.persist(path).map_err(|failed| unwritable(failed.error))?;
    Ok(())
}

/// Encodes an 8-bit grey PNG.
///
/// # Errors
/// Those of the writer, and an error if `grey` does not have `width * height` bytes.
pub fn encode_grey(
    to: impl Write,
    width: u32,
    height: u32,
    grey: &[u8],
) -> Result<(), EncodingError> {
    encode(to, width, height, ColorType::Grayscale, grey)
}

fn encode(
    to: impl Write,
    width: u32,
    height: u32,
    color: ColorType,
    bytes: &[u8],
) -> Result<(), EncodingError> {
    let mut encoder = png::Encoder::new(to, width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bytes)?;
    writer.finish()
}

#[cfg(test)]
mod tests;
