//! Arbitrary bytes from a server: no panic, no false answer, bounded memory.

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::{FailureClass, Outcome};
use conclave::providers::sse;
use conclave::providers::wire::End;
use proptest::prelude::*;

use super::adversity::ALL_VENDORS;
use super::{ask, call, cloud, cloud_at};
use crate::support::provider_server::{
    Answer, On, ProviderServer, Vendor, listed_model, stream_of,
};

/// Decodes a stream's bytes without a network.
fn decode_bytes(vendor: Vendor, model: &str, stream: &[u8]) -> Outcome {
    let (request, mut decoder) = cloud_at(vendor, "http://h").codec(&ask(vendor, model));
    let mut parser = sse::Parser::new(request.framing);
    let mut events = Vec::new();
    let fed = parser.feed(stream, &mut events);
    events.extend(parser.finish());
    let _ = events
        .iter()
        .try_for_each(|event| decoder.event(event, &mut |_| {}));
    fed.unwrap();
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
        let model = listed_model(vendor);
        let mut stream = stream_of(vendor, model, &Answer::text("Grüße, 世界!"));
        for (at, byte) in edits {
            let at = at.index(stream.len());
            stream[at] = byte;
        }
        for at in removed {
            stream.remove(at.index(stream.len()));
        }
        match decode_bytes(vendor, model, &stream) {
            Ok(reply) => prop_assert!(reply.usage.prompt() > 0),
            Err(failure) => {
                prop_assert!(!failure.message.is_empty() && failure.message.chars().count() < 600);
            }
        }
    }
}

#[test]
fn an_undamaged_stream_is_an_answer() {
    for vendor in ALL_VENDORS {
        let model = listed_model(vendor);
        let stream = stream_of(vendor, model, &Answer::text("Grüße, 世界!"));
        assert_eq!(
            decode_bytes(vendor, model, &stream).unwrap().text,
            "Grüße, 世界!"
        );
    }
}

#[tokio::test]
async fn an_overlong_line_fails_the_call() {
    let server = ProviderServer::start();
    server.on(
        On::any(),
        Answer::stream(vec![b'x'; sse::MAX_EVENT_BYTES + 2]),
    );
    let failure = call(&cloud(Vendor::OpenAi, &server), &ask(Vendor::OpenAi, "m"))
        .await
        .0
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Malformed);
    assert_eq!(
        failure.message.as_str(),
        "an event of the stream is larger than 16777216 bytes"
    );
}

#[tokio::test]
async fn the_test_server_answers_every_schema_by_default() {
    let server = ProviderServer::start();
    for vendor in ALL_VENDORS {
        let model = listed_model(vendor);
        let provider = cloud(vendor, &server);
        for kind in AnswerKind::ALL {
            let mut ask = ask(vendor, model);
            ask.answer = kind;
            let answer =
                serde_json::from_str(&call(&provider, &ask).await.0.unwrap().text).unwrap();
            let schema = kind.schema(AnswerForm::Plain);
            assert!(
                jsonschema::validator_for(&schema)
                    .unwrap()
                    .is_valid(&answer),
                "{vendor:?} {kind:?} {answer}"
            );
        }
    }
}
