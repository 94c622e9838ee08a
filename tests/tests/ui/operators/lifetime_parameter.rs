use streamflow::prelude::*;

#[operator]
pub struct Named<'a> {
    #[input]
    x: &u64,
    name: &'a str,
}

fn main() {
    let _ = Named::new("a");
}
