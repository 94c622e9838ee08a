use streamflow::kernel::Kernel;

fn launch<K: Kernel>() {}

struct Plain;

fn main() {
    launch::<Plain>();
}
