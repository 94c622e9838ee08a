use streamflow::kernel;

type Flag = bool;

#[kernel(unsafe cuda = "")]
fn named(out: &mut [f32], everywhere: bool, name: String) {
    let _ = (out, everywhere, name);
}

#[kernel(unsafe cuda = "")]
fn hidden(out: &mut [f32], everywhere: Flag) {
    let _ = (out, everywhere);
}

fn main() {}
