use streamflow::kernel;
use streamflow::kernel::Strided;
use streamflow::memory::TensorView;

#[kernel(unsafe cuda = "")]
fn forms(out: &mut Strided<f32>, a: Strided<f32, 2>, b: &Strided<f32, N>, c: &Strided<f32, 9>) {
    let _ = (out, a, b, c);
}

#[kernel(unsafe cuda = "")]
fn of_a_launch(out: &mut Strided<f32, 2>, a: TensorView<'_, f32>, b: &TensorView<f32>) {
    let _ = (out, a, b);
}

#[kernel(unsafe cuda = "")]
fn element(out: &mut Strided<String, 2>) {
    let _ = out;
}

fn main() {}
