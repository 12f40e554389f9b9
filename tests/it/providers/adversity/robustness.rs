//! Arbitrary and cut bytes from a server: no panic, no false answer.

use conclave::consultation::protocol::call::{FailureClass, Outcome, StopReason};
use conclave::providers::wire::End;
use conclave::providers::wire::sse;
use proptest::prelude::*;

use super::ALL_VENDORS;
use crate::providers::{cloud_at, usual};
use crate::support::provider_server::{Answer, Vendor, listed_model, stream_of};

/// Decodes a stream's bytes without a network.
fn decode_bytes(vendor: Vendor, stream: &[u8]) -> Outcome {
    let (request, mut decoder) = cloud_at(vendor, "http://h").codec(&usual(vendor));
    let mut parser = sse::Parser::new(request.framing);
    let mut events = Vec::new();
    parser.feed(stream, &mut events).unwrap();
    events.extend(parser.finish());
    let _ = events
        .iter()
        .try_for_each(|event| decoder.event(event, &mut |_| {}));
    decoder.finish(End::Closed)
}

proptest! {
    #[test]
    fn a_damaged_stream_never_panics(
        which in 0..ALL_VENDORS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let vendor = ALL_VENDORS[which];
        let mut stream = stream_of(vendor, listed_model(vendor), &Answer::text("Grüße, 世界!"));
        for (at, byte) in edits {
            let at = at.index(stream.len());
            stream[at] = byte;
        }
        for at in removed {
            stream.remove(at.index(stream.len()));
        }
        match decode_bytes(vendor, &stream) {
            Ok(reply) => prop_assert!(reply.usage.prompt() > 0),
            Err(failure) => {
                prop_assert!(!failure.message.is_empty() && failure.message.chars().count() < 600);
            }
        }
    }
}

#[test]
fn no_prefix_of_a_stream_is_a_complete_answer() {
    let text = r#"{"position": "Grüße", "confidence": 0.5}"#;
    for vendor in ALL_VENDORS {
        let stream = stream_of(vendor, listed_model(vendor), &Answer::text(text).pieces(4));
        assert_eq!(decode_bytes(vendor, &stream).unwrap().text, text);
        // Every seventh byte falls into each part of some event.
        for cut in (0..stream.len()).step_by(7) {
            let case = format!("{vendor:?} cut at {cut}");
            match decode_bytes(vendor, &stream[..cut]) {
                Ok(reply) => {
                    assert_eq!(reply.text, text, "{case}");
                    assert_eq!(reply.stop, StopReason::End, "{case}");
                }
                Err(failure) => {
                    let class = if failure.partial.is_empty() {
                        FailureClass::Transport
                    } else {
                        FailureClass::Interrupted
                    };
                    assert_eq!(failure.class, class, "{case}");
                    assert!(text.starts_with(&failure.partial), "{case}");
                }
            }
        }
    }
}
