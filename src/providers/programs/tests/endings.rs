//! How programs end, by themselves and otherwise.

use super::*;

/// More than a pipe holds.
const LONG_INPUT_BYTES: usize = 240 * 1024;

#[tokio::test]
async fn programs_that_end_by_themselves_are_read_to_their_end() {
    let input = "0123456789abcdef\n".repeat(LONG_INPUT_BYTES / 17);
    let bytes = input.len().to_string();
    for (script, end, lines, errors) in [
        (
            "echo a; printf 'b\\r\\nc'; echo e >&2; exit 3",
            Some(3),
            "a|b|c",
            "e\n",
        ),
        ("exit 0", Some(0), "", ""),
        ("echo a; kill -9 $$", None, "a", ""),
        // After its standard output is closed.
        ("echo a; exec >&-; echo e >&2; exit 1", Some(1), "a", "e\n"),
        // Without reading its input.
        ("echo a", Some(0), "a", ""),
        ("exec <&-; echo a", Some(0), "a", ""),
        ("wc -c | tr -d ' '", Some(0), bytes.as_str(), ""),
        // With a process of its group that has its output open.
        ("sleep 1000 & echo a", Some(0), "a", ""),
        // What is no text.
        ("printf '\\377\\n'", Some(0), "\u{fffd}", ""),
    ] {
        let ended = ran(start(script, &input, &[]), LIMITS).await;
        let expected = (ProgramEnd::Exited(end), lines.to_owned(), errors.to_owned());
        assert_eq!((ended.0, ended.1.join("|"), ended.2), expected, "{script}");
    }
    let (end, lines, _) = ran(start("cat", &input, &[]), LIMITS).await;
    assert_eq!(end, ProgramEnd::Exited(Some(0)));
    assert_eq!(lines.join("\n") + "\n", input);
}

#[tokio::test]
async fn output_is_read_up_to_its_limits() {
    let huge_line = "head -c 2000000 /dev/zero | tr '\\0' x; echo; sleep 1000";
    let huge_output = "while :; do echo 0123456789; done";
    let of_bytes = |bytes| ProgramLimits { bytes, ..LIMITS };
    for (script, limits) in [
        (huge_line, LIMITS),
        (huge_output, LIMITS),
        ("printf abcdef", of_bytes(5)),
        ("echo abc; echo abc", of_bytes(7)),
    ] {
        let (end, ..) = ran(start(script, "", &[]), limits).await;
        assert_eq!(end, ProgramEnd::TooMuch, "{script}");
    }
    let (end, lines, _) = ran(start("echo abc; echo abc", "", &[]), of_bytes(8)).await;
    assert_eq!((end, lines.len()), (ProgramEnd::Exited(Some(0)), 2));
}

#[tokio::test]
async fn the_end_of_the_standard_error_begins_with_a_whole_word() {
    let script = "i=0; while [ $i -lt 1000 ]; do echo word-$i; i=$((i + 1)); done >&2";
    let (_, _, errors) = ran(start(script, "", &[]), LIMITS).await;
    assert!(errors.len() <= 4 * 1024);
    assert!(errors.starts_with("word-"), "{errors}");
    assert!(errors.ends_with("\nword-999\n"), "{errors}");
}

#[tokio::test(start_paused = true)]
async fn silent_and_slow_programs_are_ended() {
    let short = Duration::from_secs(30);
    for (start_limit, time, expected) in [
        (Some(short), LIMITS.time, ProgramEnd::Silent(short)),
        (None, short, ProgramEnd::TimedOut(short)),
    ] {
        let mut life = LifeLine::new();
        let limits = ProgramLimits {
            start: start_limit,
            time,
            ..LIMITS
        };
        let (end, lines, _) = ran(start(&life.opened(FOR_EVER), "", &[]), limits).await;
        assert_eq!(end, expected);
        assert_eq!(lines, [""; 0]);
        life.ends().await;
    }
}

#[tokio::test]
async fn a_program_ends_when_no_more_of_it_is_wanted() {
    let mut life = LifeLine::new();
    let script = life.opened("echo a; echo b; sleep 1000");
    let mut lines = 0;
    let mut on_line = |_: &str| {
        lines += 1;
        Flow::Break(())
    };
    let ran = process::run(start(&script, "", &[]), LIMITS, &mut on_line).await;
    assert_eq!(ran.unwrap().0, ProgramEnd::Stopped);
    assert_eq!(lines, 1);
    life.ends().await;
}

/// Drops the future of a script when the script has said `up`.
async fn dropped(life: &mut LifeLine, script: &str) -> PathBuf {
    let start = start(&life.opened(script), "", &[]);
    let folder = start.folder.root.path().to_owned();
    tokio::select! {
        _ = ran(start, LIMITS) => panic!("the program runs for ever"),
        () = life.says("up") => {}
    }
    folder
}

#[tokio::test]
async fn a_dropped_call_interrupts_the_whole_group() {
    let mut life = LifeLine::new();
    // A shell lets its background ignore interrupts.
    if is_interrupt_ignored() {
        return;
    }
    let child = "(trap 'echo child >&9; exit' INT; echo up >&9; while :; do sleep 0.01; done)";
    let script = format!("trap 'exit' INT; {child}");
    dropped(&mut life, &script).await;
    life.says("child").await;
    life.ends().await;
}

#[tokio::test]
async fn programs_that_ignore_signals_are_killed_with_what_they_started() {
    let mut life = LifeLine::new();
    let script = "trap '' INT TERM; sleep 1000 & (sleep 1000 & sleep 1000) & echo up >&9; wait";
    let folder = dropped(&mut life, script).await;
    tokio::time::pause();
    life.ends().await;
    while folder.exists() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn nothing_is_left_when_the_runtime_ends() {
    let mut life = LifeLine::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let script = "trap '' INT TERM; echo up >&9; sleep 1000";
    let folder = runtime.block_on(dropped(&mut life, script));
    runtime.shutdown_background();
    assert!(!folder.exists());
    while life.news().is_some() {
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_missing_program_is_an_error() {
    let mut start = start("", "", &[]);
    start.program = PathBuf::from("/no/such/program");
    let error = process::run(start, LIMITS, &mut |_| Flow::Continue(()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

/// A shell cannot trap a signal that was ignored when it began, as in a background job of a script.
fn is_interrupt_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    ignored.is_some_and(|bits| bits & 2 != 0)
}
