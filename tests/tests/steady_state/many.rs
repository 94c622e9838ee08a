//! A graph with more waiting nodes, and more sleeping workers, than the inline lists have room for.

use std::time::Duration;

use streamflow::operator::BooleanHandle;
use streamflow::prelude::*;
use streamflow_tests::Failed;
use streamflow_tests::graph_runs::OnTick;

/// A source that sends its ticks, and ends the graph after the last one.
#[operator]
struct Numbers {
    #[output]
    number: u64,
    ticks: u64,
    on_tick: OnTick,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        (self.on_tick)(cx.tick())?;
        if cx.tick() + 1 == self.ticks {
            cx.stop_graph();
        }
        io.number.emit(cx.tick())
    }
}

#[operator]
struct Ignore {
    #[input]
    number: &u64,
}

impl Compute for Ignore {
    fn compute(&mut self, io: IgnoreIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

/// A source whose condition is never set to true.
#[operator]
struct Off {
    #[output]
    number: u64,
}

impl Compute for Off {
    fn compute(&mut self, io: OffIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Many(ticks: u64, on_tick: OnTick, off: BooleanHandle) {
        // The interval is long enough that the workers sleep again before each tick.
        #[when(periodic(200us))]
        let numbers: Numbers = Numbers::new(ticks, on_tick);
        #[worker(aa)]
        let a: Ignore = Ignore::new();
        numbers.number >> a.number;
        #[worker(bb)]
        let b: Ignore = Ignore::new();
        numbers.number >> b.number;
        #[worker(cc)]
        let c: Ignore = Ignore::new();
        numbers.number >> c.number;
        #[worker(dd)]
        let d: Ignore = Ignore::new();
        numbers.number >> d.number;
        #[worker(ee)]
        let e: Ignore = Ignore::new();
        numbers.number >> e.number;
        #[worker(ff)]
        let f: Ignore = Ignore::new();
        numbers.number >> f.number;
        #[worker(gg)]
        let g: Ignore = Ignore::new();
        numbers.number >> g.number;
        #[worker(hh)]
        let h: Ignore = Ignore::new();
        numbers.number >> h.number;
        #[worker(ii)]
        let i: Ignore = Ignore::new();
        numbers.number >> i.number;
        #[worker(jj)]
        let j: Ignore = Ignore::new();
        numbers.number >> j.number;
        #[worker(kk)]
        let k: Ignore = Ignore::new();
        numbers.number >> k.number;
        #[worker(ll)]
        let l: Ignore = Ignore::new();
        numbers.number >> l.number;
        #[when(boolean(off))]
        let off1: Off = Off::new();
        off1.number >> _;
        #[when(boolean(off))]
        let off2: Off = Off::new();
        off2.number >> _;
        #[when(boolean(off))]
        let off3: Off = Off::new();
        off3.number >> _;
        #[when(boolean(off))]
        let off4: Off = Off::new();
        off4.number >> _;
        #[when(boolean(off))]
        let off5: Off = Off::new();
        off5.number >> _;
        #[when(boolean(off))]
        let off6: Off = Off::new();
        off6.number >> _;
        #[when(boolean(off))]
        let off7: Off = Off::new();
        off7.number >> _;
        #[when(boolean(off))]
        let off8: Off = Off::new();
        off8.number >> _;
        #[when(boolean(off))]
        let off9: Off = Off::new();
        off9.number >> _;
        #[when(boolean(off))]
        let off10: Off = Off::new();
        off10.number >> _;
        #[when(boolean(off))]
        let off11: Off = Off::new();
        off11.number >> _;
        #[when(boolean(off))]
        let off12: Off = Off::new();
        off12.number >> _;
        #[when(boolean(off))]
        let off13: Off = Off::new();
        off13.number >> _;
        #[when(boolean(off))]
        let off14: Off = Off::new();
        off14.number >> _;
        #[when(boolean(off))]
        let off15: Off = Off::new();
        off15.number >> _;
        #[when(boolean(off))]
        let off16: Off = Off::new();
        off16.number >> _;
        #[when(boolean(off))]
        let off17: Off = Off::new();
        off17.number >> _;
        #[when(boolean(off))]
        let off18: Off = Off::new();
        off18.number >> _;
    }
}

/// Runs the graph for `ticks` ticks.
pub(crate) fn run(platform: &Platform, ticks: u64, on_tick: OnTick) -> Result<(), Failed> {
    let at_once = Platform::builder().spin(Duration::ZERO).driver(platform.driver().clone())?;
    let off = BooleanHandle::new(false);
    let mut graph = Many::new(&at_once, ticks, on_tick, off.clone())?;
    graph.workers(2)?.run()?;
    Ok(())
}
