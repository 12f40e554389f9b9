//! The examples of the original exit detection, under its own rules, and a loop in its folder.

use super::{Project, WORKING};

const STRICT: [&str; 2] = ["--strict-seed", "-q"];

#[test]
fn high_completion_exits() {
    let project = Project::new();
    project.plan(5, 0);
    project
        .check("All tasks are now complete.\n", &STRICT)
        .ends_with(10);
}

#[test]
fn hedged_words_exit() {
    let project = Project::new();
    let unsure = "I think this might work, but I'm not sure.\n";
    project.check(unsure, &STRICT).ends_with(11);
}

#[test]
fn progress_continues() {
    let project = Project::new();
    project.plan(1, 2);
    let confident = "I am confident this is correct. Task 1 done.\n";
    project.check(confident, &STRICT).ends_with(0);
}

#[test]
fn folder_of_ralph_is_used_with_its_names() {
    let project = Project::new();
    project.write(".ralph/last-response.md", WORKING);
    project.write(".ralph/@fix_plan.md", "- [x] one\n- [ ] two\n");
    let json = project.run(&["exit-check", "--json"]).ends_with(0).json();
    assert_eq!(json["evidence"]["checklist"]["completed"], 1);
    assert!(project.path(".ralph/exit-state.json").exists());
    assert!(
        project
            .path(".ralph/logs/exit-decisions_conclave.log")
            .exists()
    );
    assert!(!project.path(".conclave").exists());
}

/// The loop of the original's documentation, with this program in place of the script.
#[test]
fn loop_of_the_original_ends_with_its_reason() {
    let project = Project::new();
    project.write(".ralph/@fix_plan.md", "- [ ] one\n- [ ] two\n");
    project.write(
        "loop.sh",
        "conclave() { \"$CONCLAVE\" \"$@\"; }\n\
         while true; do\n\
         \x20   sed -i '0,/\\[ \\]/s//[x]/' .ralph/@fix_plan.md\n\
         \x20   echo 'One more task.' > .ralph/last-response.md\n\
         \x20   if ! conclave exit-check \\\n\
         \x20       .ralph/last-response.md \\\n\
         \x20       .ralph/@fix_plan.md > /dev/null; then\n\
         \x20       echo \"Exiting: $(sed -n 's/.*\"decision_reason\": \"\\(.*\\)\".*/\\1/p' \
         .ralph/exit-state.json)\"\n\
         \x20       break\n\
         \x20   fi\n\
         done\n",
    );
    let program = project.command(&[]).get_program().to_owned();
    let output = std::process::Command::new("sh")
        .arg("loop.sh")
        .env_clear()
        .envs(project.conclave.variables())
        .env("CONCLAVE", program)
        .current_dir(project.path(""))
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.starts_with("Exiting: "), "{stdout}");
    assert!(stdout.trim_end().len() > "Exiting: ".len(), "{stdout}");
    let state: serde_json::Value =
        serde_json::from_str(&project.read(".ralph/exit-state.json")).unwrap();
    assert_eq!(state["decision"], "EXIT");
    assert_eq!(state["total_decisions"], 2);
    assert_eq!(state["continue_count"], 1);
    assert_eq!(state["exit_count"], 1);
}
