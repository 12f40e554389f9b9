//! Recorded requests in terms of the consultation, for every vendor's wire format.

use serde_json::Value;

use crate::support::provider_server::{ProviderServer, RecordedRequest, Vendor};

/// A request in terms of the consultation.
#[derive(Clone, Debug)]
pub(crate) struct ModelRequest {
    pub(crate) vendor: Vendor,
    pub(crate) model: String,
    /// `independent`, `synthesis`, `revision`, `cross_exam`, `comparison`, `verdict` or
    /// `persona_selection`, recognised by the requested schema.
    pub(crate) answer: &'static str,
    pub(crate) system: String,
    pub(crate) user: String,
    pub(crate) schema: Value,
    pub(crate) recorded: RecordedRequest,
}

impl ModelRequest {
    fn from_recorded(request: RecordedRequest) -> Self {
        let (schema, system, user) = match request.vendor.expect("a path of a vendor") {
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
            Vendor::ChatGpt => ("/text/format/schema", "/instructions", "/input/0/content"),
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
        let field = |pointer: &str| {
            request
                .body
                .pointer(pointer)
                .unwrap_or_else(|| panic!("no `{pointer}` in {}", request.body))
        };
        let text = |pointer: &str| field(pointer).as_str().unwrap().to_owned();
        let schema = field(schema).clone();
        let has = |field: &str| schema["properties"].get(field).is_some();
        let answer = match () {
            () if has("consensus_points") => "synthesis",
            () if has("revised_position") => "revision",
            () if has("unresolved") => "cross_exam",
            () if has("recommendation") => "verdict",
            () if has("personas") => "persona_selection",
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
            recorded: request,
        }
    }

    /// Returns the prompt of the persona that this vendor's model plays on the default panel.
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

    /// Returns whether an expert is asked, not the judge.
    pub(crate) fn is_from_expert(&self) -> bool {
        ["independent", "revision"].contains(&self.answer)
    }

    /// Returns the system and user prompts as one text.
    pub(crate) fn prompt(&self) -> String {
        format!("{}\n\n{}", self.system, self.user)
    }
}

/// Returns all requests so far, in the order of arrival.
pub(crate) fn model_requests(server: &ProviderServer) -> Vec<ModelRequest> {
    let requests = server.requests().into_iter();
    requests.map(ModelRequest::from_recorded).collect()
}

/// Counts the requests for each kind of answer, in the order of the rounds.
pub(crate) fn request_counts(server: &ProviderServer) -> Vec<(&'static str, usize)> {
    let requests = model_requests(server);
    let count = |answer| {
        let same = requests.iter().filter(|request| request.answer == answer);
        (answer, same.count())
    };
    let answers = [
        "independent",
        "synthesis",
        "revision",
        "cross_exam",
        "verdict",
    ];
    answers.map(count).to_vec()
}
