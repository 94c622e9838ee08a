use streamflow::operator;

#[operator]
fn source() {}

fn main() {
    source();
}
