//! Tests of whole plans: nothing that goes out holds a secret.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::consultation::plan::ControlRequest;
use crate::consultation::plan::Plan;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::context::sources::SourceText;
use crate::domain::context::SourceKind;
use crate::domain::ids::SeatId;
use crate::engine::ports::silent::SilentFace;
use crate::setup::context::sources::ProjectTerms;
use crate::setup::plan::template::PreparedPlan;
use crate::setup::request::{DebateRequest, PanelRequest, QuestionRequest};

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
fn plan(texts: &[String; 6], unmasked: bool) -> PreparedPlan {
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
    let request = TemplateRequest {
        panel: PanelRequest {
            personas: Some("reader,security".to_owned()),
            ..PanelRequest::default()
        },
        ..request(unmasked)
    };
    let question = QuestionRequest {
        question: question.clone(),
        sources: vec![
            source(SourceKind::Project, project.clone()),
            source(SourceKind::Stdin, stdin.clone()),
            source(SourceKind::File, file.clone()),
        ],
        project: ProjectTerms::default(),
    };
    prepared(&environment, request).plan(question).unwrap()
}

/// Returns the request for a dry run of the usual panel.
fn request(unmasked: bool) -> TemplateRequest {
    TemplateRequest {
        follows_up: None,
        unmasked,
        panel: PanelRequest::default(),
        no_fallbacks: false,
        debate: DebateRequest::default(),
        control: ControlRequest::new(ConsentMode::NonInteractive),
        material: PromptMaterial::default(),
        dry_run: true,
        notices: Vec::new(),
    }
}

fn prepared(environment: &Environment, request: TemplateRequest) -> PlanTemplate {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let planner = Planner::new(environment, &SilentFace, Timestamp(1_795_252_598_000)).unwrap();
    runtime.block_on(planner.template(request)).unwrap()
}

/// Returns the template of a dry run with these models in every seat.
fn template(panel: PanelRequest, no_fallbacks: bool) -> PlanTemplate {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::of([
        ("CONCLAVE_HOME", home.path().to_str().unwrap()),
        ("CONCLAVE_LOCAL_SERVERS", "none"),
        ("ANTHROPIC_API_KEY", "k"),
        ("OPENAI_API_KEY", "k"),
    ]);
    let request = TemplateRequest {
        panel,
        no_fallbacks,
        ..request(false)
    };
    prepared(&environment, request)
}

#[test]
fn plans_of_a_template_differ_in_question_id_and_seed_only() {
    let template = template(PanelRequest::default(), false);
    let plan = |question: &str| {
        let question = QuestionRequest {
            question: question.to_owned(),
            ..QuestionRequest::default()
        };
        template.plan(question).unwrap().plan
    };
    let (first, second) = (plan("first"), plan("second"));
    assert_ne!(first.id, second.id);
    assert_ne!(first.seed, second.seed);
    let same = Plan {
        id: first.id.clone(),
        seed: first.seed,
        question: first.question.clone(),
        ..second
    };
    assert_eq!(same, first);
}

#[test]
fn context_of_one_question_is_in_no_other_plan() {
    let template = template(PanelRequest::default(), false);
    let with_context = QuestionRequest {
        question: "with".to_owned(),
        sources: vec![source(SourceKind::File, "the text".to_owned())],
        ..QuestionRequest::default()
    };
    let first = template.plan(with_context).unwrap().plan;
    assert!(first.context.is_some());
    let second = template.plan(QuestionRequest::default()).unwrap().plan;
    assert_eq!(second.context, None);
    let names = |plan: &Plan| plan.templates.used().len();
    assert_eq!(
        names(&first),
        names(&second) + 1,
        "the prompt of the context"
    );
}

#[test]
fn panel_without_fallbacks_asks_only_the_models_that_are_named() {
    let panel = || PanelRequest {
        panel: Some("pragmatic=claude-opus-5-5".to_owned()),
        judge: Some("claude-opus-5-5".to_owned()),
        ..PanelRequest::default()
    };
    let seat = SeatId::new("pragmatic");
    let usual = template(panel(), false);
    assert!(usual.common.fallbacks.contains_key(&seat));
    let alone = template(panel(), true);
    assert_eq!(alone.common.fallbacks, BTreeMap::new());
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
    let prepared = plan(&texts, true);
    let outgoing = outgoing(&prepared.plan);
    for text in &texts {
        assert!(outgoing.contains(text), "{text}");
    }
    let report = prepared.plan.scrubbing.unwrap();
    assert!(!report.sensitive_data_scrubbed);
    assert_eq!(report.patterns_matched, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn plan_holds_no_secret_wherever_it_was(
        texts in prop::array::uniform6("[a-z]{1,8}( KEY| [a-z]{1,8}|\n){0,6}")
    ) {
        let planted: usize = texts.iter().map(|text| text.matches("KEY").count()).sum();
        let texts = texts.map(|text| text.replace("KEY", KEY));
        let prepared = plan(&texts, false);
        prop_assert!(!outgoing(&prepared.plan).contains(KEY));
        let report = prepared.plan.scrubbing.unwrap();
        prop_assert!(report.sensitive_data_scrubbed);
        // A persona of the settings is on the panel only; the prompts have it from there.
        prop_assert_eq!(report.patterns_matched, planted as u64);
        prop_assert_eq!(prepared.findings.len(), planted);
    }
}
