use streamflow::kernel::Kernel;

fn launch<K: Kernel>() {}

struct Scale;

fn main() {
    launch::<Scale>();
}
