//! The ways to give the question: quoted, in words, without a command, typed, or from standard
//! input.

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};

#[test]
fn question_is_quoted_or_in_words_with_or_without_a_command() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for (arguments, question) in [
        (
            &["consult", "--json", "-n", "Should", "we", "use", "X"][..],
            "Should we use X",
        ),
        (
            &["ask", "Should", "--json", "we", "-n", "use", "X"],
            "Should we use X",
        ),
        (
            &["consult", "Should we", "use X", "--json", "-n"],
            "Should we use X",
        ),
        (&["Shall we?", "--json", "-n"], "Shall we?"),
        (&["--quick", "-n", "--json", "Shall we?"], "Shall we?"),
        (&["Why?", "--json", "-n"], "Why?"),
    ] {
        let answer = conclave.run(arguments).ends_with(0).json();
        assert_eq!(answer["question"], question, "{arguments:?}");
    }
}

#[test]
fn aliases_do_what_their_commands_do() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["ask", "Shall we?"]).ends_with(0);
    for (alias, command) in [
        (&["stats"][..], &["consult-stats"][..]),
        (&["stats", "--json"], &["consult-stats", "--format", "json"]),
        (&["ls"], &["history", "list"]),
        (
            &["history", "ls", "--json"],
            &["history", "--format", "json"],
        ),
        (
            &["ls", "--search", "shall"],
            &["history", "--search", "shall"],
        ),
    ] {
        let [short, long] = [alias, command].map(|words| conclave.run(words).ends_with(0).stdout);
        assert_eq!(short, long, "{alias:?}");
    }
}

#[test]
fn terminal_says_how_a_typed_question_ends() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("TERM", "xterm-256color");
    let arguments = ["consult", "-", "--yes", "--json", "-n"];
    let mut terminal = Terminal::start(&conclave, 50, Output::Pipe, &arguments);
    terminal.wait_for_sight("Type the question, end with Ctrl-D");
    terminal.type_in("Should we\nuse X?\n\x04");
    let (output, transcript) = terminal.end();
    assert_eq!(output.ends_with(0).json()["question"], "Should we\nuse X?");
    let shown = transcript.screen().history();
    let expected = "Type the question, end with Ctrl-D\nShould we\nuse X?\n";
    assert!(shown.starts_with(expected), "{shown}");
}

#[test]
fn terminal_shows_the_beginning_of_a_question_from_a_file() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server)
        .without("NO_COLOR")
        .variable("TERM", "xterm-256color");
    let question = "one\ntwo\nthree\nfour\nfive\n";
    std::fs::write(conclave.folder().join("question.txt"), question).unwrap();
    let binary = conclave.command();
    let script = "exec \"$0\" consult - --yes --json -n < question.txt";
    let arguments = ["-c", script, binary.get_program().to_str().unwrap()];
    let terminal =
        Terminal::start_program(&conclave, 80, Output::Pipe, "/bin/sh".as_ref(), &arguments);
    let (output, transcript) = terminal.end();
    assert_eq!(output.ends_with(0).json()["question"], question.trim());
    let shown = transcript.screen().history();
    assert!(
        shown.starts_with("Question: one\n  two\n  three\n  … 2 lines more\n"),
        "{shown}"
    );
}
