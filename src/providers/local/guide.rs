//! Writes one answer token by token. The sampler chooses among the tokens that the answer's schema
//! allows.
//!
//! Where the schema leaves no choice (`", "rationale": "`) the text is taken as is, and its tokens
//! go to the model in one batch.

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::Value;

use super::cut::cut_back;
use super::job::internal;
use crate::consultation::protocol::call::Failure;

/// Creates writers. It is built once per model, because that walks the whole vocabulary.
pub(super) struct Guide {
    factory: ParserFactory,
}

fn failed(error: impl std::fmt::Display) -> Failure {
    internal(format!("constrained decoding failed: {error}"))
}

impl Guide {
    pub(super) fn of(model: &LlamaModel) -> Result<Self, Failure> {
        let mut factory =
            ParserFactory::new_simple(&LlamaSampler::llguidance_tok_env(model)).map_err(failed)?;
        factory.quiet();
        Ok(Self { factory })
    }

    /// The same seed and prompt give the same answer, on the same machine and number of threads.
    pub(super) fn start(
        &self,
        model: &LlamaModel,
        schema: Value,
        seed: u32,
    ) -> Result<Writer, Failure> {
        let matcher = Matcher::new(
            self.factory
                .create_parser(TopLevelGrammar::from_json_schema(schema.clone())),
        );
        match matcher.get_error() {
            Some(error) => Err(failed(error)),
            None => Ok(Writer {
                matcher,
                schema,
                sampler: sampler(model, seed),
                written: Vec::new(),
                reported: 0,
            }),
        }
    }
}

/// Measured settings: varied enough that three personas differ, and coherent enough for whole
/// sentences.
fn sampler(model: &LlamaModel, seed: u32) -> LlamaSampler {
    LlamaSampler::chain_simple([
        LlamaSampler::penalties(model.n_vocab(), 64, 1.1, 0.0, 0.0),
        LlamaSampler::top_k(40),
        LlamaSampler::top_p(0.9, 1),
        LlamaSampler::temp(0.7),
        LlamaSampler::dist(seed),
    ])
}

/// An answer in progress.
pub(super) struct Writer {
    matcher: Matcher,
    schema: Value,
    sampler: LlamaSampler,
    written: Vec<u8>,
    /// The reported bytes.
    reported: usize,
}

impl Writer {
    /// `None` at the end of the answer.
    pub(super) fn choose(
        &mut self,
        model: &LlamaModel,
        logits: &[f32],
    ) -> Result<Option<i32>, Failure> {
        let allowed = self.matcher.compute_mask_or_eos().map_err(failed)?;
        let mut candidates = Vec::with_capacity(256);
        for (id, logit) in (0_u32..).zip(logits) {
            if allowed.is_allowed(id) {
                candidates.push(LlamaTokenData::new(
                    LlamaToken(id.cast_signed()),
                    *logit,
                    0.0,
                ));
            }
        }
        let mut candidates = LlamaTokenDataArray::new(candidates, false);
        self.sampler.apply(&mut candidates);
        let token = candidates
            .selected_token()
            .ok_or_else(|| failed("no token is allowed"))?;
        if model.vocab().is_eog(token) {
            return Ok(None);
        }
        self.take(model, token)?;
        Ok(Some(token.0))
    }

    /// Returns the tokens that the schema forces next, and adds them to the answer.
    ///
    /// The last one is left to the model, which might choose a longer token that begins with it.
    pub(super) fn forced(&mut self, model: &LlamaModel) -> Result<Vec<i32>, Failure> {
        if self.ended() {
            return Ok(Vec::new());
        }
        let bytes = self.matcher.compute_ff_bytes();
        let mut tokens = model.vocab().tokenize(&bytes, false, false);
        tokens.pop();
        for token in &tokens {
            self.take(model, *token)?;
        }
        Ok(tokens.into_iter().map(|token| token.0).collect())
    }

    fn take(&mut self, model: &LlamaModel, token: LlamaToken) -> Result<(), Failure> {
        self.matcher
            .consume_token(token.0.cast_unsigned())
            .map_err(failed)?;
        self.sampler.accept(token);
        self.written
            .extend(model.vocab().token_to_piece(token, false, None));
        Ok(())
    }

    pub(super) fn ended(&self) -> bool {
        self.matcher.is_stopped()
    }

    /// Returns the text since the last call, up to the last whole character.
    pub(super) fn news(&mut self) -> Option<String> {
        let new = self.written.get(self.reported..).unwrap_or_default();
        let whole = match std::str::from_utf8(new) {
            Ok(text) => text,
            Err(error) => new
                .get(..error.valid_up_to())
                .and_then(|valid| std::str::from_utf8(valid).ok())
                .unwrap_or_default(),
        };
        let text = whole.to_owned();
        self.reported += text.len();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the answer, with texts that reached a limit of the schema cut back.
    pub(super) fn answer(&self) -> String {
        cut_back(&self.text(), &self.schema)
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }
}
