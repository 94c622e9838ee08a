use streamflow::kernel;

struct Filter;

impl Filter {
    #[kernel(unsafe cuda = "")]
    fn apply(&self, out: &mut [f32]) {
        let _ = out;
    }
}

fn main() {}
