use streamflow::kernel;

#[kernel(unsafe cuda = "")]
fn fill<T>(out: &mut [T]) {
    let _ = out;
}

#[kernel(unsafe cuda = "")]
fn copy<T: Copy, U>(out: &mut [T], from: &[U])
where
    U: Send,
{
    let _ = (out, from);
}

fn main() {}
