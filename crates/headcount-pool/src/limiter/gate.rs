//! Who may come in, who waits, whose turn it is. Pure: no clock, no lock, no waker.
//!
//! It is told what happens and answers whom to admit; the caller calls them. What it keeps of
//! those who wait, the `W`, it never looks at.

use super::queue::Queue;

/// A gate with one queue.
#[derive(Debug)]
pub(super) struct Gate<W> {
    limit: u32,
    in_use: u32,
    /// Those who wait, by the number of their ticket.
    waiting: Queue<W>,
    /// The first ticket that was not admitted. `None`: the gate is open.
    closed_before: Option<u64>,
}

/// A number in the queue. It is used up by whoever collects or gives up, so it cannot be copied.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ticket(u64);

/// What became of an attempt to enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Admitted,
    Full,
    Closed,
}

/// What became of a request. Whoever need not wait gets back what it would have left.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request<W> {
    Admitted(W),
    Waiting(Ticket),
    Closed(W),
}

/// How a ticket stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Standing<'a, W> {
    Waiting(&'a mut W),
    Admitted,
    TurnedAway,
}

/// What a ticket was worth that was handed back.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Abandoned<W> {
    /// A place in the queue.
    Waiting(W),
    /// A place inside, and who is admitted to it instead.
    Admitted(Option<W>),
    TurnedAway,
}

