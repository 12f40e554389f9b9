//! `conclave login` and `conclave logout`: the dialogue in which a person lets this program use a
//! ChatGPT plan, and its end.
//!
//! Invariants: nothing that was granted is saved before it is checked; no token is printed.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::commands::{App, block_on, until_interrupted};
use crate::domain::model::vendors::CHATGPT;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::providers::chatgpt::attempt::{Attempt, Callback};
use crate::providers::chatgpt::sign_in::{COMMAND, SignIn, StoredSignIn};
use crate::providers::chatgpt::{SignInError, USAGE_PAGE, loopback};
use crate::setup::provider_access::{self, ProviderAccess};
use crate::setup::settings;
use crate::terminal::browser::open_page;
use crate::terminal::output::printer::Printer;
use crate::terminal::output::style::Tone;
use crate::terminal::prompt::keyboard::Keyboard;
use crate::terminal::prompt::{StdinUse, ask_line, can_ask};

/// A sign-in, or a look at it.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum LoginCommand {
    /// Sign in with ChatGPT in a browser, on this machine or another
    ///
    /// Calls use your ChatGPT plan; you limit how much of it at <https://chatgpt.com/settings/usage>.
    ///
    /// Without a browser here, open the address on another machine, and paste the one that its
    /// browser shows at the end.
    Chatgpt {
        /// Open no browser
        #[arg(long)]
        no_browser: bool,

        /// Wait for the browser at this port of 127.0.0.1, such as one that `ssh -L` forwards
        /// [default: a free one]
        #[arg(long, value_name = "PORT")]
        port: Option<u16>,
    },
    /// Show who is signed in; exits with 1 if no call can be made
    Status,
}

/// Sign out: revoke the tokens and delete them
#[derive(Debug, clap::Args)]
pub(crate) struct LogoutArgs {
    /// The service
    #[arg(value_name = "SERVICE", value_parser = [CHATGPT], default_value = CHATGPT)]
    service: String,

    /// Also forget the account and the registration, to sign in with another account
    #[arg(long)]
    forget: bool,
}

/// Longest wait for the browser.
const LIMIT: Duration = Duration::from_secs(15 * 60);

impl From<SignInError> for Error {
    fn from(error: SignInError) -> Self {
        let first = "first `conclave logout --forget`";
        Self::failed(error).hint(format!(
            "try again; for another account or registration, {first}"
        ))
    }
}

pub(crate) fn run(command: &LoginCommand, app: App<'_>) -> Result<(), Error> {
    let sign_in = sign_in(app)?;
    let LoginCommand::Chatgpt { no_browser, port } = *command else {
        let stored = sign_in.read()?;
        if stored.tokens.is_none() {
            return Err(Error::failed("no one is signed in").hint(format!("run `{COMMAND}`")));
        }
        let account = usable(&stored)?;
        let line = format!("ChatGPT: signed in as {account}; use of the plan: {USAGE_PAGE}\n");
        return app.show(|_, _| line);
    };
    let interrupted = || Error::new(Exit::Interrupted, "interrupted; nothing was saved");
    let dialogue = log_in(no_browser, port.unwrap_or_default(), &sign_in, app);
    until_interrupted(app.printer, interrupted, dialogue)
}

/// A repository's settings have no say.
fn sign_in(app: App<'_>) -> Result<SignIn, Error> {
    settings::check_certificates(app.environment)?;
    let settings = settings::load_own(&app.home()?, app.environment)?;
    let all = provider_access::all(&settings, app.environment);
    let sign_in = all.iter().find_map(ProviderAccess::sign_in);
    let error = "the settings give `chatgpt` an address or a key that needs no sign-in";
    sign_in.cloned().ok_or_else(|| Error::usage(error))
}

