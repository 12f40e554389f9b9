//! Tests of whole plans: nothing that goes out holds a secret.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::context::sources::SourceText;
use crate::domain::context::SourceKind;
use crate::setup::context::earlier::EarlierContext;
use crate::setup::context::project::ProjectTerms;
use crate::setup::context::request::Scrubbing;
use crate::setup::request::{ControlRequest, DebateRequest, PanelRequest, Purpose};
use crate::terminal::output::printer::Verbosity;
use crate::terminal::output::stream_traits::{StreamTraits, TerminalEnv};

const KEY: &str = "correct horse battery 1";
const PROMPT: &str = include_str!("../../../prompts/converge/independent.md");

fn source(kind: SourceKind, text: String) -> SourceText {
    SourceText {
        kind,
        name: format!("{kind:?}"),
        text,
    }
}

/// Returns a dry run's plan whose question, sources, persona and prompts are these texts.
fn plan(texts: &[String; 6], scrubbing: Scrubbing) -> PreparedPlan {
    let [question, project, stdin, file, persona, prompt] = texts;
    let home = tempfile::tempdir().unwrap();
    let personas = serde_json::json!({"personas": {"reader": {"prompt": persona}}});
    fs::write(home.path().join("config.json"), personas.to_string()).unwrap();
    fs::create_dir_all(home.path().join("prompts/converge")).unwrap();
    let own_prompt = format!("{PROMPT}\n{prompt}\n");
    fs::write(
        home.path().join("prompts/converge/independent.md"),
        own_prompt,
    )
    .unwrap();
    let environment = Environment::of([
        ("CONCLAVE_HOME", home.path().to_str().unwrap()),
        ("CONCLAVE_LOCAL_SERVERS", "none"),
        ("ANTHROPIC_API_KEY", KEY),
    ]);
    let request = ConsultationRequest {
        question: question.clone(),
        follows_up: None,
        earlier_context: EarlierContext::default(),
        sources: vec![
            source(SourceKind::Project, project.clone()),
            source(SourceKind::Stdin, stdin.clone()),
            source(SourceKind::File, file.clone()),
        ],
        project: ProjectTerms::default(),
        scrubbing,
        panel: PanelRequest {
            personas: Some("reader,security".to_owned()),
            ..PanelRequest::default()
        },
        debate: DebateRequest::default(),
        control: ControlRequest::new(ConsentMode::NonInteractive),
        material: PromptMaterial::default(),
        purpose: Purpose::Preview,
        notices: Vec::new(),
    };
    let traits = StreamTraits::new(false, None, &TerminalEnv::default());
    let (out, err) = (Box::new(std::io::sink()), Box::new(std::io::sink()));
    let printer = Printer::new(out, traits, err, traits, Verbosity::Quiet);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let prepared = prepare(
        request,
        &environment,
        &printer,
        Timestamp(1_795_252_598_000),
    );
    runtime.block_on(prepared).unwrap()
}

/// Returns everything of a plan that is sent or stored.
fn outgoing(plan: &Plan) -> String {
    let context = plan.context.as_ref().unwrap();
    serde_json::to_string(plan).unwrap() + context.text.as_str()
}

#[test]
fn plan_without_scrubbing_holds_everything_and_says_so() {
    let texts = ["question", "project", "stdin", "file", "persona", "prompt"]
        .map(|name| format!("{name} {KEY}"));
    let prepared = plan(&texts, Scrubbing::Off);
    let outgoing = outgoing(&prepared.plan);
    for text in &texts {
        assert!(outgoing.contains(text), "{text}");
    }
    let report = prepared.plan.scrubbing.unwrap();
    assert!(!report.sensitive_data_scrubbed);
    assert_eq!(report.patterns_matched, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn plan_holds_no_secret_wherever_it_was(
        texts in prop::array::uniform6("[a-z]{1,8}( KEY| [a-z]{1,8}|\n){0,6}")
    ) {
        let planted: usize = texts.iter().map(|text| text.matches("KEY").count()).sum();
        let texts = texts.map(|text| text.replace("KEY", KEY));
        let prepared = plan(&texts, Scrubbing::On);
        prop_assert!(!outgoing(&prepared.plan).contains(KEY));
        let report = prepared.plan.scrubbing.unwrap();
        prop_assert!(report.sensitive_data_scrubbed);
        // A persona of the settings is on the panel only; the prompts have it from there.
        prop_assert_eq!(report.patterns_matched, planted as u64);
        prop_assert_eq!(prepared.findings.len(), planted);
    }
}
