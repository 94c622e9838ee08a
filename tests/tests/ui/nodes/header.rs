// Texts that are not a graph.
use streamflow::prelude::*;

graph! {
    pub struct Generic<'a>(value: u8) {
    }
}

graph! {
    pub fn function() {}
}

graph! {
    pub struct NoBody(a: usize);
}

graph! {
    pub struct Params(usize, b: u8) {}
}

graph! {}

fn main() -> Result<()> {
    Generic::new(&Platform::detect()?, 3)?.run()?;
    NoBody::new(&Platform::detect()?, 3)?.run()?;
    Ok(())
}
