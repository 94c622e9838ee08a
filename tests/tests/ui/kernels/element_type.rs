use streamflow::kernel;

#[kernel(unsafe cuda = "")]
fn fill(out: &mut [String]) {
    let _ = out;
}

#[kernel(unsafe cuda = "")]
fn mask(out: &mut [bool]) {
    let _ = out;
}

fn main() {}
