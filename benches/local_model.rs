//! Measures the embedded model: `cargo bench --features local --bench local_model -- FOLDER
//! [TRIES]`.
//!
//! For each model of the manifest whose file is in FOLDER: a run of all five kinds of answer with
//! three experts, its times, memory, what was shared; then TRIES answers of each kind,
//! validated against the schema that the pipeline reads.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, reads the clock and may fail"
)]

use std::fs;
use std::time::Instant;

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::{Ask, Prompt, Reply, StopReason};
use conclave::domain::ids::{CallId, ModelRef};
use conclave::engine::ports::Provider;
use conclave::providers::local::files::home::ModelHome;
use conclave::providers::local::files::manifest::{GgufModel, MODELS};
use conclave::providers::local::job::LocalSettings;
use conclave::providers::local::provider::LocalProvider;
use futures_util::future::join_all;

const PERSONAS: [&str; 3] = [
    "You are a security engineer. You judge by attack surface, revocation and token theft.",
    "You are the pragmatic founder of a four-person company. You judge by time to ship, cost and maintenance.",
    "You are a sceptical senior reviewer. You challenge the premise and look for what others miss.",
];
const QUESTION: &str = "Question: Should our web application keep sessions on the server or use signed tokens (JWT)?\n\nContext: a SaaS product with 4,000 users, \
two web servers behind a load balancer, one Postgres database, a mobile application that is planned for next year, and a customer who asks for \
immediate log-out of stolen devices. Sessions are kept in memory today, and users are logged out at each deployment. The team has four people; \
one of them has run Redis before. Traffic is 30 requests a second at its peak. A log-in service of a third party is possible but not wanted.";
const MATERIAL: &str = "Expert A: Keep sessions on the server, in Postgres. A stolen device can be logged out at once, and two servers share one table.\n\
Expert B: Use short-lived signed tokens with a refresh token in the database. The mobile application needs them anyway.\n\
Expert C: The question is premature: fix log-out at deployment first, by moving today's sessions into Postgres, and measure.";

fn ask(call: u32, model: &GgufModel, kind: AnswerKind, persona: &str) -> Ask {
    let (protocol, task) = match kind {
        AnswerKind::Independent => (
            "You sit on a panel of experts. Give your own answer, before hearing the others. Answer in JSON: position (take a side), key_points (2 to 4 reasons), rationale, confidence.",
            "Give your own answer to the question.".to_owned(),
        ),
        AnswerKind::Synthesis => (
            "You chair a panel of experts. Say what they agree on and where they differ, naming them by their labels. Answer in JSON.",
            format!(
                "These are their answers:\n\n{MATERIAL}\n\nSay what they agree on and where they differ."
            ),
        ),
        AnswerKind::Revision => (
            "You sit on a panel of experts. Challenge what is weak in the other answers and say what you now hold. Answer in JSON.",
            format!(
                "These are the answers:\n\n{MATERIAL}\n\nYou are Expert A. Challenge the others and give your revised position."
            ),
        ),
        AnswerKind::CrossExam => (
            "You chair a panel of experts. Merge their challenges and rebuttals, naming them by their labels. Answer in JSON.",
            format!(
                "These are their answers:\n\n{MATERIAL}\n\nMerge the challenges, the rebuttals and what remains open."
            ),
        ),
        AnswerKind::Menu => (
            "You chair a panel of experts. Lay out the options. Answer in JSON: summary, recommendations with pros and cons, evidence, dissent, recommendation.",
            format!("These are their answers:\n\n{MATERIAL}\n\nGive the menu of options."),
        ),
        AnswerKind::PersonaSelection => (
            "You put a panel together. Answer in JSON: task_type, reason, personas.",
            "Choose three of: security, performance, architecture, skeptic, pragmatic.".to_owned(),
        ),
        AnswerKind::Comparison | AnswerKind::Consistency => (
            "You compare pairs of texts. Answer in JSON: comparisons with pair, reasoning and magnitude; key_insights.",
            format!("These are their answers:\n\n{MATERIAL}\n\nCompare Expert A with Expert B."),
        ),
        AnswerKind::Verdict => (
            "You chair a panel of experts. Decide. Answer in JSON: summary, evidence with the experts' own words, dissent, recommendation, confidence.",
            format!("These are their answers:\n\n{MATERIAL}\n\nGive your verdict."),
        ),
    };
    let prompt = Prompt {
        persona: persona.to_owned(),
        protocol: protocol.to_owned(),
        shared: QUESTION.to_owned(),
        task,
        ..Prompt::default()
    };
    Ask {
        call: CallId(call),
        model: ModelRef::new("local", model.name),
        prompt,
        answer: kind,
        form: AnswerForm::Plain,
        max_output_tokens: 2_048,
        cache_key: None,
    }
}

