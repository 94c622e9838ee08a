#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Cursor;

use super::*;

/// Returns a PNG of 2 x 2 pixels in any colour type.
fn png_of(color: ColorType, depth: BitDepth, data: &[u8], palette: Option<&[u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 2);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if let Some(palette) = palette {
        encoder.set_palette(palette.to_vec());
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    bytes
}

fn rgb_of(bytes: Vec<u8>) -> Vec<u8> {
    let image = decode(Cursor::new(bytes)).unwrap();
    assert_eq!((image.width, image.height), (2, 2));
    image.rgb
}

#[test]
fn every_colour_type_becomes_rgb() {
    let rgb: Vec<u8> = (1..=12).collect();
    assert_eq!(rgb_of(png_of(ColorType::Rgb, BitDepth::Eight, &rgb, None)), rgb);

    let rgba: Vec<u8> = rgb.chunks(3).flat_map(|p| [p[0], p[1], p[2], 99]).collect();
    assert_eq!(rgb_of(png_of(ColorType::Rgba, BitDepth::Eight, &rgba, None)), rgb);

    let triple = [7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10];
    assert_eq!(rgb_of(png_of(ColorType::Grayscale, BitDepth::Eight, &[7, 8, 9, 10], None)), triple);
    let alpha = [7, 0, 8, 1, 9, 2, 10, 3];
    assert_eq!(rgb_of(png_of(ColorType::GrayscaleAlpha, BitDepth::Eight, &alpha, None)), triple);

    let palette = [7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10];
    let indices = [0, 1, 2, 3];
    assert_eq!(
        rgb_of(png_of(ColorType::Indexed, BitDepth::Eight, &indices, Some(&palette))),
        triple
    );
}

#[test]
fn other_depths_become_8_bits() {
    // Each row has two pixels of one bit, in the upper bits of its byte.
    let bits = [0b1000_0000, 0b0100_0000];
    let expected = [255, 255, 255, 0, 0, 0, 0, 0, 0, 255, 255, 255];
    assert_eq!(rgb_of(png_of(ColorType::Grayscale, BitDepth::One, &bits, None)), expected);

    let wide = [0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0];
    let high: Vec<u8> = [0x12, 0x56, 0x9a, 0xde].iter().flat_map(|&g| [g; 3]).collect();
    assert_eq!(rgb_of(png_of(ColorType::Grayscale, BitDepth::Sixteen, &wide, None)), high);
}

#[test]
fn a_written_image_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grey.png");
    write_grey(&path, 3, 1, &[1, 2, 3]).unwrap();
    let image = read(&path).unwrap();
    assert_eq!((image.width, image.height), (3, 1));
    assert_eq!(image.rgb, [1, 1, 1, 2, 2, 2, 3, 3, 3]);
}

#[test]
fn errors_of_damaged_files_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let whole = png_of(ColorType::Rgb, BitDepth::Eight, &[5; 12], None);
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    for (name, bytes) in [
        ("empty.png", &[][..]),
        ("text.png", b"this is not a photograph"),
        ("cut.png", &whole[..whole.len() / 2]),
        ("flipped.png", &flipped),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, PngError::Decode { .. }), "{name}: {error:?}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_missing_file_and_a_directory_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().join("missing.png"), dir.path().into()] {
        let error = read(&path).unwrap_err();
        assert!(matches!(error, PngError::Read { .. }), "{error:?}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}

#[test]
fn a_failed_write_leaves_everything_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.png");
    fs::write(&path, "before").unwrap();
    // The data has too few pixels, so the write fails after the header.
    let error = write_grey(&path, 2, 2, &[1, 2]).unwrap_err();
    assert!(matches!(error, PngError::Encode { .. } | PngError::Write { .. }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), b"before");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the temporary file was not removed");
}

#[test]
fn only_ordinary_files_are_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("a-directory");
    fs::create_dir(&inner).unwrap();
    let error = write_grey(&inner, 1, 1, &[0]).unwrap_err();
    assert!(matches!(error, PngError::Write { .. }), "{error:?}");
    assert!(inner.is_dir());
}

#[cfg(unix)]
#[test]
fn a_written_file_has_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (written, plain) = (dir.path().join("written.png"), dir.path().join("plain"));
    write_grey(&written, 1, 1, &[0]).unwrap();
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&written), mode(&plain));
}
