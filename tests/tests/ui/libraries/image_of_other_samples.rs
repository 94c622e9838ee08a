// Samples of one type come back as an image of another.
use image::Rgb;
use streamflow::prelude::*;

fn show(download: &Download<f32>) -> Result<(), Error> {
    download.image_blocking::<Rgb<u8>>().map(drop)
}

fn main() {}
