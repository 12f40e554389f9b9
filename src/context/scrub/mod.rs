//! Masks secrets in texts that go out.
