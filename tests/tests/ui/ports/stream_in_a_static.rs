use std::sync::Mutex;

use streamflow::prelude::*;

enum Kept {
    Nothing,
    Stream(Stream<'static>),
}

static KEPT: Mutex<Kept> = Mutex::new(Kept::Nothing);

fn main() {
    drop(KEPT.lock());
}
