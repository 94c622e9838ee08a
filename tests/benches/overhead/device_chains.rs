//! Chains of tasks with device data, as Task Bench without kernels has them: each task has its own stream and makes an
//! output of its own. `stream` queues no kernel, `launch` one for each task.
//!
//! By hand: the same streams, with two outputs for each task, used in turn. A task waits for the one before it, and for
//! the reader of the output that it uses again.
//!
//! The compared figure is the cost of a task in a chain of 500 against one in a chain of 100: the memory of streamflow
//! for a graph must not make its tasks slower as it grows.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow::stream::Point;
use streamflow_tests::kernels::{fill, slow_copy};
use streamflow_tests::layers::Null;

use super::{WARM_UP, compare};

/// How many elements a message has.
const LEN: usize = 8;
/// How many tasks a measured run has, unless the command line gives another number.
const TASKS: u64 = 400_000;

#[operator(streams(work))]
struct Origin {
    #[output]
    out: Tensor<f32>,
    launches: bool,
}

impl Compute for Origin {
    fn compute(&mut self, io: OriginIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut out = cx.tensor([LEN], &stream)?;
        if self.launches {
            stream.launch::<fill>(LEN, (&mut out, 0.0))?;
        }
        io.out.set_cuda_stream(&stream).emit(out)
    }
}

#[operator]
struct Task {
    #[input(many)]
    from: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    launches: bool,
}

impl Compute for Task {
    fn compute(&mut self, io: TaskIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (from, stream) = io.from.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        if self.launches {
            for from in from {
                stream.launch::<slow_copy>(LEN, (&mut out, from, 0))?;
            }
        }
        io.out.emit(out)
    }
}

