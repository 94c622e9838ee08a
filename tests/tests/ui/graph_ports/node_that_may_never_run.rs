// The node inside runs only if the graph's optional input has an edge.
use streamflow::prelude::*;

/// Shows labels.
#[operator]
pub struct Labels {
    #[input(optional)]
    label: &u64,
}

impl Compute for Labels {
    fn compute(&mut self, io: LabelsIo<'_>, _: &ExecutionContext) -> Result<()> {
        if let Some(label) = io.label.receive().into_data() {
            println!("{label}");
        }
        Ok(())
    }
}

graph! {
    /// A graph with ports.
    pub struct Part {
        input(optional) label: &u64;
        let labels: Labels = Labels::new();
        label >> labels.label;
    }
}

fn main() {}
