//! The verifier as hosts see it.
