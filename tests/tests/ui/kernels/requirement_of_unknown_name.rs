use streamflow::kernel;

#[kernel(requires(b.len() == a.len()), unsafe cuda = "")]
fn unknown(a: &[f32]) {
    let _ = a;
}

fn main() {}
