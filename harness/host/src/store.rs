//! Data that extensions create when they are first requested.

use std::any::Any;
use std::cell::OnceCell;

/// At most one value of each type. A value is not moved until the store is dropped, so that a plugin may
/// store a pointer to it.
#[derive(Debug, Default)]
pub(crate) struct Store(OnceCell<Box<Node>>);

#[derive(Debug)]
struct Node {
    value: Box<dyn Any>,
    next: Store,
}

impl Store {
    /// The value of this type, if it has been made.
    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        let node = self.0.get()?;
        node.value.downcast_ref().or_else(|| node.next.get())
    }

    /// The value of this type, made now if there is none.
    pub(crate) fn get_or_init<T: 'static>(&self, make: impl FnOnce() -> T) -> &T {
        self.get().unwrap_or_else(|| self.append(Box::new(make())))
    }

    fn append<T: 'static>(&self, value: Box<T>) -> &T {
        match self.0.get() {
            Some(node) => node.next.append(value),
            None => {
                let node = self.0.get_or_init(|| Box::new(Node { value, next: Store::default() }));
                node.value.downcast_ref().expect("the value that has just been stored")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_and_stays_in_place() {
        let store = Store::default();
        assert_eq!(store.get::<u8>(), None);
        let first = std::ptr::from_ref(store.get_or_init(|| 1_u8));
        assert_eq!(store.get_or_init(|| "text"), &"text");
        assert_eq!(store.get_or_init(|| 2_u8), &1);
        assert_eq!((store.get(), store.get::<&str>()), (Some(&1_u8), Some(&"text")));
        assert_eq!(std::ptr::from_ref(store.get::<u8>().unwrap()), first);
    }
}
