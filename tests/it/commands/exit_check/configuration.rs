//! Configuration files: where they are found, what they set, and their errors.

use super::{Project, WORKING};

fn threshold(project: &Project, flags: &[&str], name: &str) -> serde_json::Value {
    project.decision(WORKING, flags)["thresholds"][name].clone()
}

#[test]
fn every_place_and_format_is_read_and_a_flag_comes_first() {
    for (file, text) in [
        (".conclave/config.toml", "[exit_decision]\nmax_turns = 7\n"),
        (
            ".bb3/config.yaml",
            "agents: [a, b]\nexit_decision:\n  max_turns: 7\n",
        ),
    ] {
        let project = Project::new();
        project.write(file, text);
        assert_eq!(threshold(&project, &[], "max_turns"), 7, "{file}");
        let flags = ["--max-turns", "8"];
        assert_eq!(threshold(&project, &flags, "max_turns"), 8, "{file}");
    }
}

#[test]
fn file_of_the_state_folder_comes_before_that_of_blackbox3() {
    let project = Project::new();
    project.write(".conclave/config.toml", "[exit_decision]\nmax_turns = 7\n");
    project.write(".bb3/config.yaml", "exit_decision:\n  max_turns: 8\n");
    assert_eq!(threshold(&project, &[], "max_turns"), 7);
    project.write("other/config.toml", "[exit_decision]\nmax_turns = 9\n");
    assert_eq!(threshold(&project, &["--state", "other"], "max_turns"), 9);
}

#[test]
fn mistakes_name_file_line_and_remedy() {
    for (text, message) in [
        (
            "[exit_decision]\nmin_confidense = 80\n",
            "error: `.conclave/config.toml`, line 2: unknown key `min_confidense`; did you mean \
             `min_confidence`?\n",
        ),
        (
            "[exit_decision]\n\nmin_completion = 0\n",
            "hint: change `min_completion` in `.conclave/config.toml`, line 3\n",
        ),
        (
            "[circuit]\ncooldown_minutes = 0\n",
            "error: `cooldown_minutes` in `.conclave/config.toml`, line 2, is 0, but must be \
             between 1 and 10080\n",
        ),
    ] {
        let project = Project::new();
        project.write(".conclave/config.toml", text);
        let output = project.check(WORKING, &[]).ends_with(2);
        output.assert_stderr_contains(message);
        assert!(project.events().is_empty());
    }
}

#[test]
fn circuit_does_not_open_before_a_longer_stagnation() {
    let project = Project::new();
    project.plan(1, 1);
    let flags = ["--stagnation-turns", "5"];
    for _ in 0..5 {
        assert_eq!(project.decided(WORKING, &flags), "continue");
    }
    assert_eq!(project.decided(WORKING, &flags), "stalled by stagnation");
}
