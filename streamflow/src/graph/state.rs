//! The parts of a graph other than its nodes. Between two calls of the graph's method `tick`, its run is stored here.

use std::any::Any;
use std::fmt;
use std::mem;

use super::AnyNode;
use crate::param::GraphParams;
use crate::platform::Platform;

/// The field of a graph's struct for all parts other than its nodes. The fields are private, and the functions take no `self`, so
/// that rustc does not propose them when a program misspells the name of a method.
#[derive(Debug)]
pub struct GraphParts {
    platform: Platform,
    params: GraphParams,
    run: RunState,
}

impl GraphParts {
    /// Creates the parts of a graph that has not run yet.
    #[must_use]
    pub fn new(platform: &Platform, params: GraphParams) -> Self {
        Self { platform: platform.clone(), params, run: RunState::default() }
    }

    /// Returns the platform on which the graph runs.
    pub fn platform(parts: &Self) -> &Platform {
        &parts.platform
    }

    /// Returns the parameters of the graph's nodes.
    pub fn params(parts: &Self) -> &GraphParams {
        &parts.params
    }

    /// Returns the state of the graph's run.
    pub fn run(parts: &mut Self) -> &mut RunState {
        &mut parts.run
    }
}

/// The run that `tick` has begun, if there is one, and the settings for runs.
#[derive(Default)]
pub struct RunState {
    /// The run. Its type belongs to the scheduler that has begun it.
    run: Option<Box<dyn Any + Send>>,
    /// An empty list of nodes, stored so that each `tick` can use its memory again.
    list: Vec<&'static mut dyn AnyNode>,
    /// The program's settings for all runs. Their type belongs to a scheduler.
    settings: Option<Box<dyn Any + Send>>,
}

impl RunState {
    /// Removes and returns the run, if one was begun and it has the type `R`.
    pub(crate) fn take<R: 'static>(&mut self) -> Option<Box<R>> {
        self.run.take().and_then(|run| run.downcast().ok())
    }

    /// Stores a run, and a list that was [emptied](Self::emptied).
    pub(crate) fn put<R: Send + 'static>(
        &mut self,
        run: Box<R>,
        list: Vec<&'static mut dyn AnyNode>,
    ) {
        self.run = Some(run);
        self.list = list;
    }

    /// Sets the settings for all later runs.
    pub(crate) fn set<S: Send + 'static>(&mut self, settings: S) {
        self.settings = Some(Box::new(settings));
    }

    /// Returns the settings that were [set](Self::set), if they have the type `S`.
    pub(crate) fn settings<S: 'static>(&self) -> Option<&S> {
        self.settings.as_ref().and_then(|settings| settings.downcast_ref())
    }

    pub(crate) fn take_list<'a>(&mut self) -> Vec<&'a mut dyn AnyNode> {
        Self::emptied(mem::take(&mut self.list))
    }

    /// Returns an empty list that uses the memory of `list`, with another lifetime.
    pub(crate) fn emptied<'a>(mut list: Vec<&mut dyn AnyNode>) -> Vec<&'a mut dyn AnyNode> {
        list.clear();
        // The standard library collects into the memory of the list. If a later version does not, the next `tick` allocates.
        list.into_iter().map(|_| unreachable!("the list was cleared")).collect()
    }
}

impl fmt::Debug for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunState").field("is_stepped", &self.run.is_some()).finish()
    }
}
