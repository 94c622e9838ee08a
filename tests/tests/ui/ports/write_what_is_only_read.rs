use streamflow::prelude::*;

#[kernel(unsafe cuda = "if (thread_index() < data_len) data[thread_index()] += 1.0f;")]
pub fn add_one(data: &mut [f32]) {
    data.iter_mut().for_each(|x| *x += 1.0);
}

#[operator]
pub struct AddOne {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for AddOne {
    fn compute(&mut self, io: AddOneIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let out = cx.tensor(image.shape(), &stream)?;
        stream.launch::<add_one>(image.len(), (image,))?;
        io.out.emit(out)
    }
}

fn main() {}
