// A part of an image is uploaded.
use image::{GenericImageView, RgbImage, SubImage};
use streamflow::prelude::*;

fn upload(platform: &Platform, part: &SubImage<&RgbImage>) -> Result<Tensor<u8>, Error> {
    println!("{} pixels", part.width());
    platform.upload_array(part)
}

fn main() {}
