//! A JWKS document: the public keys of the issuer.

use std::collections::HashMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use serde_json::Value;

use crate::contract::json;

/// The largest JWKS document that is read, in bytes.
pub const MAX_JWKS_BYTES: usize = 256 * 1024;

/// The keys of one document by their ids; there is at least one.
pub(super) struct KeySet {
    /// The document as it came: the same bytes hold the same keys.
    pub(super) document: Vec<u8>,
    keys: HashMap<String, DecodingKey>,
}

impl KeySet {
    /// Reads a document.
    ///
    /// Entries that are not RSA, have no id or are not for signatures are skipped. An RSA key that cannot be read makes the
    /// whole document unusable, as does a document without any key: a mistake of the issuer must not lock all callers out
    /// while the old keys are still valid. Signatures of keys under 2048 bits are never valid.
    pub(super) fn read(document: Vec<u8>) -> Result<Self, String> {
        if document.len() > MAX_JWKS_BYTES {
            return Err(format!("the document is larger than {MAX_JWKS_BYTES} bytes"));
        }
        let json = json::parse(&document).map_err(|error| format!("the document is not JSON: {error}"))?;
        let entries = json["keys"]
            .as_array()
            .ok_or("the document has no array `keys`")?;
        let mut keys = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let Some(id) = id_of_signing_key(entry) else {
                continue;
            };
            let part = |name: &str| {
                let part = entry[name].as_str().and_then(number);
                part.ok_or_else(|| format!("the RSA key {index} of the document has no usable `{name}`"))
            };
            let key = DecodingKey::from_rsa_raw_components(&part("n")?, &part("e")?);
            keys.insert(id.to_owned(), key);
        }
        if keys.is_empty() {
            return Err("the document has no RSA key with an id".to_owned());
        }
        Ok(Self { document, keys })
    }

    pub(super) fn get(&self, id: &str) -> Option<&DecodingKey> {
        self.keys.get(id)
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys.keys()).finish()
    }
}

/// The id of an RSA key for signatures; `None` for other entries.
fn id_of_signing_key(entry: &Value) -> Option<&str> {
    let for_signatures = entry.get("use").is_none_or(|usage| usage == "sig");
    (entry["kty"] == "RSA" && for_signatures).then_some(())?;
    entry["kid"].as_str()
}

/// A number without leading zeros; `None` when it is zero or not readable.
fn number(text: &str) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
    let start = bytes.iter().position(|&byte| byte != 0)?;
    Some(bytes[start..].to_vec())
}

#[cfg(test)]
mod tests {
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
        let set = KeySet::read(json!({"keys": keys}).to_string().into_bytes());
        let mut ids: Vec<_> = set?.keys.into_keys().collect();
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
            json!("text"),
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
            assert!(KeySet::read(text.into()).is_err(), "{text}");
        }
        let long = format!("{}{}", " ".repeat(MAX_JWKS_BYTES), json!({"keys": [rsa("a")]}));
        let error = KeySet::read(long.into_bytes()).unwrap_err();
        assert!(error.contains("larger"), "{error}");
    }
}
