use streamflow::kernel;

#[kernel(unsafe cuda = "")]
struct Filter;

fn main() {
    let _ = Filter;
}