async fn log_in(no_browser: bool, port: u16, sign_in: &SignIn, app: App<'_>) -> Result<(), Error> {
    let lock = sign_in.lock()?;
    let mut stored = sign_in.read()?;
    if stored.host_id.is_empty() {
        // The name of this installation outlives an attempt.
        stored = StoredSignIn::new(&sign_in.issuer)?;
        sign_in.write(&stored)?;
    }
    drop(lock);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(|error| {
        Error::caused("cannot wait for the browser", error).hint("name another port with `--port`")
    })?;
    let port = listener.local_addr().map_err(SignInError::from)?;
    let (attempt, address) = Attempt::new(port, &stored)?;
    let words = "Continue with ChatGPT in a browser, here or on another machine:";
    app.printer.prose(words, Tone::Plain);
    app.printer.lines(&format!("\n  {address}\n"));
    // Not over SSH, and not without a screen. The address is shown, should none open.
    let is_set = |name: &&str| app.environment.text(name).is_some();
    let has_screen = cfg!(target_os = "macos") || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(is_set);
    if has_screen && !no_browser && !is_set(&"SSH_CONNECTION") {
        let browser = app.environment.text("BROWSER").unwrap_or_default();
        open_page(Path::new(address.as_str()), browser);
    }
    let callback = answer(listener, &attempt, app.printer).await?;
    let _lock = sign_in.lock()?;
    // Another sign-in may have ended meanwhile, or a sign-out.
    stored = sign_in.read()?;
    if stored.client_id != attempt.registration {
        return Err(SignInError::Ended("another sign-in ended before this one").into());
    }
    let now = Clock::system().now();
    stored.exchange(&attempt, callback, now).await?;
    sign_in.write(&stored)?;
    let account = usable(&stored)?;
    let limit = format!("Its plan pays for calls; limit it at {USAGE_PAGE}");
    app.printer
        .prose(&format!("Signed in as {account}. {limit}"), Tone::Good);
    Ok(())
}

/// Takes what comes first: the browser, or what a person pastes.
async fn answer(
    listener: TcpListener,
    attempt: &Attempt,
    printer: &Printer,
) -> Result<Callback, Error> {
    let prompt = "Or paste the address that the browser shows at the end";
    let error = || "That is not where this sign-in ends.".to_owned();
    let read = |text: &str| attempt.read(text).ok_or_else(error);
    let keyboard = Keyboard::controlling();
    let left = |_| Error::declined("the sign-in was left; nothing was saved");
    tokio::select! {
        callback = loopback::callback(listener, attempt) => Ok(callback?),
        pasted = ask_line(printer, &keyboard, prompt, "", read),
            if can_ask(printer, StdinUse::Free) => Ok(pasted.map_err(left)??),
        () = sleep(LIMIT) => Err(Error::failed("no one signed in within 15 minutes")),
    }
}

/// Returns whose plan pays for calls.
fn usable(stored: &StoredSignIn) -> Result<&str, Error> {
    let account = stored.email.as_deref().unwrap_or("a nameless account");
    let hint = format!("allow it with `{COMMAND}`, or use a key with `openai:`");
    let error = format!("signed in as {account}, but not allowed to use the ChatGPT plan");
    let error = || Error::failed(error).hint(hint);
    stored.has_plan().then_some(account).ok_or_else(error)
}

pub(crate) fn log_out(args: &LogoutArgs, app: App<'_>) -> Result<(), Error> {
    let sign_in = sign_in(app)?;
    let _lock = sign_in.lock()?;
    let mut stored = sign_in.read()?;
    if stored.client_id.is_none() {
        app.printer.note("No one is signed in.");
        return Ok(());
    }
    let is_granted = stored.tokens.is_some();
    let revoked = is_granted.then(|| block_on(stored.revoke()));
    stored.tokens = None;
    if args.forget {
        (stored.client_id, stored.subject, stored.email) = (None, None, None);
    }
    sign_in.write(&stored)?;
    revoked.transpose()?.unwrap_or(Ok(())).map_err(|error| {
        let what = format!("signed out here, but maybe not at OpenAI: {error}");
        Error::failed(what).hint(format!("disconnect conclave at {USAGE_PAGE}"))
    })?;
    app.printer.note("Signed out.");
    Ok(())
}
