//! Graphs with a row of three nodes for each kind of node: a source, a node of that kind, and a sink.

use super::TICKS;
use super::nodes::*;
use crate::operator::{AsyncHandle, BooleanHandle};
use crate::prelude::*;

/// Makes the first message of a feedback edge: an image of zeros.
fn zeros(platform: &Platform) -> Result<Tensor<u32>> {
    let stream = platform.stream_pool("FIRST", &CudaStreamPool::new())?.allocate("zeros")?;
    let mut image = platform.tensor([LEN], &stream)?;
    stream.fill_bytes(&mut image, 0)?;
    Ok(image)
}

macro_rules! kinds {
    ($(#[$replay:ident])? $name:ident) => {
        graph! {
            $(#[$replay])?
            pub(super) struct $name(streams: CudaStreamPool, rows: Rows) {
                let POOL: CudaStreamPool = streams;

                #[streams(POOL)] #[when(count(TICKS))] let to_sink: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let sink: Folds = Folds::new("source and sink", rows.clone());
                to_sink.image >> sink.image;

                #[streams(POOL)] #[when(count(TICKS))] let to_operator: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let operator: Adds = Adds::new(1);
                #[streams(POOL)] let of_operator: Folds = Folds::new("operator", rows.clone());
                to_operator.image >> operator.image;
                operator.out >> of_operator.image;

                #[streams(POOL)] #[when(count(TICKS))] let to_one: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let to_other: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let join: Joins = Joins::new();
                #[streams(POOL)] let of_join: Folds = Folds::new("join", rows.clone());
                to_one.image >> join.one;
                to_other.image >> join.other;
                join.out >> of_join.image;

                #[streams(POOL)] #[when(count(TICKS))] let to_many: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let to_many_too: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let many: Many = Many::new();
                #[streams(POOL)] let of_many: Folds = Folds::new("many", rows.clone());
                to_many.image >> many.images;
                to_many_too.image >> many.images;
                many.out >> of_many.image;

                #[streams(POOL)] #[when(count(TICKS))] let to_maybe: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let maybe: Maybe = Maybe::new();
                #[streams(POOL)] let of_maybe: Folds = Folds::new("optional input", rows.clone());
                to_maybe.image >> maybe.image;
                maybe.out >> of_maybe.image;

                // The edges with policies have room for a message of each tick, so they drop none.
                #[streams(POOL)] #[when(count(TICKS))] let to_pop: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let pop: Adds = Adds::new(2);
                #[streams(POOL)] let of_pop: Folds = Folds::new("pop", rows.clone());
                #[policy(pop)] #[capacity(TICKS as usize)] to_pop.image >> pop.image;
                pop.out >> of_pop.image;

                #[streams(POOL)] #[when(count(TICKS))] let to_reject: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let reject: Adds = Adds::new(3);
                #[streams(POOL)] let of_reject: Folds = Folds::new("reject", rows.clone());
                #[policy(reject)] #[capacity(TICKS as usize)] to_reject.image >> reject.image;
                reject.out >> of_reject.image;

                #[streams(POOL)] #[when(count(TICKS))] let to_fault: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let fault: Adds = Adds::new(4);
                #[streams(POOL)] let of_fault: Folds = Folds::new("fault", rows.clone());
                #[policy(fault)] #[capacity(TICKS as usize)] to_fault.image >> fault.image;
                fault.out >> of_fault.image;

                #[streams(POOL)] #[when(count(TICKS))] let to_two: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let two: Adds = Adds::new(5);
                #[streams(POOL)] let one_of_two: Folds = Folds::new("one of two", rows.clone());
                #[streams(POOL)] let other_of_two: Folds = Folds::new("other of two", rows.clone());
                to_two.image >> two.image;
                two.out >> (one_of_two.image, other_of_two.image);

                #[streams(POOL)] #[when(count(TICKS))] let to_loop: Sets = Sets::new();
                #[streams(POOL)] #[when(count(TICKS))] let around: Joins = Joins::new();
                #[streams(POOL)] let of_loop: Folds = Folds::new("feedback", rows.clone());
                to_loop.image >> around.one;
                #[feedback(initial = zeros(platform)?)] around.out >> around.other;
                around.out >> of_loop.image;

                #[streams(POOL)] #[when(count(TICKS))] let to_rest: Sets = Sets::new();
                #[streams(POOL)] let rest: Rests = Rests::new();
                #[streams(POOL)] let of_rest: Folds = Folds::new("flush", rows);
                to_rest.image >> rest.image;
                rest.out >> of_rest.image;
            }
        }
    };
}

kinds!(Kinds);
kinds!(
    #[replay]
    Replayed
);

graph! {
    /// A row for each kind of condition.
    pub(super) struct Conditions(on: BooleanHandle, notices: AsyncHandle, rows: Rows) {
        #[when(count(TICKS), periodic(1us))] let to_periodic: Sets = Sets::new();
        #[when(count(TICKS), periodic(1us))] let periodic: Adds = Adds::new(1);
        let of_periodic: Folds = Folds::new("periodic", rows.clone());
        to_periodic.image >> periodic.image;
        periodic.out >> of_periodic.image;

        #[when(count(TICKS))] let to_boolean: Sets = Sets::new();
        #[when(count(TICKS), boolean(on))] let boolean: Adds = Adds::new(2);
        let of_boolean: Folds = Folds::new("boolean", rows.clone());
        to_boolean.image >> boolean.image;
        boolean.out >> of_boolean.image;

        #[when(count(TICKS))] let to_noticed: Sets = Sets::new();
        #[when(count(TICKS), asynchronous(notices))] let noticed: Adds = Adds::new(3);
        let of_noticed: Folds = Folds::new("thread beside the graph", rows.clone());
        to_noticed.image >> noticed.image;
        noticed.out >> of_noticed.image;

        #[when(count(TICKS))] let to_done: Sets = Sets::new();
        #[when(count(TICKS), stream_done(image))] let done: Adds = Adds::new(4);
        let of_done: Folds = Folds::new("stream_done", rows.clone());
        to_done.image >> done.image;
        done.out >> of_done.image;

        #[when(count(TICKS))] let to_pair: Sets = Sets::new();
        #[when(count(TICKS))] let to_pair_aside: Adds = Adds::new(5);
        #[when(count(TICKS), same_sequence)] let pair: Joins = Joins::new();
        let of_pair: Folds = Folds::new("same_sequence", rows);
        to_pair.image >> (pair.one, to_pair_aside.image);
        to_pair_aside.out >> pair.other;
        pair.out >> of_pair.image;
    }
}

graph! {
    /// Rows for nodes that a certain thread runs, and for a node with an `on_failure` policy.
    pub(super) struct Threads(rows: Rows) {
        #[when(count(TICKS))] let to_worker: Sets = Sets::new();
        #[worker(aside)] #[when(count(TICKS))] let worker: Adds = Adds::new(1);
        let of_worker: Folds = Folds::new("worker", rows.clone());
        to_worker.image >> worker.image;
        worker.out >> of_worker.image;

        #[when(count(TICKS))] let to_stays: Sets = Sets::new();
        #[when(count(TICKS))] let stays: Stays = Stays::new();
        let of_stays: Folds = Folds::new("stays", rows.clone());
        to_stays.image >> stays.image;
        stays.out >> of_stays.image;

        #[when(count(TICKS))] let to_skips: Sets = Sets::new();
        #[on_failure(skip)] #[when(count(TICKS))] let skips: Adds = Adds::new(2);
        let of_skips: Folds = Folds::new("on_failure", rows);
        to_skips.image >> skips.image;
        skips.out >> of_skips.image;
    }
}
