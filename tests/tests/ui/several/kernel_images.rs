// Kernels of an image with options and arguments that they can't have.
use streamflow::prelude::*;

const PTX: &[u8] = b"";

#[kernel(image = PTX)]
fn without_unsafe(y: &mut [f32]);

#[kernel(unsafe image = PTX, unsafe image = PTX)]
fn twice(y: &mut [f32]);

#[kernel(unsafe image(PTX))]
fn in_parentheses(y: &mut [f32]);

#[kernel(unsafe image = PTX, unsafe cuda = "")]
fn beside_cuda(y: &mut [f32]);

#[kernel(unsafe image = PTX, entry = scale)]
fn entry_is_no_text(y: &mut [f32]);

#[kernel(unsafe image = PTX, entry = "")]
fn entry_is_empty(y: &mut [f32]);

#[kernel(unsafe image = PTX, unsafe entry = "scale")]
fn entry_is_unsafe(y: &mut [f32]);

#[kernel(unsafe image = PTX, slices = lengths)]
fn other_slices(y: &mut [f32]);

#[kernel(unsafe cuda = "", entry = "scale", slices = pointers)]
fn without_image(_y: &mut [f32]) {}

#[kernel(unsafe image = PTX)]
fn generic<T: Element>(y: &mut [T]);

#[kernel(unsafe image = PTX, slices = pointers)]
fn view_as_pointer(y: &mut streamflow::kernel::Strided<f32, 2>);

#[kernel(unsafe cuda = "")]
fn without_body(y: &mut [f32]);

#[kernel(unsafe image = PTX)]
fn result_without_body(y: &[f32]) -> f32;

fn main() {}
