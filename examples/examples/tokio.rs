//! A graph beside tasks of tokio: one task sends requests into a port of the graph, and another task awaits the answers.
//!
//! The library starts no runtime, so that any executor can run the tasks. The graph has threads of its own, so that no task
//! blocks. The sending task waits while the graph has no room for a request. The graph waits while the reading task has no room
//! for an answer. Each answer is a download, which the reading task awaits.
//!
//! `cargo run --release -p streamflow-examples --example tokio` prints the sum of each answer, and ends with code 1 if one is
//! wrong.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use futures_util::{SinkExt, StreamExt};
use streamflow::operators::futures::{FromSink, IntoStream, PortSink, PortStream};
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use tokio::runtime;

/// A graph whose ports are a sink and a stream of tasks.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
}

const REQUESTS: usize = 20;

/// data[i] = data[i] * data[i]
#[kernel(map)]
fn square(data: &mut f32) {
    *data *= *data;
}

/// Uploads each request, squares it, and begins to download the answer.
#[operator(streams(work))]
struct Square {
    #[input]
    request: Vec<f32>,
    #[output]
    answer: Download<f32>,
}

impl Compute for Square {
    fn compute(&mut self, io: SquareIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let request = io.request.receive().into_data();
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut pinned = cx.pinned(request.len())?;
        pinned.as_mut_slice_blocking()?.copy_from_slice(&request);
        let mut data = cx.tensor([request.len()], &stream)?;
        stream.upload(&pinned, &mut data)?;
        stream.map::<square>((&mut data,))?;
        io.answer.emit(cx.download(&data, &stream)?)
    }
}

graph! {
    struct Service(requests: FromSink<Vec<f32>>, answers: IntoStream<Download<f32>>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[when(condition(requests.arrived()))]
        let requests: FromSink<Vec<f32>> = requests;
        #[streams(STREAMS)]
        let square: Square = Square::new();
        #[when(condition(answers.has_room()))]
        let answers: IntoStream<Download<f32>> = answers;

        requests.message >> square.request;
        square.answer >> answers.message;
    }
}

/// The values of a request: the numbers from 0 to `number`.
fn request(number: usize) -> Vec<f32> {
    (0..=number).map(|i| i as f32).collect()
}

/// Sends all requests, and waits until the graph has them.
async fn send(mut requests: PortSink<Vec<f32>>) -> Result<()> {
    for number in 0..REQUESTS {
        requests.send(request(number)).await?;
    }
    Ok(requests.close().await?)
}

/// Awaits each answer, and checks its sum. Returns the number of answers.
async fn read(mut answers: PortStream<Download<f32>>) -> Result<usize> {
    let mut count = 0;
    while let Some(answer) = answers.next().await {
        let values = answer?.await?;
        let (sum, n) = (values.iter().sum::<f32>(), count as f32);
        // The expected sum is 0² + 1² + … + n².
        let expected = n * (n + 1.0) * (2.0 * n + 1.0) / 6.0;
        if sum != expected {
            return Err(Failure::msg(format!("answer {count} is {sum}, and not {expected}")));
        }
        writeln!(io::stdout(), "answer {count}: {sum}")?;
        count += 1;
    }
    Ok(count)
}

async fn serve(args: &Args) -> Result<()> {
    let (from, requests) = FromSink::channel(4)?;
    let (to, answers) = IntoStream::channel(4)?;
    let mut running = Service::new(&args.platform.open()?, from, to)?.spawn()?;

    let sender = tokio::spawn(send(requests));
    let read = read(answers).await;
    // The run ends when its source or the reader of its stream has ended.
    running.ended().await;
    // An error of the run is returned first, since it may be the cause why a task has failed. An error of the reader comes before
    // an error of the sender, since the run ends with the reader's stream.
    running.join()?;
    let count = read?;
    sender.await??;
    match count {
        REQUESTS => Ok(()),
        count => Err(Failure::msg(format!("{count} of {REQUESTS} answers have come"))),
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    cli::main(|| runtime::Builder::new_current_thread().build()?.block_on(serve(&args)))
}
