//! Checks that replay on one device leaves another device bound for the code around it.

use std::sync::Arc;

use streamflow::Download;
use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;
use streamflow_tests::layers::Bound;
use streamflow_tests::seen::{self, Seen, push_seen};
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::data::{FEW, TICKS, replayed};
use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite.seeded("a_pass_on_another_device_leaves_the_device_bound", leaves_bound)
}

/// An operator that sends an image to the host.
#[operator]
struct Fetch {
    #[input]
    image: &Tensor<u32>,
    #[output]
    values: Download<u32>,
}

impl Compute for Fetch {
    fn compute(&mut self, io: FetchIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        io.values.emit(cx.download(image, &stream)?)
    }
}

/// An operator that works on the default stream of its own device, in the middle of a pass of another device.
#[operator]
struct Near {
    #[input]
    values: &Download<u32>,
    state: Option<Tensor<u32>>,
    worked: Seen<bool>,
}

impl Compute for Near {
    fn compute(&mut self, io: NearIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let values = io.values.receive().into_data();
        let stream = cx.default_stream()?;
        if cx.tick() % 8 == 5 {
            // The handle of a default stream means that of the bound device.
            let state = match &mut self.state {
                Some(state) => state,
                none => none.insert(cx.upload(&[0; LEN])?),
            };
            stream.launch::<bump>(LEN, (state,))?;
        } else {
            // This query binds no device.
            values.try_get()?;
        }
        // An event is made on the device that is bound at this moment.
        let made = cx.platform().driver().create_event(stream.device());
        push_seen(&self.worked, made.is_ok());
        Ok(())
    }
}

graph! {
    #[replay]
    struct FarAndNear(worked: Seen<bool>) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(3);

        #[streams(FAR)] #[when(count(TICKS))]
        let source: Source = Source::new(None);
        #[streams(FAR)]
        let step: Step = Step::new(2, u64::MAX);
        #[streams(FAR)]
        let fetch: Fetch = Fetch::new();
        let near: Near = Near::new(None, worked);

        source.image >> step.image;
        step.out >> fetch.image;
        fetch.values >> near.values;
    }
}

fn leaves_bound(seed: u64) -> Result<(), Failed> {
    let host: Arc<dyn Driver> = Arc::new(HostDriver::builder().devices(2).seed(seed).build());
    let driver = Replaying::over(Arc::new(Bound::new(host)));
    let platform = Platform::builder().memory(FEW).driver(Arc::new(driver))?;
    let worked = Seen::default();
    let report = FarAndNear::new(&platform, worked.clone())?.run()?;
    check_equal(seen::all(&worked), vec![true; TICKS as usize])?;
    check(replayed(&report)?.replayed > TICKS / 4, || report.to_string())
}
