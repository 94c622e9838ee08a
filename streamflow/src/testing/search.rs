//! The states that a program can get into, and the search for states that were not visited yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::host::Chooser;

/// The states visited so far, as a graph whose edges are choices. A run is a path from the first state to an end. The search
/// leads each run to choices that were never made. Each run starts at the first state, so work of earlier runs is executed again
/// to get there.
#[derive(Debug, Default)]
pub(super) struct Search {
    states: Vec<State>,
    /// The index in `states` of each state, by the state's key.
    by_key: HashMap<u64, usize>,
    /// The states that this run has passed, each with the choice that was made there.
    run: Vec<(usize, usize)>,
    max_states: usize,
    /// Whether a state was left out because `max_states` states are stored.
    full: bool,
    /// Whether a choice that was made twice led to two different states, or a state had other options when it was visited again.
    diverged: bool,
}

#[derive(Debug)]
struct State {
    /// The state that each choice led to.
    next: Vec<Option<usize>>,
    /// The states from which a choice led to this one.
    before: Vec<usize>,
    /// Whether this state, or a state that can be reached from it, has a choice that was not made yet.
    open: bool,
    /// A hint, updated along each run: about how many states with an untried choice one run could still pass after this state.
    untried: u32,
}

impl Search {
    pub(super) fn new(max_states: usize) -> Self {
        Self { max_states, ..Self::default() }
    }

    /// Begins a run.
    pub(super) fn begin(&mut self) {
        self.run.clear();
    }

    /// How many states were visited.
    pub(super) fn states(&self) -> usize {
        self.states.len()
    }

    /// How many of the visited states have an untried choice, there or in a state after them.
    pub(super) fn open(&self) -> usize {
        self.states.iter().filter(|state| state.open).count()
    }

    /// Whether any choice of any state is left to try. Before the first run this is `true`.
    pub(super) fn is_open(&self) -> bool {
        self.states.first().is_none_or(|first| first.open)
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn has_diverged(&self) -> bool {
        self.diverged
    }

    /// The choices of this run.
    pub(super) fn choices(&self) -> impl Iterator<Item = usize> {
        self.run.iter().map(|(_, choice)| *choice)
    }

    /// Returns the state with a key, to which the latest choice of the run has led. `None` if there is no room for another state.
    fn arrive(&mut self, key: u64, options: usize) -> Option<usize> {
        let known = self.by_key.get(&key).copied();
        let index = known.unwrap_or(self.states.len());
        if known.is_none() {
            if self.full || self.states.len() >= self.max_states {
                self.full = true;
                return None;
            }
            self.by_key.insert(key, index);
            let next = vec![None; options];
            self.states.push(State { next, before: Vec::new(), open: true, untried: 0 });
        }
        self.diverged |= self.states[index].next.len() != options;
        match self.run.last() {
            Some(&(from, choice)) => match self.states[from].next[choice] {
                Some(other) => self.diverged |= other != index,
                None => {
                    self.states[from].next[choice] = Some(index);
                    self.states[index].before.push(from);
                }
            },
            None => self.diverged |= index != 0,
        }
        Some(index)
    }

    /// Updates the `untried` hints of the states of this run, from its end to its beginning.
    fn update_hints(&mut self) {
        for &(index, _) in self.run.iter().rev() {
            let next = &self.states[index].next;
            let here = u32::from(next.iter().any(Option::is_none));
            let later = next.iter().flatten().map(|next| self.states[*next].untried).max();
            self.states[index].untried = here + later.unwrap_or(0);
        }
    }

    /// Marks the states of this run that have no untried choice left, there or after them, as not open, and then other states
    /// that led to these. `last` is the state at the end of the run.
    fn close(&mut self, last: usize) {
        // `last` is popped first, since the states before it can be closed only after it.
        let mut candidates: Vec<_> = self.run.iter().map(|(index, _)| *index).collect();
        candidates.push(last);
        while let Some(index) = candidates.pop() {
            let State { next, before, open, .. } = &self.states[index];
            let is_closed = |next: &Option<usize>| next.is_some_and(|it| !self.states[it].open);
            if *open && next.iter().all(is_closed) {
                candidates.extend(before);
                self.states[index].open = false;
            }
        }
    }
}

impl Search {
    fn choose(&mut self, key: u64, options: usize) -> usize {
        let Some(index) = (!self.diverged).then(|| self.arrive(key, options)).flatten() else {
            // Option 0 is always possible. It leads the run to its end: each operation is executed as soon as it can be.
            return 0;
        };
        if self.diverged {
            return 0;
        }
        let next = &self.states[index].next;
        let untried = next.iter().position(Option::is_none);
        // Takes the option whose path has the most untried choices, or any option if no path has untried choices.
        let after = |choice: &usize| next[*choice].map(|next| &self.states[next]);
        let best = || {
            let open = (0..options).filter(|choice| after(choice).is_some_and(|next| next.open));
            open.max_by_key(|choice| after(choice).map(|next| next.untried))
        };
        let choice = untried.or_else(best).unwrap_or(0);
        self.run.push((index, choice));
        choice
    }

