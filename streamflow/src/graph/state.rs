//! The parts of a graph beside its nodes. The run of a stepped graph is kept here from one `tick` to the
//! next.

use std::any::Any;
use std::fmt;
use std::mem;

use super::AnyNode;
use crate::param::GraphParams;
use crate::platform::Platform;

/// The field of a graph beside its nodes. The struct has private fields, and functions without `self`: if a program
/// misspells a name, rustc would propose methods, but not these functions.
#[derive(Debug)]
pub struct GraphParts {
    platform: Platform,
    params: GraphParams,
    run: RunState,
}

impl GraphParts {
    /// Creates the parts of a graph that does not run yet.
    #[must_use]
    pub fn new(platform: &Platform, params: GraphParams) -> Self {
        Self { platform: platform.clone(), params, run: RunState::default() }
    }

    /// The platform on which the graph runs.
    pub fn platform(parts: &Self) -> &Platform {
        &parts.platform
    }

    /// The parameters of the graph's nodes.
    pub fn params(parts: &Self) -> &GraphParams {
        &parts.params
    }

    /// The state of the graph's run.
    pub fn run(parts: &mut Self) -> &mut RunState {
        &mut parts.run
    }
}

/// The run that `tick` has begun, if there is one.
#[derive(Default)]
pub struct RunState {
    /// The run, of a scheduler's own type.
    run: Option<Box<dyn Any + Send>>,
    /// An empty list: each `tick` uses its memory again.
    list: Vec<&'static mut dyn AnyNode>,
    /// The settings of the program for all runs, of a scheduler's own type.
    settings: Option<Box<dyn Any + Send>>,
}

impl RunState {
    /// Takes the run out, if this scheduler has begun one.
    pub(crate) fn take<R: 'static>(&mut self) -> Option<Box<R>> {
        self.run.take().and_then(|run| run.downcast().ok())
    }

    /// Puts a run back, with an [emptied](Self::emptied) list.
    pub(crate) fn put<R: Send + 'static>(
        &mut self,
        run: Box<R>,
        list: Vec<&'static mut dyn AnyNode>,
    ) {
        self.run = Some(run);
        self.list = list;
    }

    /// Sets the settings for all runs from now on.
    pub(crate) fn set<S: Send + 'static>(&mut self, settings: S) {
        self.settings = Some(Box::new(settings));
    }

    /// The settings that were [set](Self::set).
    pub(crate) fn settings<S: 'static>(&self) -> Option<&S> {
        self.settings.as_ref().and_then(|settings| settings.downcast_ref())
    }

    pub(crate) fn take_list<'a>(&mut self) -> Vec<&'a mut dyn AnyNode> {
        Self::emptied(mem::take(&mut self.list))
    }

    /// An empty list in the same memory.
    pub(crate) fn emptied<'a>(mut list: Vec<&mut dyn AnyNode>) -> Vec<&'a mut dyn AnyNode> {
        list.clear();
        // The standard library collects into the memory of the list. If it did not, the next `tick` would allocate.
        list.into_iter().map(|_| unreachable!("the list was cleared")).collect()
    }
}

impl fmt::Debug for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunState").field("is_stepped", &self.run.is_some()).finish()
    }
}
