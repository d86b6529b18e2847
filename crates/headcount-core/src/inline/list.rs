//! A list with room for `MAX` items and no heap.

use std::fmt;

/// Up to `MAX` items, in the order in which they were pushed.
///
/// ```
/// use headcount_core::List;
///
/// let mut list: List<u32, 2> = List::new();
/// assert!(list.push(1) && list.push(2));
/// assert!(!list.push(3), "it is full, and says so");
/// assert_eq!(list.as_slice(), [1, 2]);
/// ```
#[derive(Clone, Copy)]
pub struct List<T, const MAX: usize> {
    items: [T; MAX],
    len: usize,
}

impl<T: Copy + Default, const MAX: usize> List<T, MAX> {
    /// A list without items.
    #[must_use]
    pub fn new() -> Self {
        Self { items: [T::default(); MAX], len: 0 }
    }

    /// Adds `item` at the end; false when there is no room for it.
    #[must_use = "a full list drops the item"]
    pub fn push(&mut self, item: T) -> bool {
        if self.len == MAX {
            return false;
        }
        self.items[self.len] = item;
        self.len += 1;
        true
    }
}

impl<T, const MAX: usize> List<T, MAX> {
    /// The items, oldest first.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.items[..self.len]
    }

    /// The items, oldest first, one by one.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.as_slice().iter()
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
}

impl<'a, T, const MAX: usize> IntoIterator for &'a List<T, MAX> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Copy + Default, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: PartialEq, const MAX: usize> PartialEq for List<T, MAX> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: fmt::Debug, const MAX: usize> fmt::Debug for List<T, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(feature = "serde")]
impl<T: serde::Serialize, const MAX: usize> serde::Serialize for List<T, MAX> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(feature = "serde")]
impl<'de, T, const MAX: usize> serde::Deserialize<'de> for List<T, MAX>
where
    T: serde::Deserialize<'de> + Copy + Default,
{
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T, const MAX: usize>(std::marker::PhantomData<T>);
        impl<'de, T, const MAX: usize> serde::de::Visitor<'de> for Items<T, MAX>
        where
            T: serde::Deserialize<'de> + Copy + Default,
        {
            type Value = List<T, MAX>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MAX} items")
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut items: A,
            ) -> Result<Self::Value, A::Error> {
                let mut list = List::new();
                while let Some(item) = items.next_element()? {
                    if !list.push(item) {
                        return Err(serde::de::Error::invalid_length(MAX + 1, &self));
                    }
                }
                Ok(list)
            }
        }
        deserializer.deserialize_seq(Items(std::marker::PhantomData))
    }
}
