//! The tokens that were good, by their hashes.
//!
//! A hit takes one shared lock of one of many small sets and writes nothing but a mark that is mostly there already, so
//! threads that see the same token do not wait for each other. There is no list to keep in order: a set that is full gives
//! up an expired token, else one that was not asked for of late.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use sha2::{Digest as _, Sha256};

use super::claims::is_expired;
use super::jwks::{Key, KeySet};
use crate::context::Caller;

/// How many tokens are remembered at most.
pub const CACHED_TOKENS: usize = SETS * WAYS;

const SETS: usize = 512;
const WAYS: usize = 8;

/// The hash of a token, which stands for it.
pub(super) type Digest = [u8; 32];

/// The hash of a token.
pub(super) fn digest(token: &str) -> Digest {
    Sha256::digest(token.as_bytes()).into()
}

#[derive(Debug)]
struct Entry {
    digest: Digest,
    key: Arc<Key>,
    caller: Arc<Caller>,
    /// Whether it was asked for since somebody last looked for room.
    used: AtomicBool,
}

/// What is known about a token.
#[derive(Debug)]
pub(super) enum Known {
    /// It was good and still is.
    Good(Arc<Caller>),
    /// It was good, and its time is up.
    Expired,
    /// Nothing.
    Nothing,
}

/// The tokens that were good.
#[derive(Debug)]
pub(super) struct TokenCache {
    sets: Box<[RwLock<Vec<Entry>>]>,
    /// Counts the documents of keys. A token that was checked with an older one is not remembered.
    generation: AtomicU64,
}

impl TokenCache {
    pub(super) fn new() -> Self {
        Self {
            sets: (0..SETS).map(|_| RwLock::default()).collect(),
            generation: AtomicU64::new(0),
        }
    }

    fn set(&self, digest: &Digest) -> &RwLock<Vec<Entry>> {
        let index = usize::from(u16::from_le_bytes([digest[0], digest[1]])) % SETS;
        &self.sets[index]
    }

    /// What is known about a token at `now`, in seconds since 1970.
    pub(super) fn get(&self, digest: &Digest, now: i64) -> Known {
        let set = self.set(digest).read().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = set.iter().find(|entry| entry.digest == *digest) else {
            return Known::Nothing;
        };
        if is_expired(entry.caller.expires_at(), now) {
            return Known::Expired;
        }
        if !entry.used.load(Ordering::Relaxed) {
            entry.used.store(true, Ordering::Relaxed);
        }
        Known::Good(Arc::clone(&entry.caller))
    }

    /// The generation to hand to [`insert`](Self::insert): asked for before the keys are.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Remembers a token that is good at `now`.
    pub(super) fn insert(
        &self,
        digest: Digest,
        key: Arc<Key>,
        caller: Arc<Caller>,
        generation: u64,
        now: i64,
    ) {
        let mut set = self.set(&digest).write().unwrap_or_else(PoisonError::into_inner);
        // Under the lock: a sweep that is still to come will see the entry, one that is over was announced.
        if self.generation() != generation {
            return;
        }
        let entry = Entry {
            digest,
            key,
            caller,
            used: AtomicBool::new(false),
        };
        if let Some(old) = set.iter_mut().find(|old| old.digest == digest) {
            *old = entry;
        } else if set.len() < WAYS {
            set.push(entry);
        } else {
            let place = room(&mut set, now, usize::from(digest[2]) % WAYS);
            set[place] = entry;
        }
    }

    /// Forgets the tokens whose keys are not in the document.
    pub(super) fn keep_only(&self, keys: &KeySet) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        for set in &self.sets {
            let mut set = set.write().unwrap_or_else(PoisonError::into_inner);
            set.retain(|entry| keys.holds(&entry.key));
        }
    }
}

/// The place of an expired token, else of one that was not used of late, else `fallback`.
fn room(set: &mut [Entry], now: i64, fallback: usize) -> usize {
    if let Some(place) = set
        .iter()
        .position(|entry| is_expired(entry.caller.expires_at(), now))
    {
        return place;
    }
    if let Some(place) = set.iter_mut().position(|entry| !*entry.used.get_mut()) {
        return place;
    }
    for entry in set {
        *entry.used.get_mut() = false;
    }
    fallback
}
