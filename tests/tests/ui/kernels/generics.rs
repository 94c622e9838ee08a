use streamflow::kernel;

#[kernel(unsafe cuda = "")]
fn lifetimes<'a>(a: &'a [f32]) {
    let _ = a;
}

#[kernel(unsafe cuda = "")]
fn constants<const N: usize>(a: &[f32]) {
    let _ = a;
}

fn main() {}
