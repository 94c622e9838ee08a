use std::sync::Mutex;

use streamflow::prelude::*;

static KEPT: Mutex<Option<Stream<'static>>> = Mutex::new(None);

fn main() {
    drop(KEPT.lock());
}
