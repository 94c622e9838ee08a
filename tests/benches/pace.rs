//! How late the ticks of a 20 Hz source are in real time, and how old its messages at the sink, as the report says.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench pace          # 10 seconds
//! cargo bench -p streamflow-tests --bench pace -- 60    # 60 seconds
//! ```
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::process::ExitCode;
use std::time::Duration;

use streamflow::prelude::*;

/// A source that sends the number of each tick.
#[operator]
struct Radar {
    #[output]
    pulse: u64,
}

impl Compute for Radar {
    fn compute(&mut self, io: RadarIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.pulse.emit(cx.tick())
    }
}

#[operator]
struct Screen {
    #[input]
    pulse: u64,
}

impl Compute for Screen {
    fn compute(&mut self, io: ScreenIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.pulse.discard();
        Ok(())
    }
}

graph! {
    struct Paced() {
        #[when(periodic(50ms))]
        let radar: Radar = Radar::new();
        let screen: Screen = Screen::new();
        radar.pulse >> screen.pulse;
    }
}

fn pace(seconds: u64) -> Result<()> {
    let platform = Platform::builder().statistics(true).detect()?;
    println!("platform: {} ({})", platform.name(), platform.why());
    let mut graph = Paced::new(&platform)?;
    println!("{}", graph.run_for(Duration::from_secs(seconds))?);
    Ok(())
}

fn main() -> ExitCode {
    // The first argument that is a number: cargo also passes `--bench`.
    let seconds = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    match pace(seconds.unwrap_or(10)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
