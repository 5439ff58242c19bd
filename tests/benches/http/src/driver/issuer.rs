//! An issuer with one key and one token. It serves its JWKS.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

const ISSUER: &str = "https://issuer.test";
const AUDIENCE: &str = "skills";

/// The lifetime of the token in seconds.
const LIFETIME: u64 = 3000;

/// The issuer. It serves its keys as long as the program runs.
#[derive(Debug)]
pub(crate) struct Issuer {
    address: SocketAddr,
    token: String,
}

impl Issuer {
    /// Creates a key and a token, and serves the key.
    pub(crate) fn start() -> io::Result<Self> {
        let key = KeyPair::generate(KeySize::Rsa2048).map_err(io::Error::other)?;
        let token = token(&key)?;
        let public = key.public_key();
        let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let document = json!({"keys": [{
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": "k1",
            "n": number(public.modulus().big_endian_without_leading_zero()),
            "e": number(public.exponent().big_endian_without_leading_zero()),
        }]});
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        std::thread::spawn(move || serve(&listener, &document));
        Ok(Self { address, token })
    }

    /// A token that all servers accept.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The environment variables that make a server accept its tokens.
    pub(crate) fn variables(&self) -> [(&'static str, String); 3] {
        [
            ("SKILL_SDK_IAM_ISSUER", ISSUER.to_owned()),
            ("SKILL_SDK_AUDIENCE", AUDIENCE.to_owned()),
            ("SKILL_SDK_JWKS_URL", format!("http://{}/jwks", self.address)),
        ]
    }
}

fn token(key: &KeyPair) -> io::Result<String> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_err(io::Error::other)?
        .as_secs();
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = part(json!({"alg": "RS256", "kid": "k1", "typ": "JWT"}));
    let claims = part(json!({
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "0b6f4a4e-6a55-4d6c-9d0f-0a4f5f1f6c01",
        "tenant_id": "0b6f4a4e-6a55-4d6c-9d0f-0a4f5f1f6c02",
        "jti": "0b6f4a4e-6a55-4d6c-9d0f-0a4f5f1f6c03",
        "principal_type": "agent",
        "scope": ["orders:read"],
        "iat": now,
        "nbf": now,
        "exp": now + LIFETIME,
    }));
    let message = format!("{header}.{claims}");
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(
        &RSA_PKCS1_SHA256,
        &SystemRandom::new(),
        message.as_bytes(),
        &mut signature,
    )
    .map_err(io::Error::other)?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

fn serve(listener: &TcpListener, document: &Value) {
    let body = document.to_string();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else {
            continue;
        };
        // The request has no body, so it arrives in one read.
        if stream.read(&mut [0; 4096]).is_ok() {
            drop(stream.write_all(answer.as_bytes()));
        }
    }
}
