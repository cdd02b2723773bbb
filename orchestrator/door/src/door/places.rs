//! How many connections there may be, and whose. Who has not been let in yet makes room for who comes
//! next, so that silent connections shut no client out; and one of many principals does
//! not have them all.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::tokens::Principal;

/// All connections of a door.
pub(crate) struct Places {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    open: usize,
    /// None of them was let in yet; in order of arrival.
    strangers: BTreeMap<u64, CancellationToken>,
    /// Whose the places are of those who were let in by name.
    held_by: BTreeMap<u64, Principal>,
}

/// One connection's place, until this is dropped.
pub(crate) struct Seat {
    places: Arc<Places>,
    number: u64,
    /// Cancelled when another client has the place.
    pub(crate) taken: CancellationToken,
}

impl Places {
    /// As many at once.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            state: Mutex::default(),
        })
    }

    /// A place for a client that has sent nothing yet: when all are taken, that of the one not let in for
    /// the longest; none when all were let in.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Seat> {
        let mut state = self.state.lock();
        if state.open >= self.most {
            let (_, oldest) = state.strangers.pop_first()?;
            oldest.cancel();
        }
        state.open += 1;
        state.next += 1;
        let (number, taken) = (state.next, CancellationToken::new());
        state.strangers.insert(number, taken.clone());
        Some(Seat {
            places: Arc::clone(self),
            number,
            taken,
        })
    }
}

impl Seat {
    /// Somebody on this connection was let in; whether they may keep it: those who are not the owner have
    /// three quarters, and one of them half.
    pub(crate) fn is_let_in(&self, who: Option<&Principal>) -> bool {
        let mut state = self.places.state.lock();
        if who.is_some() && state.held_by.get(&self.number) == who {
            return true;
        }
        if let Some(who) = who {
            if !who.is_owner() {
                let most = self.places.most;
                let (mut own, mut others) = (0, 0);
                for holder in state.held_by.values().filter(|holder| !holder.is_owner()) {
                    own += usize::from(holder == who);
                    others += 1;
                }
                if own >= most / 2 || others >= most * 3 / 4 {
                    return false;
                }
            }
            state.held_by.insert(self.number, who.clone());
        }
        state.strangers.remove(&self.number);
        true
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.places.state.lock();
        state.open -= 1;
        state.strangers.remove(&self.number);
        state.held_by.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_a_stranger_longest_makes_room() {
        let places = Places::new(4);
        let first = places.take().unwrap();
        assert!(first.is_let_in(None), "it is no stranger any more");
        let rest: Vec<_> = (0..4).filter_map(|_| places.take()).collect();
        let taken = rest.iter().map(|seat| seat.taken.is_cancelled());
        assert_eq!(taken.collect::<Vec<_>>(), [true, false, false, false]);
        assert!(!first.taken.is_cancelled());
    }

    #[test]
    fn the_owner_finds_a_place_whatever_others_have() {
        let places = Places::new(8);
        let (a, b) = (Principal::named("a"), Principal::named("b"));
        let mut kept = Vec::new();
        let mut has_room = |who: &Principal| {
            let seat = places.take().unwrap();
            let is_let_in = seat.is_let_in(Some(who));
            if is_let_in {
                kept.push(seat);
            }
            is_let_in
        };
        assert_eq!((0..8).filter(|_| has_room(&a)).count(), 4);
        assert_eq!((0..8).filter(|_| has_room(&b)).count(), 2);
        let owner = Principal::named("owner");
        assert!(has_room(&owner) && has_room(&owner));
        assert!(places.take().is_none(), "all are let in");
        drop(kept);
        let seat = places.take().unwrap();
        assert!(seat.is_let_in(Some(&a)) && seat.is_let_in(Some(&b)));
        assert_eq!(
            places.state.lock().held_by.len(),
            1,
            "a place has one holder"
        );
    }
}
