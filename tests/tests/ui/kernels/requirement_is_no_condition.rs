use streamflow::kernel;

#[kernel(requires(a.len() + 1), unsafe cuda = "")]
fn number(a: &[f32]) {
    let _ = a;
}

#[kernel(requires(a[0] == 1.0), unsafe cuda = "")]
fn data(a: &[f32]) {
    let _ = a;
}

#[kernel(requires, unsafe cuda = "")]
fn bare(a: &[f32]) {
    let _ = a;
}

fn main() {}