impl<W> Gate<W> {
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, in_use: 0, waiting: Queue::new(), closed_before: None }
    }

    pub(super) fn limit(&self) -> u32 {
        self.limit
    }

    pub(super) fn in_use(&self) -> u32 {
        self.in_use
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed_before.is_some()
    }

    /// Whose turn it is next.
    pub(super) fn first_waiting(&self) -> Option<&W> {
        self.waiting.first()
    }

    /// How many may come in without asking, where nobody has to ask: nobody waits, nobody is in
    /// above the limit, and it is open.
    pub(super) fn free_for_all(&self) -> Option<u32> {
        match self.waiting.len() == 0 && !self.is_closed() {
            true => self.limit.checked_sub(self.in_use),
            false => None,
        }
    }

    /// Some came and some left without asking, so many came in, and so many places are free now.
    /// Says how many left.
    pub(super) fn passed(&mut self, entered: u64, free: u32) -> u64 {
        assert!(self.free_for_all().is_some(), "nobody had to ask");
        let in_before = u64::from(self.in_use);
        self.in_use = self.limit.checked_sub(free).expect("no more places are free than there are");
        (in_before + entered)
            .checked_sub(u64::from(self.in_use))
            .expect("nobody is in who did not come")
    }

    pub(super) fn has_room(&self) -> bool {
        self.in_use < self.limit
    }

    /// Enters, or does not wait.
    pub(super) fn enter(&mut self) -> Entry {
        if self.is_closed() {
            return Entry::Closed;
        }
        if !self.has_room() {
            return Entry::Full;
        }
        assert!(self.waiting.len() == 0, "nobody waits while there is room");
        self.in_use += 1;
        Entry::Admitted
    }

    /// Enters, or joins the queue at its end.
    pub(super) fn request(&mut self, waiter: W) -> Request<W> {
        match self.enter() {
            Entry::Admitted => Request::Admitted(waiter),
            Entry::Closed => Request::Closed(waiter),
            Entry::Full => Request::Waiting(Ticket(self.waiting.push(waiter))),
        }
    }

    pub(super) fn standing(&mut self, ticket: &Ticket) -> Standing<'_, W> {
        let turned_away = self.turned_away(ticket);
        match self.waiting.get_mut(ticket.0) {
            Some(waiter) => Standing::Waiting(waiter),
            None if turned_away => Standing::TurnedAway,
            // Off the queue and not turned away: it was its turn.
            None => Standing::Admitted,
        }
    }

    /// Takes a ticket back, wherever it stands. Nobody loses a place by it.
    #[expect(clippy::needless_pass_by_value, reason = "a ticket is handed back once")]
    pub(super) fn abandon(&mut self, ticket: Ticket) -> Abandoned<W> {
        match self.waiting.remove(ticket.0) {
            Some(waiter) => Abandoned::Waiting(waiter),
            None if self.turned_away(&ticket) => Abandoned::TurnedAway,
            None => Abandoned::Admitted(self.release()),
        }
    }

    /// Gives a place back, and says who is admitted to it.
    pub(super) fn release(&mut self) -> Option<W> {
        assert!(0 < self.in_use, "no more permits come back than were given");
        self.in_use -= 1;
        self.admit()
    }

    /// Sets the limit, and says who is admitted, in their order. Nobody inside is affected.
    pub(super) fn resize(&mut self, limit: u32) -> Vec<W> {
        self.limit = limit;
        let room = limit.saturating_sub(self.in_use) as usize;
        let mut admitted = Vec::with_capacity(room.min(self.waiting.len()));
        while let Some(waiter) = self.admit() {
            admitted.push(waiter);
        }
        admitted
    }

    /// Turns everybody away who waits or is yet to come.
    pub(super) fn close(&mut self) -> Vec<W> {
        // Closing twice changes nothing.
        self.closed_before.get_or_insert(self.waiting.first_number());
        self.waiting.clear()
    }

    /// Tickets are admitted in their order, so those from the first that was not are turned away.
    fn turned_away(&self, ticket: &Ticket) -> bool {
        self.closed_before.is_some_and(|first| first <= ticket.0)
    }

    fn admit(&mut self) -> Option<W> {
        if !self.has_room() {
            return None;
        }
        let waiter = self.waiting.pop()?;
        self.in_use += 1;
        Some(waiter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::BTreeMap;

    /// A gate and a few people with one letter each, told what to do in words.
    ///
    /// `+a` requests, `?a` tries to enter, `-` gives a permit back, `=3` resizes, `~a` abandons,
    /// `!` closes, `a` looks how it stands, `f` says how many may come in without asking, `p31`
    /// tells that 3 came and 1 place is left. Answers name whom to admit.
    fn check(limit: u32, steps: &str, expected: &str) {
        let mut gate = Gate::new(limit);
        let mut tickets = BTreeMap::new();
        let told: Vec<String> =
            steps.split(' ').map(|step| told(&mut gate, &mut tickets, step)).collect();
        assert_eq!(told.join(" "), expected, "{steps}");
    }

    fn told(gate: &mut Gate<char>, tickets: &mut BTreeMap<char, Ticket>, step: &str) -> String {
        let who = step.chars().next_back().expect("a step");
        match step.chars().next().expect("a step") {
            '+' => match gate.request(who) {
                Request::Admitted(_) => "in".to_owned(),
                Request::Closed(_) => "closed".to_owned(),
                Request::Waiting(ticket) => {
                    tickets.insert(who, ticket);
                    format!("waits:{}", gate.waiting())
                }
            },
            '?' => format!("{:?}", gate.enter()).to_lowercase(),
            '-' => format!("in:{}", String::from_iter(gate.release())),
            '=' => {
                let limit = step[1..].parse().expect("a number");
                format!("in:{}", String::from_iter(gate.resize(limit)))
            }
            '~' => match gate.abandon(tickets.remove(&who).expect("a ticket")) {
                Abandoned::Waiting(waiter) => format!("left:{waiter}"),
                Abandoned::Admitted(next) => format!("in:{}", String::from_iter(next)),
                Abandoned::TurnedAway => "away".to_owned(),
            },
            '!' => format!("away:{}", String::from_iter(gate.close())),
            'f' => gate.free_for_all().map_or("ask".to_owned(), |free| free.to_string()),
            'p' => {
                let number = |at| step[at..=at].parse().expect("a digit");
                format!("left:{}", gate.passed(number(1), number(2).try_into().expect("few")))
            }
            _ => match gate.standing(&tickets[&who]) {
                Standing::Waiting(_) => "waits".to_owned(),
                Standing::Admitted => "in".to_owned(),
                Standing::TurnedAway => "away".to_owned(),
            },
        }
    }

    #[test]
    fn first_come_first_served() {
        check(1, "+a +b +c - - - +d", "in waits:1 waits:2 in:b in:c in: in");
    }

    #[test]
    fn whoever_tries_does_not_overtake() {
        check(1, "?a ?b +c - ?d - ?e", "admitted full waits:1 in:c full in: admitted");
    }

    #[test]
    fn growing_admits_as_many_as_there_is_room_for() {
        check(0, "+a +b +c +d =1 =3 =9", "waits:1 waits:2 waits:3 waits:4 in:a in:bc in:d");
    }

    #[test]
    fn a_shrink_is_not_held_up_by_those_who_wait() {
        let steps = "+a +b +c +d =1 ?x - - - -";
        check(2, steps, "in in waits:1 waits:2 in: full in: in:c in:d in:");
    }

    #[test]
    fn a_limit_of_zero_lets_nobody_in() {
        check(0, "?a +a =0 ?b =1 ?b", "full waits:1 in: full in:a full");
        check(1, "+a =0 +b - =1", "in in: waits:1 in: in:b");
    }

    #[test]
    fn shrinking_and_growing_back_changes_nothing() {
        check(2, "+a +b +c =0 =2 -", "in in waits:1 in: in: in:c");
    }

    #[test]
    fn who_gives_up_passes_its_turn_on() {
        check(1, "+a +b +c ~b -", "in waits:1 waits:2 left:b in:c");
        check(1, "+a +b +c - ~b c - +d", "in waits:1 waits:2 in:b in:c in in: in");
        check(1, "+a +b - ~b +c", "in waits:1 in:b in: in");
    }

    #[test]
    fn a_place_given_up_above_the_limit_is_gone() {
        check(1, "+a +b +c - =0 ~b c =1", "in waits:1 waits:2 in:b in: in: waits in:c");
    }

    #[test]
    fn closing_turns_away_who_waits_and_who_comes() {
        check(1, "+a +b +c ! b c +d ?e", "in waits:1 waits:2 away:bc away away closed closed");
        check(1, "+a +b ! ~b - =9", "in waits:1 away:b away in: in:");
    }

    #[test]
    fn who_was_admitted_before_the_closing_is_in() {
        check(1, "+a +b +c - ! b c", "in waits:1 waits:2 in:b away:c in away");
        check(1, "+a +b +c - ! ~b ~c ?d", "in waits:1 waits:2 in:b away:c in: away closed");
        check(1, "+a +b - ! ! b", "in waits:1 in:b away: away: in");
    }

    #[test]
    fn nobody_has_to_ask_while_nobody_waits() {
        check(2, "f +a f ?b f +c f - f -", "2 in 1 admitted 0 waits:1 ask in:c 0 in:");
        check(2, "+a +b =1 f - f - f", "in in in: ask in: 0 in: 1");
        check(1, "+a +b f ~b f ! f", "in waits:1 ask left:b 0 away: ask");
    }

    #[test]
    fn those_who_did_not_ask_are_in() {
        check(3, "p31 f ?a f ?b", "left:1 1 admitted 0 full");
        check(3, "?a ?b p03 f p30 ?c +d -", "admitted admitted left:2 3 left:0 full waits:1 in:d");
    }
}