#[operator]
struct Sink {
    #[input(many)]
    from: &Tensor<f32>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = io.from.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

macro_rules! chain {
    ($name:ident: $origin:ident [$($task:ident)*] $sink:ident) => {
        chain!(@ $name $origin [$($task)*] $sink [$origin $($task)*] [$($task)* $sink]);
    };
    (@ $name:ident $origin:ident [$($task:ident)*] $sink:ident [$($from:ident)*] [$($to:ident)*]) => {
        graph! {
            struct $name(count: u64, launches: bool) {
                const STREAMS: CudaStreamPool = CudaStreamPool::new();
                #[streams(STREAMS)] #[when(count(count))] let $origin: Origin = Origin::new(launches);
                $(#[streams(STREAMS)] let $task: Task = Task::new(launches);)*
                #[streams(STREAMS)] let $sink: Sink = Sink::new();
                $($from.out >> $to.from;)*
            }
        }
    };
}

chain!(Chain16: origin [
    t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11 t12 t13
] sink);
chain!(Chain100: origin [
    t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11 t12 t13 t14 t15 t16 t17 t18 t19 t20 t21 t22 t23 t24 t25 t26 t27 t28 t29
    t30 t31 t32 t33 t34 t35 t36 t37 t38 t39 t40 t41 t42 t43 t44 t45 t46 t47 t48 t49 t50 t51 t52 t53 t54 t55 t56 t57
    t58 t59 t60 t61 t62 t63 t64 t65 t66 t67 t68 t69 t70 t71 t72 t73 t74 t75 t76 t77 t78 t79 t80 t81 t82 t83 t84 t85
    t86 t87 t88 t89 t90 t91 t92 t93 t94 t95 t96 t97
] sink);
chain!(Chain500: origin [
    t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11 t12 t13 t14 t15 t16 t17 t18 t19 t20 t21 t22 t23 t24 t25 t26 t27 t28 t29
    t30 t31 t32 t33 t34 t35 t36 t37 t38 t39 t40 t41 t42 t43 t44 t45 t46 t47 t48 t49 t50 t51 t52 t53 t54 t55 t56 t57
    t58 t59 t60 t61 t62 t63 t64 t65 t66 t67 t68 t69 t70 t71 t72 t73 t74 t75 t76 t77 t78 t79 t80 t81 t82 t83 t84 t85
    t86 t87 t88 t89 t90 t91 t92 t93 t94 t95 t96 t97 t98 t99 t100 t101 t102 t103 t104 t105 t106 t107 t108 t109 t110
    t111 t112 t113 t114 t115 t116 t117 t118 t119 t120 t121 t122 t123 t124 t125 t126 t127 t128 t129 t130 t131 t132
    t133 t134 t135 t136 t137 t138 t139 t140 t141 t142 t143 t144 t145 t146 t147 t148 t149 t150 t151 t152 t153 t154
    t155 t156 t157 t158 t159 t160 t161 t162 t163 t164 t165 t166 t167 t168 t169 t170 t171 t172 t173 t174 t175 t176
    t177 t178 t179 t180 t181 t182 t183 t184 t185 t186 t187 t188 t189 t190 t191 t192 t193 t194 t195 t196 t197 t198
    t199 t200 t201 t202 t203 t204 t205 t206 t207 t208 t209 t210 t211 t212 t213 t214 t215 t216 t217 t218 t219 t220
    t221 t222 t223 t224 t225 t226 t227 t228 t229 t230 t231 t232 t233 t234 t235 t236 t237 t238 t239 t240 t241 t242
    t243 t244 t245 t246 t247 t248 t249 t250 t251 t252 t253 t254 t255 t256 t257 t258 t259 t260 t261 t262 t263 t264
    t265 t266 t267 t268 t269 t270 t271 t272 t273 t274 t275 t276 t277 t278 t279 t280 t281 t282 t283 t284 t285 t286
    t287 t288 t289 t290 t291 t292 t293 t294 t295 t296 t297 t298 t299 t300 t301 t302 t303 t304 t305 t306 t307 t308
    t309 t310 t311 t312 t313 t314 t315 t316 t317 t318 t319 t320 t321 t322 t323 t324 t325 t326 t327 t328 t329 t330
    t331 t332 t333 t334 t335 t336 t337 t338 t339 t340 t341 t342 t343 t344 t345 t346 t347 t348 t349 t350 t351 t352
    t353 t354 t355 t356 t357 t358 t359 t360 t361 t362 t363 t364 t365 t366 t367 t368 t369 t370 t371 t372 t373 t374
    t375 t376 t377 t378 t379 t380 t381 t382 t383 t384 t385 t386 t387 t388 t389 t390 t391 t392 t393 t394 t395 t396
    t397 t398 t399 t400 t401 t402 t403 t404 t405 t406 t407 t408 t409 t410 t411 t412 t413 t414 t415 t416 t417 t418
    t419 t420 t421 t422 t423 t424 t425 t426 t427 t428 t429 t430 t431 t432 t433 t434 t435 t436 t437 t438 t439 t440
    t441 t442 t443 t444 t445 t446 t447 t448 t449 t450 t451 t452 t453 t454 t455 t456 t457 t458 t459 t460 t461 t462
    t463 t464 t465 t466 t467 t468 t469 t470 t471 t472 t473 t474 t475 t476 t477 t478 t479 t480 t481 t482 t483 t484
    t485 t486 t487 t488 t489 t490 t491 t492 t493 t494 t495 t496 t497
] sink);

/// The same chain of tasks on streams, without a graph.
struct ByHand {
    tasks: Vec<HandTask>,
    ticks: usize,
    launches: bool,
}

/// One task of a [`ByHand`] chain.
struct HandTask {
    stream: CudaStream,
    /// Two output tensors, used in alternating ticks.
    out: [Tensor<f32>; 2],
    /// For each output, the record at which the last task on it was done.
    done: [Option<Point>; 2],
}

impl ByHand {
    fn new(platform: &Platform, tasks: usize, launches: bool) -> Result<Self> {
        let pool = platform.stream_pool("by hand", &CudaStreamPool::new())?;
        let task = || {
            let stream = pool.allocate("a task")?;
            let out = [platform.tensor([LEN], &stream)?, platform.tensor([LEN], &stream)?];
            Ok(HandTask { stream, out, done: [None; 2] })
        };
        Ok(Self { tasks: (0..tasks).map(|_| task()).collect::<Result<_>>()?, ticks: 0, launches })
    }

    fn tick(&mut self) -> Result<()> {
        let turn = self.ticks % 2;
        self.ticks += 1;
        for index in 0..self.tasks.len() {
            let (before, rest) = self.tasks.split_at_mut(index);
            let [HandTask { stream, out, done }, after @ ..] = rest else { break };
            let from = before.last();
            if let Some(ready) = from.and_then(|task| task.done[turn]) {
                stream.wait(ready)?;
            }
            // The task waits for the next task's reads of this output two ticks ago, before it overwrites the output.
            if let Some(read) = after.first().and_then(|task| task.done[turn]) {
                stream.wait(read)?;
            }
            match from {
                _ if !self.launches => {}
                Some(task) => {
                    stream.launch::<slow_copy>(LEN, (&mut out[turn], &task.out[turn], 0))?;
                }
                None => stream.launch::<fill>(LEN, (&mut out[turn], 0.0))?,
            }
            done[turn] = Some(stream.record()?);
        }
        Ok(())
    }

    fn run(&mut self, ticks: u64) -> Result<()> {
        (0..ticks).try_for_each(|_| self.tick())?;
        Ok(self.tasks.iter().try_for_each(|task| task.stream.synchronize_blocking())?)
    }
}

/// The cases that are measured: all rows, both forms and many tasks, unless the command line selects fewer.
#[derive(Default)]
pub(crate) struct Selection {
    /// The name of the only row to measure.
    pub(crate) row: Option<String>,
    /// How many tasks a run has.
    pub(crate) tasks: Option<u64>,
    /// The only form to run, `graph` or `hand`, for outside programs that count instructions or cache misses.
    pub(crate) form: Option<String>,
}

/// Prints the selected rows.
pub(crate) fn measure(null: &Arc<Null>, platform: &Platform, selection: &Selection) -> Result<()> {
    let row = selection.row.as_deref();
    let tasks = selection.tasks.unwrap_or(TASKS);
    let is_selected = |form| selection.form.as_deref().is_none_or(|only| only == form);
    println!(
        "\n{:<14}{:>8}{:>12}{:>12}{:>8}   per task",
        "chains", "tasks", "graph", "by hand", "ratio"
    );
    for (name, launches) in [("stream", false), ("launch", true)] {
        let mut costs = Vec::new();
        macro_rules! rows {
            ($($tasks:literal: $graph:ident)*) => {$(
                if row.is_none_or(|row| row == format!("{name} {}", $tasks)) {
                    let ticks = tasks / $tasks;
                    $graph::new(platform, WARM_UP, launches)?.run()?;
                    let mut graph = $graph::new(platform, ticks, launches)?;
                    let mut by_hand = ByHand::new(platform, $tasks, launches)?;
                    by_hand.run(WARM_UP)?;
                    let one = || if is_selected("graph") { graph.run().map(drop) } else { Ok(()) };
                    let other = || if is_selected("hand") { Ok(by_hand.run(ticks)?) } else { Ok(()) };
                    let (a, b) = null.off(|| compare(ticks, one, other))?;
                    let [a, b] = [a, b].map(|tick| tick / f64::from($tasks));
                    println!("{name:<14}{:>8}{a:>9.1} ns{b:>9.1} ns{:>8.2}", $tasks, a / b);
                    costs.push((a, b));
                }
            )*};
        }
        rows!(16: Chain16 100: Chain100 500: Chain500);
        if let [_, (graph, by_hand), (long_graph, long_by_hand)] = costs[..] {
            let (a, b) = (long_graph / graph, long_by_hand / by_hand);
            println!("{name:<14}{:>8}{a:>12.2}{b:>12.2}", "500/100");
        }
    }
    Ok(())
}
