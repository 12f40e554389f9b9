//! The consultation of the pictures: a real question of engineering, and invented answers to it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

pub(super) const QUESTION: &str = "Should we move our job queue from Redis to Postgres?";

const SECURITY: &str = "Move it: a job and the rows it acts on then share one transaction, one \
                        backup and one set of access rights.";
const ARCHITECTURE: &str = "Move it, taking jobs with SELECT FOR UPDATE SKIP LOCKED, as long as \
                            throughput stays below about 2,000 jobs a second.";
const PRAGMATIC: &str = "Stay on Redis: last month's lost jobs came from a missing persistence \
                         setting, which takes an hour to fix.";
const PRAGMATIC_NOW: &str = "Fix persistence today, then move one queue at a time, beginning with \
                             billing, and stop where the gain stops.";

/// Marks of the experts, with words that follow their labels where their first positions are given.
const POSITIONS: [(&str, &str); 3] = [
    ("@security", "Move it: a job and the rows"),
    ("@architecture", "Move it, taking jobs"),
    ("@pragmatic", "Stay on Redis: last month"),
];

/// The same where the summary of Round 2 gives their views.
const VIEWS: [(&str, &str); 3] = [
    ("@security", "Only one store makes"),
    ("@architecture", "The database carries"),
    ("@pragmatic", "An hour's fix removes"),
];

/// The same where their positions of Round 3 are given.
const REVISIONS: [(&str, &str); 3] = [
    POSITIONS[0],
    POSITIONS[1],
    ("@pragmatic", "Fix persistence today, then move"),
];

/// Scripts the answers of the panel and its judge.
pub(super) fn answer(server: &ProviderServer) {
    let security = independent(
        SECURITY,
        [
            "A job is enqueued in the transaction that causes it, so none is lost or doubled.",
            "Personal data in payloads is covered by the rights and backups that exist already.",
        ],
        "Two stores cannot be restored to the same moment. The strongest objection is load on the \
         main database; a partitioned table keeps it low.",
        0.78,
    );
    let architecture = independent(
        ARCHITECTURE,
        [
            "SKIP LOCKED lets workers take jobs without waiting for one another.",
            "A table partitioned by day avoids bloat from deleted rows.",
        ],
        "At today's 150 jobs a second the database has room to spare. Above a few thousand, a \
         dedicated broker would be the better answer.",
        0.74,
    );
    let pragmatic = independent(
        PRAGMATIC,
        [
            "The cause of the outage is known and cheap to remove.",
            "Two weeks of migration bring nothing that a user sees.",
        ],
        "What works should be changed for a reason. Jobs that must not be lost together with their \
         transaction would be one.",
        0.61,
    );
    let persuaded = json!([{
        "agent": "@security",
        "argument": "persistence does not help when the job is lost between two stores",
    }]);
    let held = json!([]);
    for (vendor, independent, revision, seconds) in [
        (
            Vendor::Anthropic,
            security,
            revision(SECURITY, 0.82, &held),
            5.1,
        ),
        (
            Vendor::OpenAi,
            architecture,
            revision(ARCHITECTURE, 0.79, &held),
            6.2,
        ),
        (
            Vendor::Google,
            pragmatic,
            revision(PRAGMATIC_NOW, 0.74, &persuaded),
            4.1,
        ),
    ] {
        let wait = Duration::from_secs_f64(seconds);
        server.on(
            On::asking_for("position").and_vendor(vendor),
            written(&independent, &[], (2_150, 310), wait),
        );
        server.on(
            On::asking_for("revised_position").and_vendor(vendor),
            written(&revision, &VIEWS, (3_900, 420), wait),
        );
    }
    for (field, answer, marks) in [
        ("consensus_points", synthesis(), POSITIONS),
        ("unresolved", cross_exam(), REVISIONS),
        ("comparisons", comparison(), POSITIONS),
        ("summary", verdict(), POSITIONS),
    ] {
        let wait = Duration::from_secs_f64(4.1);
        server.on(
            On::asking_for(field),
            written(&answer, &marks, (5_400, 520), wait),
        );
    }
}

fn written(
    answer: &Value,
    marks: &[(&'static str, &'static str)],
    (input, output): (u64, u64),
    wait: Duration,
) -> Answer {
    Answer::text(answer.to_string())
        .labelled(marks)
        .usage(input, output)
        .delay(wait)
}

fn independent(position: &str, key_points: [&str; 2], rationale: &str, confidence: f64) -> Value {
    json!({
        "position": position,
        "key_points": key_points,
        "rationale": rationale,
        "confidence": confidence,
    })
}

fn synthesis() -> Value {
    json!({
        "consensus_points": [
            {
                "point": "Losing jobs when Redis restarts is not acceptable any longer.",
                "supporting_agents": ["@security", "@architecture", "@pragmatic"],
                "confidence": 0.9,
            },
        ],
        "tensions": [
            {
                "topic": "Migrate now, or fix persistence and stay",
                "severity": "medium",
                "viewpoints": [
                    {"agent": "@security", "viewpoint": "Only one store makes jobs as safe as the data."},
                    {"agent": "@architecture", "viewpoint": "The database carries this load easily."},
                    {"agent": "@pragmatic", "viewpoint": "An hour's fix removes the cause of the outage."},
                ],
            },
        ],
        "priority_order": ["No lost jobs", "Load on the database", "Effort"],
        "provisional_answer": {
            "answer": "Yes, if jobs must not be lost: move them to Postgres, billing first.",
            "confidence": 0.66,
            "would_change_it": "A load far above 300 jobs a second",
        },
    })
}

fn revision(position: &str, confidence: f64, because_of: &Value) -> Value {
    let is_changed = because_of != &json!([]);
    json!({
        "challenges": [],
        "rebuttals": [],
        "changed": is_changed,
        "because_of": because_of,
        "revised_position": position,
        "revised_confidence": confidence,
    })
}

fn cross_exam() -> Value {
    json!({
        "challenges": [{
            "challenger": "@security",
            "target_agent": "@pragmatic",
            "challenge": "Persistence does not help when a job is lost between two stores.",
            "evidence": ["Three of last month's lost jobs were never enqueued."],
            "severity": "high",
        }],
        "rebuttals": [],
        "unresolved": ["Whether reports need the new queue at all."],
        "provisional_answer": {
            "answer": "Yes, one queue at a time, beginning with billing.",
            "confidence": 0.78,
            "would_change_it": "Reports that never need what Postgres adds",
        },
    })
}

/// Only positions that differ are compared.
fn comparison() -> Value {
    json!({
        "comparisons": [{
            "pair": "@pragmatic",
            "reasoning": "Instead of staying, it moves one queue at a time.",
            "magnitude": "significant_change",
        }],
        "key_insights": ["Persistence does not close the gap between two stores."],
    })
}

fn verdict() -> Value {
    json!({
        "summary": "All three want no job lost. The pragmatic expert came over once it was clear \
                    that a setting cannot close the gap between two stores.",
        "evidence": [{
            "claim": "One store makes enqueueing part of the transaction",
            "agent": "@security",
            "quote": "a job and the rows it acts on then share one transaction",
        }],
        "dissent": [{
            "agent": "@pragmatic",
            "concern": "Reports may never repay the move: leave them on Redis until they do.",
            "severity": "low",
        }],
        "recommendation": "Yes, one queue at a time, beginning with billing. Take jobs with SELECT \
                           FOR UPDATE SKIP LOCKED, partition the table by day, and switch on Redis \
                           persistence today: it protects you during the move. Reconsider above \
                           2,000 jobs a second.",
        "confidence": 0.81,
    })
}
