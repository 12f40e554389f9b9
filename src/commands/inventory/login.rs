//! `conclave login` and `conclave logout`: the dialogue in which a person lets this program use a
//! ChatGPT plan, and its end.
//!
//! Invariants: nothing that was granted is saved before it is checked; no token is printed.

use std::future::pending;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::sleep;
use url::Url;

use crate::commands::{App, block_on, until_interrupted};
use crate::config::env::Environment;
use crate::domain::model::vendors::CHATGPT;
use crate::engine::clock::Clock;
use crate::error::{Error, Exit};
use crate::providers::chatgpt::attempt::{Attempt, Callback};
use crate::providers::chatgpt::sign_in::{COMMAND, SignIn};
use crate::providers::chatgpt::stored::{StoredSignIn, lock};
use crate::providers::chatgpt::{SignInError, USAGE_PAGE, loopback};
use crate::setup::provider_access::{self, ProviderAccess};
use crate::setup::settings;
use crate::terminal::output::printer::Printer;
use crate::terminal::output::style::Tone;
use crate::terminal::prompt::keyboard::Keyboard;
use crate::terminal::prompt::{StdinUse, ask_line, can_ask};

/// Sign in, so that a ChatGPT plan pays for calls to `chatgpt:`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: LoginCommand,
}

#[derive(Debug, clap::Subcommand)]
enum LoginCommand {
    Chatgpt(ChatgptArgs),
    /// Show who is signed in; exits with 1 if no call can be made
    Status,
}

/// Sign in with ChatGPT in a browser, on this machine or another
///
/// Calls use your ChatGPT plan; you limit how much of it at <https://chatgpt.com/settings/usage>.
///
/// Without a browser here, open the address on another machine, and paste the one that its browser
/// shows at the end.
#[derive(Debug, clap::Args)]
struct ChatgptArgs {
    /// Open no browser
    #[arg(long)]
    no_browser: bool,

    /// Wait for the browser at this port of 127.0.0.1, such as one that `ssh -L` forwards
    /// [default: a free one]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
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
        Self::failed(error).hint(
            "try again; for another account or registration, first `conclave logout --forget`",
        )
    }
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let sign_in = sign_in(app)?;
    let interrupted = || Error::new(Exit::Interrupted, "interrupted; nothing was saved");
    match &args.command {
        LoginCommand::Chatgpt(args) => {
            until_interrupted(app.printer, interrupted, log_in(args, &sign_in, app))
        }
        LoginCommand::Status => status(&sign_in, app),
    }
}

/// A repository's settings have no say.
fn sign_in(app: App<'_>) -> Result<Arc<SignIn>, Error> {
    settings::check_certificates(app.environment)?;
    let settings = settings::load_own(&app.home()?, app.environment)?;
    let all = provider_access::all(&settings, app.environment);
    let sign_in = all.iter().find_map(ProviderAccess::sign_in);
    let error = "the settings give `chatgpt` an address or a key that needs no sign-in";
    sign_in.cloned().ok_or_else(|| Error::usage(error))
}

async fn log_in(args: &ChatgptArgs, sign_in: &SignIn, app: App<'_>) -> Result<(), Error> {
    let SignIn { file, issuer, .. } = sign_in;
    let known = StoredSignIn::read(file, issuer).map_err(SignInError::from)?;
    let is_new = known.is_none();
    let mut stored = known.map_or_else(|| StoredSignIn::new(issuer), Ok)?;
    if is_new {
        // The name of this installation outlives an attempt.
        stored.write(file).map_err(SignInError::from)?;
    }
    let port = (Ipv4Addr::LOCALHOST, args.port.unwrap_or_default());
    let listener = TcpListener::bind(port).await.map_err(|error| {
        Error::caused("cannot wait for the browser", error).hint("name another port with `--port`")
    })?;
    let port = listener.local_addr().map_err(SignInError::from)?;
    let attempt = Attempt::new(port, &stored)?;
    let address = attempt.address(&stored)?;
    let words = "Continue with ChatGPT in a browser, here or on another machine:";
    app.printer.prose(words, Tone::Plain);
    app.printer.lines(&format!("\n  {address}\n"));
    if !args.no_browser {
        open_browser(&address, app.environment);
    }
    let callback = answer(listener, &attempt, app.printer).await?;
    let now = Clock::system().now();
    stored.exchange(&attempt, callback, now).await?;
    let _lock = lock(file).map_err(SignInError::from)?;
    stored.write(file).map_err(SignInError::from)?;
    let account = usable(&stored)?;
    let words =
        format!("Signed in as {account}. Its plan pays for calls; limit it at {USAGE_PAGE}");
    app.printer.prose(&words, Tone::Good);
    Ok(())
}

