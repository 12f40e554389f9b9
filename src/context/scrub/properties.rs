//! Properties of scrubbing: idempotence, untouched texts, planted secrets, numbers.