    fn end(&mut self, key: u64) {
        if !self.diverged
            && let Some(index) = self.arrive(key, 0)
        {
            self.update_hints();
            self.close(index);
        }
    }
}

/// A [`Search`] that is shared by the simulators of its runs, which run one after the other.
#[derive(Debug, Clone)]
pub(super) struct Shared(Arc<Mutex<Search>>);

impl Shared {
    pub(super) fn new(search: Search) -> Self {
        Self(Arc::new(Mutex::new(search)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Search> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chooser for Shared {
    fn choose(&mut self, state: u64, options: usize) -> usize {
        self.lock().choose(state, options)
    }

    fn end(&mut self, state: u64) {
        self.lock().end(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Explores a program of independent streams with these numbers of operations. A state is the number of operations that each
    /// stream has executed. Returns the number of states, of choices tried in them, and of runs.
    fn lattice(sizes: &[usize]) -> (usize, usize, usize) {
        let mut search = Search::new(usize::MAX);
        let (mut tried, mut runs) = (HashSet::new(), 0);
        while search.is_open() {
            runs += 1;
            search.begin();
            let mut done = vec![0; sizes.len()];
            let key = |done: &[usize]| done.iter().fold(0, |key, &it| key * 64 + it as u64);
            loop {
                let can: Vec<_> = (0..done.len()).filter(|it| done[*it] < sizes[*it]).collect();
                if can.is_empty() {
                    break;
                }
                let choice = search.choose(key(&done), can.len());
                tried.insert((key(&done), choice));
                done[can[choice]] += 1;
            }
            search.end(key(&done));
            assert!(!search.diverged);
        }
        assert_eq!(search.open(), 0);
        (search.states(), tried.len(), runs)
    }

    #[test]
    fn every_choice_of_every_state_is_tried() {
        for (n, m) in [(0, 0), (1, 1), (3, 5), (12, 9)] {
            let (states, tried, runs) = lattice(&[n, m]);
            assert_eq!(states, (n + 1) * (m + 1));
            assert_eq!(tried, n * (m + 1) + m * (n + 1));
            assert!(runs <= tried.max(1));
        }
        let (states, tried, _) = lattice(&[3, 4, 5]);
        assert_eq!((states, tried), (4 * 5 * 6, 3 * 5 * 6 + 4 * 4 * 6 + 4 * 5 * 5));
    }

    #[test]
    fn one_run_tries_more_than_one_choice() {
        let (_, tried, runs) = lattice(&[15, 15]);
        assert!(runs * 3 < tried, "{runs} runs for {tried} choices");
    }

    #[test]
    fn at_most_max_states_are_kept() {
        let mut search = Search::new(2);
        let chosen: Vec<_> = (0..4).map(|key| search.choose(key, 3)).collect();
        assert_eq!(chosen, [0; 4]);
        assert!(search.is_full() && search.is_open());
        assert_eq!((search.states(), search.open()), (2, 2));
    }

    #[test]
    fn a_program_that_does_not_repeat_itself_is_noticed() {
        let mut search = Search::new(9);
        assert_eq!(search.choose(1, 1), 0);
        search.end(2);
        assert!(!search.has_diverged() && !search.is_open());
        search.begin();
        search.choose(1, 1);
        search.end(3);
        assert!(search.has_diverged());
    }
}
