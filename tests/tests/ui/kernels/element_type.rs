use streamflow::kernel;

#[kernel(unsafe cuda = "")]
fn fill(out: &mut [String]) {
    let _ = out;
}

fn main() {}
