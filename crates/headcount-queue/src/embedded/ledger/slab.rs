//! Things by number, with the numbers of those that are gone used again.

use std::ops::{Index, IndexMut};

/// Things by number.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    things: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { things: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn insert(&mut self, thing: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.things[number as usize] = Some(thing);
                number
            }
            None => {
                self.things.push(Some(thing));
                u32::try_from(self.things.len() - 1).expect("no queue has four thousand million")
            }
        }
    }

    pub(crate) fn remove(&mut self, number: u32) -> T {
        let thing = self.things[number as usize].take().expect("a number names what is there");
        self.free.push(number);
        thing
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.things.get(number as usize).and_then(Option::as_ref)
    }

    /// All numbers are below this.
    pub(crate) fn end(&self) -> u32 {
        u32::try_from(self.things.len()).expect("no queue has four thousand million")
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        self.get(number).expect("a number names what is there")
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        self.things[number as usize].as_mut().expect("a number names what is there")
    }
}
