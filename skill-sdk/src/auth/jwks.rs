//! A JWKS document: the keys of the issuer.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use jsonwebtoken::{DecodingKey, DecodingKeyKind};
use serde_json::{Map, Value};

use super::source::KeySourceError;
use super::token;
use crate::contract::json;

/// The largest JWKS document that is read, in bytes.
pub const MAX_JWKS_BYTES: usize = 256 * 1024;

/// The most entries that a JWKS document may have.
pub const MAX_KEYS: usize = 256;

/// The sizes of keys that count, in bits. Smaller ones are not safe, and larger ones only cost time.
const KEY_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// One public key.
pub(super) struct Key {
    pub(super) id: String,
    pub(super) decoding: DecodingKey,
}

impl Key {
    /// Modulus and exponent.
    fn material(&self) -> Option<(&[u8], &[u8])> {
        match self.decoding.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => Some((n, e)),
            DecodingKeyKind::SecretOrDer(_) => None,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The keys of one document by their ids; there is at least one.
#[derive(Debug)]
pub(super) struct KeySet(HashMap<String, Arc<Key>>);

impl KeySet {
    /// Reads a document. Keys that stay the same are those of `before`.
    ///
    /// Entries that are not RSA, have no id or are not for signatures are skipped, and so are keys of a size that does not
    /// count. An RSA key that cannot be read makes the whole document unusable, as does a document without any key: keys
    /// that are missing by mistake must not lock everybody out while the old ones are still good.
    pub(super) fn read(document: &[u8], before: Option<&Self>) -> Result<Self, KeySourceError> {
        let unusable = |what: &str| KeySourceError::new(format!("the JWKS document {what}"));
        if document.len() > MAX_JWKS_BYTES {
            return Err(unusable(&format!("is larger than {MAX_JWKS_BYTES} bytes")));
        }
        let document = json::parse(document).map_err(|error| unusable(&format!("is not JSON: {error}")))?;
        let entries = document
            .get("keys")
            .and_then(Value::as_array)
            .ok_or_else(|| unusable("has no list `keys`"))?;
        if entries.len() > MAX_KEYS {
            return Err(unusable(&format!("has more than {MAX_KEYS} keys")));
        }
        let mut keys = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let entry = entry
                .as_object()
                .ok_or_else(|| unusable(&format!("has an entry {index} that is no object")))?;
            let Some(id) = id_of_signing_key(entry) else {
                continue;
            };
            let part = |name: &str| {
                entry
                    .get(name)
                    .and_then(Value::as_str)
                    .and_then(number)
                    .ok_or_else(|| unusable(&format!("has an RSA key {index} without a usable `{name}`")))
            };
            let (modulus, exponent) = (part("n")?, part("e")?);
            let bits = bits(&modulus);
            if !KEY_BITS.contains(&bits) {
                tracing::warn!(
                    index,
                    bits,
                    "a key of the issuer is skipped: its size does not count"
                );
                continue;
            }
            let key = Key {
                id: id.to_owned(),
                decoding: DecodingKey::from_rsa_raw_components(&modulus, &exponent),
            };
            let same = before
                .and_then(|before| before.get(id))
                .filter(|old| old.material() == key.material());
            let key = same.cloned().unwrap_or_else(|| Arc::new(key));
            keys.insert(id.to_owned(), key);
        }
        if keys.is_empty() {
            return Err(unusable("has no RSA key with an id"));
        }
        Ok(Self(keys))
    }

    /// The key with this id.
    pub(super) fn get(&self, id: &str) -> Option<&Arc<Key>> {
        self.0.get(id)
    }

    /// Whether this very key is in the document.
    pub(super) fn holds(&self, key: &Arc<Key>) -> bool {
        self.get(&key.id).is_some_and(|own| Arc::ptr_eq(own, key))
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The id of an RSA key for signatures; `None` for other entries.
fn id_of_signing_key(entry: &Map<String, Value>) -> Option<&str> {
    let is = |name: &str, value: &str| entry.get(name).and_then(Value::as_str) == Some(value);
    if !is("kty", "RSA") || (entry.contains_key("use") && !is("use", "sig")) {
        return None;
    }
    entry.get("kid").and_then(Value::as_str)
}

/// A number without leading zeros; `None` when it is zero or not readable.
fn number(text: &str) -> Option<Vec<u8>> {
    let mut bytes = token::decode(text.trim_end_matches('='))?;
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    bytes.drain(..zeros);
    (!bytes.is_empty()).then_some(bytes)
}

fn bits(number: &[u8]) -> usize {
    let unused = number.first().map_or(0, |first| first.leading_zeros() as usize);
    number.len() * 8 - unused
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::json;

    use super::*;

    fn modulus(bytes: usize, first: u8) -> String {
        let mut modulus = vec![0x87; bytes];
        modulus[0] = first;
        URL_SAFE_NO_PAD.encode(modulus)
    }

    fn rsa(id: &str) -> Value {
        json!({"kty": "RSA", "kid": id, "n": modulus(256, 0x80), "e": "AQAB", "alg": "RS256", "use": "sig"})
    }

    fn changed(name: &str, value: Value) -> Value {
        let mut entry = rsa("x");
        entry[name] = value;
        entry
    }

    fn read(keys: &Value) -> Result<Vec<String>, String> {
        let set = KeySet::read(json!({"keys": keys}).to_string().as_bytes(), None);
        let mut ids: Vec<_> = set.map_err(|error| error.to_string())?.0.into_keys().collect();
        ids.sort();
        Ok(ids)
    }

    #[test]
    fn entries_that_do_not_count_are_skipped() {
        let without = |name: &str| {
            let mut entry = rsa("x");
            entry.as_object_mut().unwrap().remove(name);
            entry
        };
        for entry in [
            json!({}),
            json!({"kty": "oct", "kid": "x", "k": "AQAB"}),
            json!({"kty": "EC", "kid": "x", "crv": "P-256", "x": "AA", "y": "AA"}),
            without("kid"),
            changed("kid", Value::Null),
            changed("kid", json!(7)),
            changed("use", json!("enc")),
            changed("use", Value::Null),
            changed("n", json!(modulus(256, 0x7f))),
            changed("n", json!(modulus(1025, 0x80))),
        ] {
            assert_eq!(
                read(&json!([rsa("a"), entry])),
                Ok(vec!["a".to_owned()]),
                "{entry}"
            );
            assert!(read(&json!([entry])).is_err(), "{entry}");
        }
        for entry in [
            without("use"),
            without("alg"),
            changed("alg", json!("RS512")),
            changed("n", json!(modulus(257, 0))),
            changed("e", json!("AQAB==")),
        ] {
            assert!(read(&json!([entry])).is_ok(), "{entry}");
        }
    }

    #[test]
    fn a_broken_key_makes_the_document_unusable() {
        for entry in [
            changed("n", Value::Null),
            changed("n", json!("")),
            changed("n", json!("AAAA")),
            changed("n", json!("+/")),
            changed("n", json!(7)),
            changed("e", json!("!")),
            changed("e", Value::Null),
            json!("text"),
        ] {
            assert!(read(&json!([rsa("a"), entry])).is_err(), "{entry}");
        }
    }

    #[test]
    fn documents() {
        for text in [
            "",
            "x",
            "[]",
            "{}",
            r#"{"keys": {}}"#,
            r#"{"keys": []}"#,
            r#"{"keys": 1}"#,
        ] {
            assert!(KeySet::read(text.as_bytes(), None).is_err(), "{text}");
        }
        let many = |count: usize| read(&json!(vec![rsa("a"); count]));
        assert!(many(MAX_KEYS).is_ok());
        assert!(many(MAX_KEYS + 1).unwrap_err().contains("more than"));
        let long = format!("{}{}", " ".repeat(MAX_JWKS_BYTES), json!({"keys": [rsa("a")]}));
        let error = KeySet::read(long.as_bytes(), None).unwrap_err();
        assert!(error.to_string().contains("larger"), "{error}");
    }

    #[test]
    fn keys_that_stay_the_same_are_the_same() {
        let set = |keys: Value, before: Option<&KeySet>| {
            KeySet::read(json!({"keys": keys}).to_string().as_bytes(), before).unwrap()
        };
        let old = set(json!([rsa("a"), rsa("b"), rsa("c")]), None);
        let mut other = rsa("b");
        other["n"] = json!(modulus(256, 0x81));
        let new = set(json!([rsa("a"), other]), Some(&old));
        let held = |id: &str| new.holds(old.get(id).unwrap());
        assert!(held("a") && !held("b") && !held("c"));
        assert_eq!(new.len(), 2);
    }
}
