//! A graph on a GPU, or on the host simulator where there is none.

mod pipeline;
mod scale;

use pipeline::Pipeline;
use streamflow::prelude::*;

fn main() -> Result<()> {
    let platform = Platform::detect()?;
    println!("on {}", platform.name());
    let mut graph = Pipeline::new(&platform, 1024, 10, 0.5)?;
    let report = graph.run()?;
    println!("{:?}", graph.sum().sums);
    print!("{report}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NVRTC compiles each kernel, without a GPU. With a GPU, the results of the kernels that the graph has launched are compared with
    /// those of the simulator.
    #[test]
    fn the_kernels_compile() -> Result<()> {
        Pipeline::new(&Platform::host().build()?, 1000, 2, 0.5)?.run()?;
        println!("{}", streamflow::testing::kernels()?);
        Ok(())
    }
}
