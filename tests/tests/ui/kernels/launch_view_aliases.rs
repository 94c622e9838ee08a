use streamflow::kernel;
use streamflow::kernel::Strided;
use streamflow::prelude::*;

#[kernel(unsafe cuda = "", requires(out.shape() == a.shape()))]
fn scale(out: &mut Strided<f32, 2>, a: &Strided<f32, 2>) {
    for at in out.indices() {
        out[at] = a[at];
    }
}

fn the_same(stream: &CudaStream, mut data: Tensor<f32>) -> Result<()> {
    Ok(stream.launch::<scale>([2, 2], (data.view_mut(), data.view().transpose()))?)
}

fn a_view_that_is_kept(stream: &CudaStream, mut data: Tensor<f32>) -> Result<()> {
    let mut whole = data.view_mut();
    let read = whole.as_view();
    Ok(stream.launch::<scale>([2, 2], (whole.reborrow(), read))?)
}

fn a_view_to_be_read(stream: &CudaStream, data: Tensor<f32>, other: Tensor<f32>) -> Result<()> {
    Ok(stream.launch::<scale>([2, 2], (data.view(), other.view()))?)
}

fn main() {}
