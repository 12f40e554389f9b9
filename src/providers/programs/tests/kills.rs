//! The end of this process, by a kill at any moment.

use std::path::Path;
use std::process::{Command, Stdio};

use super::*;

const HELPER: &str = "providers::programs::tests::kills::killed_process_runs_a_program";

const SCRIPT: &str = "trap 'echo interrupted >&9' INT TERM; sleep 1000 & echo up; \
    echo up >&9; while :; do wait; done";

/// What the next test starts and kills, in a folder that says what to do.
#[tokio::test]
async fn killed_process_runs_a_program() {
    let here = std::env::current_dir().unwrap();
    if !here.join("life").exists() {
        return;
    }
    let script = format!("exec 9>{}/life; {SCRIPT}", here.display());
    let is_stopped = here.join("stop").exists();
    let flow = if is_stopped {
        Flow::Break(())
    } else {
        Flow::Continue(())
    };
    let mut on_line = |_: &str| flow;
    process::run(start(&script, "", &[]), LIMITS, &mut on_line)
        .await
        .unwrap();
    std::future::pending::<()>().await;
}

fn helper(folder: &Path) -> Command {
    let mut helper = Command::new(std::env::current_exe().unwrap());
    helper.args(["--exact", HELPER]).current_dir(folder);
    helper.stdin(Stdio::null()).stdout(Stdio::null());
    helper
}

#[tokio::test]
async fn a_kill_at_any_moment_leaves_nothing_running() {
    for moment in ["", "looks", "looks", "up", "up", "interrupted"] {
        let mut life = LifeLine::new();
        if moment == "interrupted" {
            std::fs::write(life.folder.path().join("stop"), "").unwrap();
        }
        let mut process = helper(life.folder.path()).spawn().unwrap();
        match moment {
            "" => {}
            "looks" => {
                for _ in 0..fastrand::u32(..200_000) {
                    life.news();
                }
            }
            word => life.says(word).await,
        }
        process.kill().unwrap();
        process.wait().unwrap();
        life.ends().await;
    }
}