/// Takes what comes first: the browser, or what a person pastes.
async fn answer(
    listener: TcpListener,
    attempt: &Attempt,
    printer: &Printer,
) -> Result<Callback, Error> {
    let prompt = "Or paste the address that the browser shows at the end";
    let read = |text: &str| {
        let callback = Url::parse(text).ok().and_then(|url| attempt.read(&url));
        callback.ok_or_else(|| "That is not where this sign-in ends.".to_owned())
    };
    let pasted = async {
        if can_ask(printer, StdinUse::Free) {
            ask_line(printer, &Keyboard::controlling(), prompt, "", read).await
        } else {
            pending().await
        }
    };
    tokio::select! {
        callback = loopback::callback(listener, attempt) => Ok(callback?),
        pasted = pasted => match pasted {
            Ok(callback) => Ok(callback?),
            Err(_) => Err(Error::declined("the sign-in was left; nothing was saved")),
        },
        () = sleep(LIMIT) => Err(Error::failed("no one signed in within 15 minutes")),
    }
}

/// Not over SSH, and not without a screen. The address is shown, should none open.
fn open_browser(address: &Url, environment: &Environment) {
    let is_set = |name| environment.text(name).is_some();
    let is_mac = cfg!(target_os = "macos");
    let has_screen = is_mac || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    let mut browser = Command::new(if is_mac { "open" } else { "xdg-open" });
    browser.arg(address.as_str()).stdin(Stdio::null());
    browser.stdout(Stdio::null()).stderr(Stdio::null());
    if has_screen && !is_set("SSH_CONNECTION") {
        let _ = browser.spawn();
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

fn status(sign_in: &SignIn, app: App<'_>) -> Result<(), Error> {
    let stored = sign_in.stored();
    if stored.tokens.is_none() {
        return Err(Error::failed("no one is signed in").hint(format!("run `{COMMAND}`")));
    }
    let account = usable(&stored)?;
    app.show(|_, _| format!("ChatGPT: signed in as {account}; use of the plan: {USAGE_PAGE}\n"))
}

pub(crate) fn log_out(args: &LogoutArgs, app: App<'_>) -> Result<(), Error> {
    let sign_in = sign_in(app)?;
    let SignIn { issuer, file, .. } = &*sign_in;
    let _lock = lock(file).map_err(SignInError::from)?;
    let Some(mut stored) = StoredSignIn::read(file, issuer).map_err(SignInError::from)? else {
        app.printer.note("No one is signed in.");
        return Ok(());
    };
    let revoked = block_on(async {
        if stored.tokens.is_none() {
            return Ok(());
        }
        stored.revoke().await
    });
    stored.tokens = None;
    if args.forget {
        (stored.client_id, stored.subject, stored.email) = (None, None, None);
    }
    stored.write(file).map_err(SignInError::from)?;
    revoked?.map_err(|error| {
        let hint = format!("disconnect conclave at {USAGE_PAGE}");
        let what = format!("signed out here, but maybe not at OpenAI: {error}");
        Error::failed(what).hint(hint)
    })?;
    app.printer.note("Signed out.");
    Ok(())
}
