//! Templates of the user, and the lookup of personas.

use std::collections::BTreeSet;

use conclave::consultation::prompt::Templates;

use crate::reading::panel::seats;
use crate::reading::rendered::all;
use crate::support::script::{persona_named, personas};

#[test]
fn overridden_template_is_used_and_changes_its_hash() {
    let mut templates = Templates::builtin();
    let before = templates.used().to_vec();
    assert!(
        before
            .iter()
            .all(|used| used.version.starts_with("v1.") && used.sha256.len() == 64),
        "{before:?}"
    );
    let text = "\u{feff}---\r\nversion: v1.0-mine\r\n---\r\nA JSON object.\r\n\
                === task ===\r\nMy own words.\r\n";
    templates
        .override_with("converge/independent", text)
        .unwrap();
    let after = templates.used();
    let changed: Vec<_> = after
        .iter()
        .filter(|used| !before.contains(used))
        .map(|used| (used.name.as_str(), used.version.as_str()))
        .collect();
    assert_eq!(changed, [("converge/independent", "v1.0-mine")]);
    let stored: Templates =
        serde_json::from_str(&serde_json::to_string(&templates).unwrap()).unwrap();
    assert!(
        all(&stored, &seats(), &|_| "Stay.".to_owned())
            .iter()
            .any(|one| one.prompt.task == "My own words.")
    );
}

/// A line for each: the template, its text after the front matter, with `\n` for a line break, and
/// the reason.
const UNUSABLE: &str = r#"
    question | No question. | lacks the question: `{{ question }}`
    question | {% include 'follow_up' %} | lacks the question: `{{ question }}`
    converge/verdict | x | lacks the line `=== task ===`
    converge/verdict | x\n=== task ===\n{{ exprets }} | uses `exprets`
    explore/verdict | x\n=== task ===\n{{ options }} | uses `options`
    small/follow_up | {% include "question" %} | lacks the earlier consultation: `{{ prior.text }}`
    follow_up | {{ prior.text }} | lacks the question: `{{ question }}`
    repair | {{ claims }} | uses `claims`
    context | No line. | lacks the line `=== context ===`
    context | {{ a }}\n=== context ===\n{{ context.text }} | uses `a`
    context | x\n=== context ===\n{{ context.a }} | uses `context.a`
"#;

#[track_caller]
fn assert_rejected(name: &str, text: &str, why: &str) {
    let mut templates = Templates::builtin();
    let error = templates.override_with(name, text).unwrap_err().to_string();
    assert_eq!(error, why);
    assert_eq!(templates, Templates::builtin());
}

#[test]
fn unusable_template_is_rejected_at_once() {
    for row in UNUSABLE.trim().lines() {
        let parts: Vec<&str> = row.split(" | ").map(str::trim).collect();
        let [name, text, why] = parts[..] else {
            panic!("{row}")
        };
        let text = text.replace("\\n", "\n");
        let text = format!("---\nversion: v2\n---\n{text}");
        let unknown = ", which this template does not get";
        let more = if why.starts_with("uses") { unknown } else { "" };
        assert_rejected(
            name,
            &text,
            &format!("prompt template `{name}` {why}{more}"),
        );
    }
    let why = "there is no prompt template `converge/nothing`";
    assert_rejected("converge/nothing", "x", why);
    let why = "prompt template `question` lacks a `version` in its front matter";
    assert_rejected("question", "{{ question }}", why);
    let why = "prompt template `personas/mine` lacks a `name` in its front matter";
    let persona = "---\nversion: v1\nid: mine\n---\nx";
    assert_rejected("personas/mine", persona, why);
    let why = "prompt template `converge/small/verdict: task` cannot be filled: line 1";
    let unclosed = "---\nversion: v2\n---\nx\n=== task ===\n{% if %}";
    assert_rejected("converge/small/verdict", unclosed, why);
}

#[test]
fn personas_are_found_by_id_name_and_alias() {
    let mut templates = Templates::builtin();
    templates
        .override_with(
            "personas/lawyer",
            "---\nversion: v1\nid: lawyer\nname: Lawyer\naliases: legal\n---\nYou are {a} lawyer.",
        )
        .unwrap();
    for (alias, name) in [
        ("security", "Security Expert"),
        ("Security Expert", "Security Expert"),
        ("ARCHITECT", "Architect"),
        ("architecture", "Architect"),
        (" pragmatist ", "Pragmatist"),
        ("legal", "Lawyer"),
    ] {
        assert_eq!(
            persona_named(&templates, alias).map(|persona| persona.name),
            Some(name.to_owned()),
            "{alias}"
        );
    }
    assert_eq!(persona_named(&templates, "unknown"), None);
    let prompt = persona_named(&templates, "lawyer").unwrap().prompt;
    assert_eq!(prompt, "You are {a} lawyer.");
    assert_eq!(personas(&templates).len(), 11);
}

/// One line a version of a template: its name, version and SHA-256. The newest of a name is last.
const VERSIONS: &str = include_str!("versions.txt");

#[test]
fn version_of_a_template_goes_up_with_its_text() {
    let listed: Vec<[&str; 3]> = VERSIONS
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            fields.try_into().expect("a name, a version and a hash")
        })
        .collect();
    for used in Templates::builtin().used() {
        let of_template: Vec<_> = listed
            .iter()
            .filter(|[name, ..]| *name == used.name)
            .collect();
        let newest = of_template
            .last()
            .map(|[_, version, sha256]| (*version, *sha256));
        assert_eq!(
            newest,
            Some((used.version.as_str(), used.sha256.as_str())),
            "raise the version of template {0} and append to versions.txt: {0} {1} {2}",
            used.name,
            used.version,
            used.sha256
        );
        let versions: BTreeSet<_> = of_template.iter().map(|[_, version, _]| version).collect();
        assert_eq!(
            versions.len(),
            of_template.len(),
            "two texts of {} have the same version",
            used.name
        );
    }
}
