use streamflow::prelude::*;

fn view(platform: &Platform, stream: &CudaStream) -> Result<()> {
    let view = {
        let tensor = platform.tensor::<f32>([8], stream)?;
        tensor.view()
    };
    println!("{:?}", view.shape());
    Ok(())
}

fn main() {}
