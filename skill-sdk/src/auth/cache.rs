//! The tokens that were good: what they say, and the hash of what makes them good.
//!
//! A token is found by the hash of its signature, and then compared in the part that is signed. So a hit hashes the third part
//! alone, and nobody who reads the memory of the host finds a token there: what is kept is worth nothing without the
//! signature.
//!
//! A hit takes one shared lock of one of many small sets and writes nothing but a mark that is mostly there already, so
//! threads that see the same token do not wait for each other. There is no list to keep in order: a set that is full gives
//! up an expired token, else one that was not asked for of late.

use std::fmt;
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

type Digest = [u8; 32];

/// What a token is recognized by.
pub(super) struct Fingerprint<'a> {
    /// Header and claims as they are written.
    message: &'a str,
    /// The hash of the signature as it is written.
    digest: Digest,
}

impl<'a> Fingerprint<'a> {
    /// The fingerprint of a token; `None` when it has no parts.
    pub(super) fn of(token: &'a str) -> Option<Self> {
        let (message, signature) = token.rsplit_once('.')?;
        let digest = Sha256::digest(signature.as_bytes()).into();
        Some(Self { message, digest })
    }
}

struct Entry {
    digest: Digest,
    message: Box<str>,
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

/// What the token says is about a person.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("bytes", &self.message.len())
            .finish_non_exhaustive()
    }
}

