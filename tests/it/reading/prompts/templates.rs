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

#[test]
fn unusable_template_is_rejected_at_once() {
    let front = "---\nversion: v2\n---\n";
    for (name, text, why) in [
        (
            "converge/nothing",
            "x",
            "there is no prompt template `converge/nothing`",
        ),
        (
            "question",
            "{{ question }}",
            "prompt template `question` lacks a `version` in its front matter",
        ),
        (
            "question",
            "---\nversion: v2\n---\nNo question.",
            "prompt template `question` lacks the question: `{{ question }}`",
        ),
        (
            "converge/verdict",
            "---\nversion: v2\n---\nx",
            "prompt template `converge/verdict` lacks the line `=== task ===`",
        ),
        (
            "converge/verdict",
            &format!("{front}x\n=== task ===\n{{{{ exprets }}}}"),
            "prompt template `converge/verdict` uses `exprets`, which this template does not get",
        ),
        (
            "converge/small/verdict",
            &format!("{front}x\n=== task ===\n{{% if %}}"),
            "prompt template `converge/small/verdict: task` cannot be filled: line 1",
        ),
        (
            "explore/verdict",
            &format!("{front}x\n=== task ===\n{{{{ options }}}}"),
            "prompt template `explore/verdict` uses `options`, which this template does not get",
        ),
        (
            "small/follow_up",
            &format!("{front}{{% include \"question\" %}}"),
            "prompt template `small/follow_up` lacks the earlier consultation: `{{ prior.text }}`",
        ),
        (
            "follow_up",
            &format!("{front}{{{{ prior.text }}}}"),
            "prompt template `follow_up` lacks the question: `{{ question }}`",
        ),
        (
            "repair",
            &format!("{front}{{{{ claims }}}}"),
            "prompt template `repair` uses `claims`, which this template does not get",
        ),
        (
            "question",
            &format!("{front}{{% include 'follow_up' %}}"),
            "prompt template `question` lacks the question: `{{ question }}`",
        ),
        (
            "context",
            &format!("{front}No line."),
            "prompt template `context` lacks the line `=== context ===`",
        ),
        (
            "context",
            &format!("{front}{{{{ contxt }}}}\n=== context ===\n{{{{ context.text }}}}"),
            "prompt template `context` uses `contxt`, which this template does not get",
        ),
        (
            "context",
            &format!("{front}x\n=== context ===\n{{{{ context.txt }}}}"),
            "prompt template `context` uses `context.txt`, which this template does not get",
        ),
        (
            "personas/mine",
            "---\nversion: v1\nid: mine\n---\nx",
            "prompt template `personas/mine` lacks a `name` in its front matter",
        ),
    ] {
        let mut templates = Templates::builtin();
        let error = templates.override_with(name, text).unwrap_err().to_string();
        assert_eq!(error, why);
        assert_eq!(templates, Templates::builtin());
    }
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
