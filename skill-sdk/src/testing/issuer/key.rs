//! A signing key.

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RsaEncoding};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// An RSA key of 2048 bits.
pub(super) struct SigningKey(KeyPair);

impl SigningKey {
    #[expect(clippy::expect_used, reason = "a test without a key should stop")]
    pub(super) fn generate() -> Self {
        Self(KeyPair::generate(KeySize::Rsa2048).expect("the system has random numbers"))
    }

    /// The public key as an entry of a JWKS document.
    pub(super) fn jwk(&self, id: &str) -> Value {
        let public = self.0.public_key();
        let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": id,
            "n": number(public.modulus().big_endian_without_leading_zero()),
            "e": number(public.exponent().big_endian_without_leading_zero()),
        })
    }

    /// The signature by an algorithm of JWS. `none` has no signature. The HS family uses the public key as its secret, as an
    /// algorithm confusion attack does. Unknown algorithms are signed as RS256.
    pub(super) fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        match algorithm {
            "none" => Vec::new(),
            "HS256" => self.keyed(hmac::HMAC_SHA256, message),
            "HS384" => self.keyed(hmac::HMAC_SHA384, message),
            "HS512" => self.keyed(hmac::HMAC_SHA512, message),
            "RS384" => self.rsa(&RSA_PKCS1_SHA384, message),
            "RS512" => self.rsa(&RSA_PKCS1_SHA512, message),
            _ => self.rsa(&RSA_PKCS1_SHA256, message),
        }
    }

    fn keyed(&self, algorithm: hmac::Algorithm, message: &[u8]) -> Vec<u8> {
        let key = hmac::Key::new(algorithm, self.0.public_key().as_ref());
        hmac::sign(&key, message).as_ref().to_vec()
    }

    #[expect(clippy::expect_used, reason = "a test without a signature should stop")]
    fn rsa(&self, encoding: &'static dyn RsaEncoding, message: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; self.0.public_modulus_len()];
        self.0
            .sign(encoding, &SystemRandom::new(), message, &mut signature)
            .expect("the key signs");
        signature
    }
}
