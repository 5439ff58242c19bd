//! The clients of a server, one for each configuration.

use std::sync::{Arc, Mutex, PoisonError};

/// The most configurations that are cached. A server has one.
const MOST: usize = 8;

/// Clients by the configuration that they were made from.
pub(crate) struct ClientCache<K, V>(Mutex<Vec<(K, Arc<V>)>>);

impl<K: PartialEq, V> ClientCache<K, V> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The client for `key`; it is made when it is not there. The one that was not asked for the longest goes when there are
    /// too many.
    pub(crate) fn get<E>(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<Arc<V>, E> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = clients.iter().position(|(known, _)| *known == key) {
            // What is used stands behind what is not.
            clients[place..].rotate_left(1);
            let client = &clients[clients.len() - 1].1;
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(make(&key)?);
        if clients.len() == MOST {
            clients.remove(0);
        }
        clients.push((key, Arc::clone(&client)));
        Ok(client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_for_each_configuration() {
        let installed = ClientCache::<usize, usize>::new();
        let make = |key: &usize| Ok::<_, ()>(*key);
        let first = installed.get(1, make).unwrap();
        assert!(Arc::ptr_eq(&first, &installed.get(1, make).unwrap()));
        assert_eq!(installed.get(2, |_| Err("no")), Err("no"));
        for key in 2..=MOST + 1 {
            assert_eq!(*installed.get(key, make).unwrap(), key);
        }
        assert!(
            !Arc::ptr_eq(&first, &installed.get(1, make).unwrap()),
            "it was pushed out"
        );
    }

    #[test]
    fn one_that_is_used_stays() {
        let installed = ClientCache::<usize, usize>::new();
        let make = |key: &usize| Ok::<_, ()>(*key);
        let used = installed.get(0, make).unwrap();
        for key in 1..=5 * MOST {
            assert_eq!(*installed.get(key, make).unwrap(), key);
            assert!(Arc::ptr_eq(&used, &installed.get(0, make).unwrap()), "{key}");
        }
    }
}
