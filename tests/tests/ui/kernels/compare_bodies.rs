// The input of a comparison has other types than the kernel's arguments.
use streamflow::prelude::*;
use streamflow::testing::{Tolerance, compare_bodies};

#[kernel(unsafe cuda = "")]
fn scale(out: &mut [f32], a: f32, x: &[f32]) {
    let _ = (out, a, x);
}

fn main() -> Result<()> {
    compare_bodies::<scale>(Tolerance::EXACT, |draw| {
        let n = draw.len(0..=10);
        (n.into(), (vec![0.0; n], 1, vec![0.0; n]))
    })?;
    Ok(())
}
