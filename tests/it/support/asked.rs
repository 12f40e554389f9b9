//! What a recorded request asks for, whichever vendor's request it is.

use serde_json::Value;

use super::provider_server::{ProviderServer, Recorded, Vendor};

/// A request in terms of the consultation.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) vendor: Vendor,
    pub(crate) model: String,
    /// `independent`, `synthesis`, `revision`, `cross_exam`, `comparison`, `verdict` or `casting`,
    /// told by the schema that goes out.
    pub(crate) answer: &'static str,
    pub(crate) system: String,
    pub(crate) user: String,
    pub(crate) schema: Value,
    pub(crate) request: Recorded,
}

impl Asked {
    fn of(request: Recorded) -> Self {
        let (schema, system, user) = match request
            .vendor
            .expect("only the vendors' own paths are asked")
        {
            Vendor::Anthropic => (
                "/output_config/format/schema",
                "/system",
                "/messages/0/content",
            ),
            Vendor::Google => (
                "/generationConfig/responseJsonSchema",
                "/systemInstruction/parts/0/text",
                "/contents/0/parts/0/text",
            ),
            Vendor::Ollama => ("/format", "/messages/0/content", "/messages/1/content"),
            Vendor::OpenAi
            | Vendor::Xai
            | Vendor::Mistral
            | Vendor::OpenRouter
            | Vendor::LlamaCpp
            | Vendor::LmStudio
            | Vendor::Vllm
            | Vendor::Custom(_) => (
                "/response_format/json_schema/schema",
                "/messages/0/content",
                "/messages/1/content",
            ),
        };
        let at = |place: &str| {
            request
                .body
                .pointer(place)
                .unwrap_or_else(|| panic!("no `{place}` in {}", request.body))
        };
        let text = |place: &str| at(place).as_str().unwrap().to_owned();
        let schema = at(schema).clone();
        let has = |field: &str| schema["properties"].get(field).is_some();
        let answer = match () {
            () if has("consensus_points") => "synthesis",
            () if has("revised_position") => "revision",
            () if has("unresolved") => "cross_exam",
            () if has("recommendation") => "verdict",
            () if has("personas") => "casting",
            () if has("comparisons") => "comparison",
            () => "independent",
        };
        let (system, user) = (text(system), text(user));
        Self {
            vendor: request.vendor.unwrap(),
            model: request.model.clone(),
            answer,
            system,
            user,
            schema,
            request,
        }
    }

    /// The persona that this model plays on the default panel, as its file has it.
    pub(crate) fn persona(&self) -> String {
        let file = match self.vendor {
            Vendor::Anthropic => "security",
            Vendor::OpenAi => "architecture",
            Vendor::Google => "pragmatic",
            other => panic!("`{}` has no seat on the default panel", other.id()),
        };
        let path = format!("{}/prompts/personas/{file}.md", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        text.splitn(3, "---\n").last().unwrap().trim().to_owned()
    }

    /// An expert speaks here, not the judge.
    pub(crate) fn is_experts(&self) -> bool {
        ["independent", "revision"].contains(&self.answer)
    }

    /// Everything that the model is told.
    pub(crate) fn prompt(&self) -> String {
        format!("{}\n\n{}", self.system, self.user)
    }
}

/// All requests so far, in the order of arrival.
pub(crate) fn asked(server: &ProviderServer) -> Vec<Asked> {
    server.requests().into_iter().map(Asked::of).collect()
}

/// How often each answer was asked for, in the order of the rounds.
pub(crate) fn counts(server: &ProviderServer) -> Vec<(&'static str, usize)> {
    let asked = asked(server);
    let count = |answer| {
        (
            answer,
            asked.iter().filter(|asked| asked.answer == answer).count(),
        )
    };
    [
        "independent",
        "synthesis",
        "revision",
        "cross_exam",
        "verdict",
    ]
    .map(count)
    .to_vec()
}