/// Peak memory since the last [`forget_peak`], as Linux knows it.
fn peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .map_or_else(|| "unknown".to_owned(), |peak| peak.trim().to_owned())
}

fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

async fn answers(provider: &LocalProvider, asks: &[Ask]) -> Vec<Reply> {
    let replies = join_all(
        asks.iter()
            .map(|ask| async { provider.ask(ask, &mut |_| ()).await.unwrap() }),
    )
    .await;
    let prompt: u64 = replies.iter().map(|reply| reply.usage.prompt()).sum();
    let reused: u64 = replies.iter().map(|reply| reply.usage.cache_read).sum();
    let written: u64 = replies.iter().map(|reply| reply.usage.output).sum();
    println!(
        "  prompt {prompt:5} tokens, {reused:5} of them reused; {written:4} written; stops: {:?}",
        replies.iter().map(|reply| &reply.stop).collect::<Vec<_>>()
    );
    replies
}

/// Three experts, the judge, the experts again, the judge twice.
async fn consultation(provider: &LocalProvider, model: &GgufModel) {
    let started = Instant::now();
    for (call, kind) in (0_u32..).zip(AnswerKind::ALL) {
        let experts = matches!(kind, AnswerKind::Independent | AnswerKind::Revision);
        let personas: &[&str] = if experts { &PERSONAS } else { &[""] };
        let asks: Vec<Ask> = (0_u32..)
            .zip(personas)
            .map(|(seat, persona)| ask(call * 10 + seat, model, kind, persona))
            .collect();
        let began = Instant::now();
        let replies = answers(provider, &asks).await;
        println!(
            "  {:11} × {}  {:5.1} s",
            kind.name(),
            asks.len(),
            began.elapsed().as_secs_f64()
        );
        for reply in replies {
            println!("    {}", reply.text);
        }
    }
    println!(
        "  all nine answers: {:.1} s",
        started.elapsed().as_secs_f64()
    );
}

/// How many of `tries` answers of each kind are whole and valid by the original schema.
async fn valid(provider: &LocalProvider, model: &GgufModel, tries: u32) {
    for kind in AnswerKind::ALL {
        let schema = jsonschema::validator_for(&kind.schema(AnswerForm::Plain)).unwrap();
        let (mut good, mut slowest, began) = (0, 0, Instant::now());
        let asks: Vec<Ask> = (0..tries)
            .zip(PERSONAS.iter().cycle())
            .map(|(call, persona)| ask(1000 + call, model, kind, persona))
            .collect();
        for reply in join_all(
            asks.iter()
                .map(|ask| async { provider.ask(ask, &mut |_| ()).await.unwrap() }),
        )
        .await
        {
            let whole = reply.stop == StopReason::End
                && serde_json::from_str(&reply.text).is_ok_and(|answer| schema.is_valid(&answer));
            good += u32::from(whole);
            slowest = slowest.max(reply.usage.output);
            if !whole {
                println!("    {:?} {}", reply.stop, reply.text);
            }
        }
        let each = began.elapsed().as_secs_f64() / f64::from(tries.max(1));
        println!(
            "  {:11} valid {good} of {tries}, longest {slowest} tokens, {each:.2} s each (four at a time)",
            kind.name()
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let home = ModelHome::at(
        arguments
            .first()
            .cloned()
            .unwrap_or_else(|| std::env::var("CONCLAVE_TEST_MODELS").unwrap_or_default()),
    );
    let tries = arguments
        .get(1)
        .and_then(|tries| tries.parse().ok())
        .unwrap_or(0);
    let only = arguments.get(2).cloned().unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let mut models: Vec<&GgufModel> = MODELS
        .into_iter()
        .filter(|model| model.name.contains(&only))
        .collect();
    models.sort_by_key(|model| model.bytes);
    for model in models {
        let Some(file) = home.installed(model) else {
            println!("{}: not in the folder", model.name);
            continue;
        };
        forget_peak();
        println!("{}", model.name);
        let mut settings = LocalSettings::new(model.name, file);
        if let Some(parallel) = arguments.get(3).and_then(|number| number.parse().ok()) {
            settings.parallel = parallel;
        }
        settings.threads = arguments.get(4).and_then(|number| number.parse().ok());
        let provider = LocalProvider::new(settings).unwrap();
        runtime.block_on(consultation(&provider, model));
        println!("  peak memory {}", peak());
        if tries > 0 {
            runtime.block_on(valid(&provider, model, tries));
        }
    }
}
