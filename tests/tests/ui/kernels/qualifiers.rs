use streamflow::kernel;

#[kernel(unsafe cuda = "")]
const fn constant(a: &[f32]) {
    let _ = a;
}

#[kernel(unsafe cuda = "")]
async fn asynchronous(a: &[f32]) {
    let _ = a;
}

#[kernel(unsafe cuda = "")]
unsafe fn unsound(a: &[f32]) {
    let _ = a;
}

#[kernel(unsafe cuda = "")]
extern "C" fn external(a: &[f32]) {
    let _ = a;
}

#[kernel(unsafe cuda = "")]
fn result(a: &[f32]) -> f32 {
    a[0]
}

fn main() {}
