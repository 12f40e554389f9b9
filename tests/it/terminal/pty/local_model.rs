//! The question of a first run without keys: whether to download the local model.

use crate::support::binary::Conclave;
use crate::support::pty::{Output, Terminal};

const DEFAULT: &str = "qwen2.5-coder-0.5b-instruct";

fn without_keys() -> Conclave {
    Conclave::new().variable("TERM", "xterm-256color")
}

/// Starts a run on a terminal that is wide enough for the question.
fn consult(conclave: &Conclave) -> Terminal {
    Terminal::start(conclave, 200, Output::Pipe, &["consult", "-n", "Shall we?"])
}

#[cfg(not(feature = "local"))]
#[test]
fn build_without_a_local_model_offers_no_download() {
    let conclave = without_keys();
    let (output, screen) = consult(&conclave).end();
    assert_eq!(output.ends_with(2).stdout, "");
    let screen = screen.text();
    assert!(
        screen.starts_with("error: there is no model to ask: "),
        "{screen}"
    );
    assert!(!screen.contains(DEFAULT), "{screen}");
    assert!(!conclave.home().exists());
}

#[cfg(feature = "local")]
mod built_in {
    use crate::support::provider_server::ProviderServer;
    use crate::support::sample_screens::question_on_both;

    use super::*;

    const QUESTION: &str = "Download it? [Y/n] ";
    const SMALLEST: &str = "smollm2-135m-instruct";

    /// Starts a run whose hub has no file, and where no package index can be asked.
    fn at_the_question(hub: &ProviderServer) -> (Conclave, Terminal) {
        let conclave = without_keys()
            .variable("CONCLAVE_HUB_URL", hub.url())
            .variable("PATH", "/nonexistent");
        let terminal = consult(&conclave);
        terminal.wait_for(QUESTION, 1);
        assert!(hub.free_requests().is_empty(), "nothing before the consent");
        (conclave, terminal)
    }

    #[test]
    fn first_run_without_keys_asks_before_the_download() {
        let hub = ProviderServer::start();
        let (conclave, mut terminal) = at_the_question(&hub);
        terminal.type_in("n");
        let (output, screen) = terminal.end();
        assert_eq!(output.ends_with(3).stdout, "");
        let screen = screen.text();
        assert!(
            screen.contains(&format!(
                "No API key found. Download a small demonstration model (491 MB), or set \
                 ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY for real answers.\n\
                 The model, {DEFAULT}, runs on this machine (licence Apache-2.0).\n\
                 Download it? [Y/n] "
            )),
            "{screen}"
        );
        assert!(
            screen.ends_with(&format!(
                "The local model was not downloaded\n\
                 hint: download it first with `conclave models pull {DEFAULT}`\n"
            )),
            "{screen}"
        );
        assert!(hub.free_requests().is_empty());
        assert!(!conclave.home().exists());
    }

    #[test]
    fn download_question_fits_the_terminal() {
        let shown = question_on_both("No API key", |columns, colours| {
            let hub = ProviderServer::start();
            let conclave = colours
                .apply(Conclave::new())
                .variable("CONCLAVE_HUB_URL", hub.url())
                .variable("PATH", "/nonexistent");
            let arguments = ["consult", "-n", "Shall we?"];
            let terminal = Terminal::start(&conclave, columns, Output::Pipe, &arguments);
            ((hub, conclave), terminal)
        });
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn failed_download_offers_the_smallest_model() {
        let hub = ProviderServer::start();
        let (_conclave, mut terminal) = at_the_question(&hub);
        terminal.type_in("\n");
        terminal.wait_for(
            &format!("Use the smallest model instead, {SMALLEST}, 98 MB, "),
            1,
        );
        let [request] = hub.free_requests().try_into().unwrap();
        assert!(request.path_and_query.contains(DEFAULT), "{request:?}");
        terminal.type_in("n");
        let (output, screen) = terminal.end();
        assert_eq!(output.ends_with(3).stdout, "");
        let hint = format!("hint: download it first with `conclave models pull {SMALLEST}`\n");
        assert!(screen.text().ends_with(&hint), "{}", screen.text());
        assert_eq!(hub.free_requests().len(), 1);
    }
}
