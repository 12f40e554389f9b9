//! Texts of English words, with a few non-ASCII letters, quotes and line breaks that a record has
//! to escape.

use std::sync::LazyLock;

use fastrand::Rng;

static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "the a of to and in that is for with on we it as be by this are or should token session cache \
     queue index schema migration service monolith module boundary latency budget throughput \
     failure retry timeout backoff leader replica shard partition transaction isolation \
     consistency availability deployment rollback canary release pipeline container cluster \
     region tenant billing invoice journal audit compliance privacy encryption key rotation \
     secret vault policy permission role identity provider delegation authorization \
     authentication OAuth JWT cookie browser mobile client gateway proxy router balancer database \
     PostgreSQL SQLite Redis Kafka event stream batch window aggregate metric trace log alert \
     dashboard incident runbook owner team cost estimate risk evidence assumption constraint \
     requirement user customer feature flag experiment hypothesis measure baseline regression \
     benchmark profile memory allocation thread lock contention async runtime compiler language \
     library framework interface contract version compatibility deprecation documentation review \
     merge branch commit test coverage property snapshot fixture mock stub größe naïve"
        .split(' ')
        .collect()
});

/// Returns this many words as sentences.
pub(super) fn text(rng: &mut Rng, count: usize) -> String {
    let mut text = String::with_capacity(count * 8);
    let mut sentence = 0;
    for nth in 0..count {
        if nth > 0 {
            text.push(' ');
        }
        match rng.u8(..) {
            0 => text.push_str("\"quoted\""),
            1 => text.push_str("\n-"),
            2..8 => text.extend([
                WORDS[rng.usize(..WORDS.len())],
                "-",
                &rng.u16(..4_000).to_string(),
            ]),
            _ => text.push_str(WORDS[rng.usize(..WORDS.len())]),
        }
        sentence += 1;
        if sentence > 8 && rng.u8(..6) == 0 {
            text.push('.');
            sentence = 0;
        }
    }
    text
}

/// Returns a question, from one word to a paragraph.
pub(super) fn question(rng: &mut Rng) -> String {
    let length = 1 + rng.usize(..12) * rng.usize(1..6);
    format!("Should {}?", text(rng, length))
}
