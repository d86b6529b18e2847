//! Who is to be looked at next, and when. Pure: told the time, it says who is due.

use std::collections::BTreeMap;

use headcount_core::{NextLook, Timestamp};

/// The number of one that is looked at.
pub(super) type Member = u64;

/// Who is to be looked at, and when.
#[derive(Debug)]
pub(super) struct Agenda<T> {
    entries: BTreeMap<Member, Entry<T>>,
    next: Member,
}

#[derive(Debug)]
struct Entry<T> {
    one: T,
    /// `None`: it is being looked at.
    next: Option<NextLook>,
    called: bool,
    /// Somebody wants it to be looked at once more, now.
    hastened: bool,
}

impl<T> Entry<T> {
    fn due(&self) -> Option<Timestamp> {
        let NextLook { due, called } = self.next?;
        Some(match self.hastened {
            true => Timestamp::ORIGIN,
            false if self.called => due.min(called),
            false => due,
        })
    }
}

impl<T: Clone> Agenda<T> {
    pub(super) fn new() -> Self {
        Self { entries: BTreeMap::new(), next: 0 }
    }

    /// Takes one in, due at once.
    pub(super) fn add(&mut self, one: T) -> Member {
        self.next += 1;
        let at_once = NextLook { due: Timestamp::ORIGIN, called: Timestamp::ORIGIN };
        let entry = Entry { one, next: Some(at_once), called: false, hastened: false };
        self.entries.insert(self.next, entry);
        self.next
    }

    /// Forgets one.
    pub(super) fn remove(&mut self, member: Member) {
        self.entries.remove(&member);
    }

    /// It was looked at. One that was forgotten meanwhile stays so.
    pub(super) fn looked(&mut self, member: Member, next: NextLook) {
        if let Some(entry) = self.entries.get_mut(&member) {
            entry.next = Some(next);
        }
    }

    /// It calls. Says whether that is news to whoever waits for the next to be due.
    pub(super) fn call(&mut self, member: Member) -> bool {
        let Some(entry) = self.entries.get_mut(&member) else { return false };
        let before = entry.due();
        entry.called = true;
        entry.due() < before
    }

    /// It is due now, whatever was said before.
    pub(super) fn hasten(&mut self, member: Member) {
        if let Some(entry) = self.entries.get_mut(&member) {
            entry.hastened = true;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Those who are due, the longest due first. Until it is said that they were looked at, they
    /// are due no more.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<(Member, T)> {
        let entries = self.entries.iter_mut();
        let mut taken: Vec<_> = entries
            .filter_map(|(member, entry)| {
                let due = entry.due().filter(|due| *due <= now)?;
                (entry.next, entry.called, entry.hastened) = (None, false, false);
                Some((due, (*member, entry.one.clone())))
            })
            .collect();
        taken.sort_by_key(|(due, (member, _))| (*due, *member));
        taken.into_iter().map(|(_, taken)| taken).collect()
    }

    /// When the next is due. `None`: nobody ever.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.entries.values().filter_map(Entry::due).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(due: u64, called: u64) -> NextLook {
        NextLook { due: Timestamp::from_secs(due), called: Timestamp::from_secs(called) }
    }

    /// Who is due at that second.
    fn due(agenda: &mut Agenda<&'static str>, second: u64) -> Vec<&'static str> {
        let due = agenda.take_due(Timestamp::from_secs(second));
        due.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn whoever_is_due_comes_in_the_order_of_time() {
        let mut agenda = Agenda::new();
        let members = ["a", "b", "c"].map(|name| agenda.add(name));
        assert_eq!(due(&mut agenda, 0), ["a", "b", "c"]);
        assert_eq!(agenda.next_due(), None, "all of them are being looked at");
        for (member, seconds) in members.into_iter().zip([3, 2, 9]) {
            agenda.looked(member, at(seconds, 1));
        }
        assert_eq!(due(&mut agenda, 5), ["b", "a"]);
        assert!(due(&mut agenda, 5).is_empty(), "not twice");
        assert_eq!(agenda.next_due(), Some(Timestamp::from_secs(9)));
    }

    #[test]
    fn whoever_calls_comes_sooner_also_if_it_called_while_it_was_looked_at() {
        let mut agenda = Agenda::new();
        let member = agenda.add("a");
        due(&mut agenda, 0);
        assert!(!agenda.call(member), "it is being looked at: nobody waits for it");
        agenda.looked(member, at(9, 3));
        assert_eq!(agenda.next_due(), Some(Timestamp::from_secs(3)));
        assert_eq!(due(&mut agenda, 3), ["a"]);
        agenda.looked(member, at(12, 6));
        assert!(agenda.call(member) && !agenda.call(member), "once is enough");
        assert_eq!(due(&mut agenda, 6), ["a"]);
    }

    #[test]
    fn whoever_is_hastened_comes_at_once_also_while_it_was_looked_at() {
        let mut agenda = Agenda::new();
        let member = agenda.add("a");
        due(&mut agenda, 0);
        agenda.hasten(member);
        assert_eq!(agenda.next_due(), None, "it is being looked at");
        agenda.looked(member, at(9, 9));
        assert_eq!(due(&mut agenda, 1), ["a"]);
        agenda.looked(member, at(9, 9));
        assert!(due(&mut agenda, 2).is_empty(), "once");
    }

    #[test]
    fn whoever_was_forgotten_while_it_was_looked_at_stays_so() {
        let mut agenda = Agenda::new();
        let member = agenda.add("a");
        due(&mut agenda, 0);
        agenda.remove(member);
        agenda.looked(member, at(1, 1));
        assert!(agenda.is_empty() && !agenda.call(member));
    }
}
