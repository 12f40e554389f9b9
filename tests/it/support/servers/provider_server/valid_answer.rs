//! Valid answers to the requests of a consultation.

use serde_json::{Value, json};

/// Where vendors have the schema of an answer.
const SCHEMAS: [&str; 6] = [
    "/output_config/format/schema",
    "/response_format/json_schema/schema",
    "/response_format/schema",
    "/text/format/schema",
    "/generationConfig/responseJsonSchema",
    "/format",
];

/// Returns a valid answer to any vendor's request: to its schema or, without one, to the fields
/// that its prompt lists.
pub(crate) fn valid_answer(body: &Value, model: &str) -> String {
    let schema = SCHEMAS.iter().find_map(|pointer| body.pointer(pointer));
    let properties = schema.map(|schema| schema["properties"].clone());
    let properties = properties.unwrap_or_default();
    let texts = body.to_string();
    let asks_for = |name: &str| {
        let is_listed = || texts.contains(&format!("\\\"{name}\\\":"));
        properties.get(name).is_some() || (properties.is_null() && is_listed())
    };
    let quote = "Small steps are safe";
    let evidence = json!([{"claim": quote, "agent": "Expert A", "quote": quote}]);
    let concern = "It may take too long";
    let dissent = json!([{"agent": "Expert B", "concern": concern, "severity": "low"}]);
    let challenge = |mut challenge: Value| {
        challenge["challenge"] = json!("Too slow");
        challenge["evidence"] = json!(["deadlines"]);
        challenge["severity"] = json!("medium");
        challenge
    };
    let provisional = |answer: &str, confidence: f64| {
        let would_change_it = "A deadline that Expert B cannot meet";
        json!({"answer": answer, "confidence": confidence, "would_change_it": would_change_it})
    };
    let mut answer = if asks_for("consensus_points") {
        let agents = ["Expert A", "Expert B"];
        json!({
            "consensus_points": [
                {"point": "Start small", "supporting_agents": agents, "confidence": 0.8},
            ],
            "tensions": [
                {
                    "topic": "Speed",
                    "severity": "medium",
                    "viewpoints": [
                        {"agent": "Expert A", "viewpoint": "Go fast"},
                        {"agent": "Expert B", "viewpoint": "Go slow"},
                    ],
                },
            ],
            "priority_order": ["Speed"],
            "provisional_answer": provisional("Start small and go slow.", 0.75),
        })
    } else if asks_for("revised_position") {
        json!({
            "challenges": [challenge(json!({"target_agent": "Expert B"}))],
            "rebuttals": [{"agent": "Expert B", "rebuttal": "Speed matters more"}],
            "changed": false,
            "because_of": [],
            "revised_position": format!("{model} still says: start small"),
            "revised_confidence": 0.75,
        })
    } else if asks_for("unresolved") {
        let agents = json!({"challenger": "Expert A", "target_agent": "Expert B"});
        json!({
            "challenges": [challenge(agents)],
            "rebuttals": [{"agent": "Expert B", "rebuttal": "Care pays"}],
            "unresolved": ["How fast"],
            "provisional_answer": provisional("Start small and grow with care.", 0.78),
        })
    } else if asks_for("comparisons") {
        let of = |pair| {
            let reasoning = "It says so still, with a condition.";
            json!({"pair": pair, "reasoning": reasoning, "magnitude": "minor_refinement"})
        };
        json!({
            "comparisons": [of("Expert A"), of("Expert B"), of("Expert C")],
            "key_insights": ["Speed is what is contested"],
        })
    } else if asks_for("recommendations") {
        let option = |name, confidence| {
            json!({
                "option": name,
                "description": "Do it so.",
                "pros": ["It is safe"],
                "cons": ["It takes time"],
                "best_when": "there is time",
                "confidence": confidence,
            })
        };
        json!({
            "summary": "They agreed on the start and differed on the speed.",
            "recommendations": [option("Start small", 0.8), option("All at once", 0.4)],
            "evidence": evidence,
            "dissent": dissent,
            "recommendation": "Choose by what a mistake would cost.",
        })
    } else if asks_for("recommendation") {
        json!({
            "summary": "They agreed on the start and differed on the speed.",
            "evidence": evidence,
            "dissent": dissent,
            "recommendation": "Start small, then grow.",
            "confidence": 0.8,
        })
    } else if asks_for("personas") {
        json!({
            "task_type": "planning",
            "reason": "Somebody has to doubt it and somebody to run it.",
            "personas": ["skeptic", "devops", "creative"],
        })
    } else {
        json!({
            "position": format!("{model} says: start small"),
            "key_points": ["Small steps are safe", "They can be undone"],
            "rationale": "Small steps are safe, because they can be undone.",
            "confidence": 0.7,
        })
    };
    if let Some(questions) = properties.pointer("/answers/properties") {
        let open = json!({"outcome": "open", "text": "Figures are missing.", "dissent": ""});
        for (label, _) in questions.as_object().unwrap() {
            answer["answers"][label] = open.clone();
        }
        answer["contradicted"] = json!([]);
        answer["new_questions"] = json!([]);
    }
    answer.to_string()
}

/// Returns an answer to any vendor's request that is built from its schema alone.
pub(super) fn answer_from_schema(body: &Value) -> String {
    let schema = SCHEMAS.iter().find_map(|pointer| body.pointer(pointer));
    built("", schema.expect("a schema is sent")).to_string()
}

fn built(name: &str, schema: &Value) -> Value {
    if let Some(first) = schema.pointer("/enum/0") {
        return first.clone();
    }
    match schema["type"].as_str().unwrap() {
        "object" => {
            let properties = schema["properties"].as_object().unwrap().iter();
            properties
                .map(|(name, property)| (name.clone(), built(name, property)))
                .collect()
        }
        "array" => json!([built(name, &schema["items"])]),
        "number" => json!(0.5),
        "boolean" => json!(false),
        _ => json!(format!("Some {name}.")),
    }
}
