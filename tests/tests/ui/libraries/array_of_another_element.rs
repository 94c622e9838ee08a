// An array goes to a device whose elements are none of device memory.
use ndarray::Array1;
use streamflow::prelude::*;

fn masks(platform: &Platform, kept: &Array1<bool>) {
    platform.upload_array(kept);
}

fn main() {}
