// A view of a dropped tensor.
use streamflow::prelude::*;

fn first(platform: &Platform, stream: &CudaStream) -> Result<()> {
    let view = {
        let tensor = platform.tensor::<f32>([8], stream)?;
        tensor.view()
    };
    println!("{:?}", view.shape());
    Ok(())
}

fn main() {}