impl Entry {
    fn is_of(&self, token: &Fingerprint<'_>) -> bool {
        self.digest == token.digest && *self.message == *token.message
    }
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
    pub(super) fn get(&self, token: &Fingerprint<'_>, now: i64) -> Known {
        let set = self
            .set(&token.digest)
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = set.iter().find(|entry| entry.is_of(token)) else {
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
        token: &Fingerprint<'_>,
        key: Arc<Key>,
        caller: Arc<Caller>,
        generation: u64,
        now: i64,
    ) {
        let mut set = self
            .set(&token.digest)
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        // Under the lock: a sweep that is still to come will see the entry, one that is over was announced.
        if self.generation() != generation {
            return;
        }
        let entry = Entry {
            digest: token.digest,
            message: token.message.into(),
            key,
            caller,
            used: AtomicBool::new(false),
        };
        if let Some(old) = set.iter_mut().find(|old| old.is_of(token)) {
            *old = entry;
        } else if set.len() < WAYS {
            set.push(entry);
        } else {
            let place = room(&mut set, now, usize::from(token.digest[2]) % WAYS);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::context::CallerClaims;

    const NOW: i64 = 1000;

    fn keys(ids: &[&str], before: Option<&KeySet>) -> KeySet {
        use base64::Engine as _;
        let modulus = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode([0x87; 256]);
        let entries: Vec<_> = ids
            .iter()
            .map(|id| json!({"kty": "RSA", "kid": id, "n": modulus, "e": "AQAB"}))
            .collect();
        KeySet::read(json!({"keys": entries}).to_string().as_bytes(), before).unwrap()
    }

    fn caller(expires_at: i64) -> Arc<Caller> {
        let mut claims = CallerClaims::new("t", "p");
        claims.expires_at = expires_at;
        Arc::new(Caller::new(claims))
    }

    fn remember(cache: &TokenCache, token: &str, keys: &KeySet, expires_at: i64) {
        let key = Arc::clone(keys.get("a").unwrap());
        let fingerprint = Fingerprint::of(token).unwrap();
        cache.insert(&fingerprint, key, caller(expires_at), cache.generation(), NOW);
    }

    fn is_good(cache: &TokenCache, token: &str, now: i64) -> bool {
        matches!(get(cache, token, now), Known::Good(_))
    }

    fn get(cache: &TokenCache, token: &str, now: i64) -> Known {
        cache.get(&Fingerprint::of(token).unwrap(), now)
    }

    #[test]
    fn what_is_remembered_and_for_how_long() {
        let (cache, keys) = (TokenCache::new(), keys(&["a"], None));
        remember(&cache, "h.c.s", &keys, NOW + 10);
        assert!(is_good(&cache, "h.c.s", NOW));
        assert!(is_good(&cache, "h.c.s", NOW + 14));
        assert!(matches!(get(&cache, "h.c.s", NOW + 15), Known::Expired));
        assert!(matches!(get(&cache, "h.c.S", NOW), Known::Nothing));
        // The same token again takes no second place.
        remember(&cache, "h.c.s", &keys, NOW + 20);
        assert!(is_good(&cache, "h.c.s", NOW + 15));
        assert_eq!(
            cache
                .set(&Fingerprint::of("h.c.s").unwrap().digest)
                .read()
                .unwrap()
                .len(),
            1
        );
    }

    #[test]
    fn every_part_of_a_token_counts() {
        let (cache, keys) = (TokenCache::new(), keys(&["a"], None));
        remember(&cache, "h.c.s", &keys, NOW + 10);
        for other in [
            "H.c.s", "h.C.s", "h.c.S", "c.h.s", "h.c.s.", ".h.c.s", "c.s", "s.h.c", "h.c.",
        ] {
            assert!(!is_good(&cache, other, NOW), "{other}");
        }
        assert!(Fingerprint::of("no parts").is_none());
        // Two tokens that differ in what is signed alone stand in one set, each with its own caller.
        remember(&cache, "h.d.s", &keys, NOW + 100);
        assert!(matches!(get(&cache, "h.c.s", NOW + 50), Known::Expired));
        assert!(is_good(&cache, "h.d.s", NOW + 50));
        let mut kept = Vec::new();
        for set in &cache.sets {
            kept.extend(set.read().unwrap().iter().map(|entry| entry.message.to_string()));
        }
        kept.sort();
        assert_eq!(kept, ["h.c", "h.d"], "without their signatures");
        assert!(!format!("{cache:?}").contains("h."), "nor does a log show it");
    }

    #[test]
    fn tokens_go_with_their_keys() {
        let (cache, old) = (TokenCache::new(), keys(&["a", "b"], None));
        remember(&cache, "h.c.s", &old, NOW + 10);
        let same = keys(&["a"], Some(&old));
        cache.keep_only(&same);
        assert!(is_good(&cache, "h.c.s", NOW));
        let generation = cache.generation();
        let new = keys(&["b"], Some(&same));
        cache.keep_only(&new);
        assert!(!is_good(&cache, "h.c.s", NOW));
        // Whoever checked a token with the keys of before does not bring it back.
        let key = Arc::clone(old.get("a").unwrap());
        cache.insert(
            &Fingerprint::of("h.c.s").unwrap(),
            key,
            caller(NOW + 10),
            generation,
            NOW,
        );
        assert!(!is_good(&cache, "h.c.s", NOW));
    }

    #[test]
    fn there_is_room_for_so_many_and_those_in_use_stay() {
        let (cache, keys) = (TokenCache::new(), keys(&["a"], None));
        remember(&cache, "in.use", &keys, NOW + 10);
        for index in 0..4 * CACHED_TOKENS {
            remember(&cache, &format!("h.c.{index}"), &keys, NOW + 10);
            assert!(is_good(&cache, "in.use", NOW), "{index}");
        }
        let places = || cache.sets.iter().map(|set| set.read().unwrap().len());
        assert!(places().sum::<usize>() > CACHED_TOKENS * 9 / 10);
        assert!(places().max() <= Some(WAYS));
    }

    #[test]
    fn expired_tokens_make_room_first() {
        let (cache, keys) = (TokenCache::new(), keys(&["a"], None));
        let set = |token: &str| std::ptr::from_ref(cache.set(&Fingerprint::of(token).unwrap().digest));
        let first = set("h.c.0");
        let mut of_one_set = (0_u32..)
            .map(|index| format!("h.c.{index}"))
            .filter(|token| set(token) == first);
        let tokens: Vec<String> = of_one_set.by_ref().take(WAYS + 1).collect();
        for (place, token) in tokens[..WAYS].iter().enumerate() {
            let expires_at = if place == 3 { NOW - 100 } else { NOW + 10 };
            remember(&cache, token, &keys, expires_at);
        }
        remember(&cache, &tokens[WAYS], &keys, NOW + 10);
        for (place, token) in tokens.iter().enumerate() {
            assert_eq!(is_good(&cache, token, NOW), place != 3, "{place}");
        }
    }
}
