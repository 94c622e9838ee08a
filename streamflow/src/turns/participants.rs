//! The threads of a run: which of them could go on, and which does.

use std::sync::{Arc, Condvar};

use super::Order;

/// After so many steps in a row a thread rests once. It may ask again and again for what only another
/// thread can do, and an order that never lets that one run would not end.
const STREAK: u32 = 10_000;

/// A thread of a run.
#[derive(Debug)]
pub(super) struct Member {
    /// Its name, or where it was spawned.
    pub(super) name: String,
    /// What it did last.
    pub(super) last: &'static str,
    scope: u64,
    waits: Waits,
    wake: Arc<Condvar>,
}

/// Why a thread does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// It does.
    No,
    /// It has nothing to do until another one has made a step. The number says since when.
    Rests(u64),
    Until(Until),
    Ended,
}

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// The end of a thread.
    Ended(usize),
    /// The end of all threads of a scope.
    ScopeEnded(u64),
}

#[derive(Debug, Default)]
pub(super) struct Members {
    all: Vec<Member>,
    /// Whose turn it is.
    turn: usize,
    /// Steps of all threads so far.
    moves: u64,
    /// Steps since the turn was handed on.
    streak: u32,
    scopes: u64,
}

impl Members {
    pub(super) fn add(&mut self, name: String, scope: u64) -> usize {
        let (waits, wake) = (Waits::No, Arc::default());
        self.all.push(Member { name, last: "its beginning", scope, waits, wake });
        self.all.len() - 1
    }

    /// A number for a scope of threads, which is not 0.
    pub(super) fn new_scope(&mut self) -> u64 {
        self.scopes += 1;
        self.scopes
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether at most one is not at its end.
    pub(super) fn are_alone(&self) -> bool {
        self.all.iter().filter(|member| member.waits != Waits::Ended).count() <= 1
    }

    /// The one that has the turn.
    pub(super) fn current(&self) -> &Member {
        &self.all[self.turn]
    }

    pub(super) fn has_turn(&self, index: usize) -> bool {
        self.turn == index
    }

    pub(super) fn has_ended(&self, index: usize) -> bool {
        self.all[index].waits == Waits::Ended
    }

    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    pub(super) fn wake(&self, index: usize) -> Arc<Condvar> {
        self.all[index].wake.clone()
    }

    pub(super) fn wake_all(&self) {
        self.all.iter().for_each(|member| member.wake.notify_all());
    }

    /// The thread has made a step, or rests.
    pub(super) fn step(&mut self, index: usize, what: &'static str, rests: bool) {
        self.moves += 1;
        self.streak += 1;
        if !rests {
            // That may be what others have nothing to do without.
            self.wake_resting();
        }
        let rests = rests || self.streak > STREAK;
        let member = &mut self.all[index];
        member.last = what;
        member.waits = if rests { Waits::Rests(self.moves) } else { Waits::No };
    }

    fn wake_resting(&mut self) {
        for member in &mut self.all {
            if let Waits::Rests(_) = member.waits {
                member.waits = Waits::No;
            }
        }
    }

    pub(super) fn wait_until(&mut self, index: usize, until: Until) {
        self.moves += 1;
        self.wake_resting();
        let member = &mut self.all[index];
        member.last = "waiting for a thread";
        member.waits = Waits::Until(until);
    }

    pub(super) fn end(&mut self, index: usize) {
        self.moves += 1;
        self.wake_resting();
        self.all[index].waits = Waits::Ended;
    }

    /// Gives the turn to the one that `order` says: of those that could go on, or, if there is none, to the one
    /// that rests longest.
    pub(super) fn hand_on(&mut self, order: &mut dyn Order) {
        let ready = |waits| match waits {
            Waits::No => true,
            Waits::Until(Until::Ended(index)) => self.has_ended(index),
            Waits::Until(Until::ScopeEnded(scope)) => self.has_scope_ended(scope),
            Waits::Rests(_) | Waits::Ended => false,
        };
        let ready: Vec<_> =
            (0..self.all.len()).filter(|index| ready(self.all[*index].waits)).collect();
        let next = match &*ready {
            [] => self.rests_longest(),
            [only] => Some(*only),
            several => {
                let current = several.contains(&self.turn).then_some(self.turn);
                Some(order.next(current, several))
            }
        };
        // Where all have ended or wait for each other there is nobody to give it to.
        let Some(next) = next else { return };
        if next != self.turn {
            self.turn = next;
            self.streak = 0;
            self.all[next].wake.notify_all();
        }
    }

    fn has_scope_ended(&self, scope: u64) -> bool {
        let mut of_scope = self.all.iter().filter(|member| member.scope == scope);
        of_scope.all(|member| member.waits == Waits::Ended)
    }

    fn rests_longest(&self) -> Option<usize> {
        let since = |index: &usize| match self.all[*index].waits {
            Waits::Rests(since) => Some((since, *index)),
            _ => None,
        };
        (0..self.all.len()).filter_map(|index| since(&index)).min().map(|(_, index)| index)
    }
}
