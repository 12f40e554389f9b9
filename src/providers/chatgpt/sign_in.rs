//! The sign-in of this installation, in one file for its owner alone: the registration, whose account
//! it is, and the tokens. Each call gets one that is valid; it is renewed by one process at a time,
//! and the others read what that one has written. The lock is beside the file, because a file that is
//! replaced cannot be one.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, Serializer};

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::cost::plan_use::PlanUse;
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::engine::host;
use crate::files::write::{Durability, create_private_dir, folder_of, write_json};
use crate::files::{self, FileLock, LinkPolicy, SizeLimit};
use crate::providers::errors::wording::TABLES;
use crate::providers::wire::{Account, Scheme};
use crate::text::pattern::Pattern;

use super::{PLAN_SCOPE, SignInError, random};

/// The command that signs in.
pub const COMMAND: &str = "conclave login chatgpt";

const VERSION: &str = "1.0";

/// Time before the end of a token from which it is renewed.
const MARGIN: Duration = Duration::from_secs(5 * 60);

/// What is stored; by default nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StoredSignIn {
    schema_version: String,
    /// The service that knows the registration.
    pub issuer: String,
    /// The name of this installation; no secret.
    pub host_id: String,
    /// The registration, once a person has made one.
    pub client_id: Option<String>,
    /// The account's id with this registration.
    pub subject: Option<String>,
    pub email: Option<String>,
    /// The permissions that were granted.
    pub scope: Option<String>,
    pub tokens: Option<Tokens>,
}

/// The tokens of a sign-in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tokens {
    #[serde(serialize_with = "exposed")]
    pub access: SecretString,
    #[serde(serialize_with = "exposed")]
    pub refresh: SecretString,
    pub expires_at: Timestamp,
    /// A renewal before this moment may end the sign-in.
    pub earliest_refresh_at: Option<Timestamp>,
}

fn exposed<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
}

impl StoredSignIn {
    /// `host_id` is a UUID of version 4.
    pub fn new(issuer: &str) -> Result<Self, SignInError> {
        static PARTS: Pattern = Pattern::new("(.{8})(.{4}).(.{3}).(.{3})(.{12})");
        let digits = format!("{:032x}", u128::from_be_bytes(random()?));
        let id = PARTS.replace_in(&digits, "$1-$2-4$3-a$4-$5");
        Ok(Self {
            schema_version: VERSION.to_owned(),
            issuer: issuer.to_owned(),
            host_id: format!("urn:uuid:{id}"),
            ..Self::default()
        })
    }

    /// The parser's error would quote a token.
    fn read(file: &Path) -> io::Result<Self> {
        let (limit, links) = (SizeLimit::SMALL, LinkPolicy::Refuse);
        let file = match files::open_with(File::options().read(true), file, limit, links) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            file => file?,
        };
        if file.metadata()?.mode() & 0o077 != 0 {
            let error = "others can use it; delete it, and sign in again";
            return Err(io::Error::other(error));
        }
        let text = files::read_to_end(file, limit)?;
        let stored = serde_json::from_slice::<Self>(&text).ok();
        let stored = stored.filter(|stored| stored.schema_version == VERSION);
        stored.ok_or_else(|| io::Error::other("it cannot be read"))
    }

    /// Returns whether the person lets this program use the plan.
    pub fn has_plan(&self) -> bool {
        let mut scopes = self.scope.iter().flat_map(|scope| scope.split_whitespace());
        scopes.any(|scope| scope == PLAN_SCOPE)
    }
}

/// Returns what must be in no text that goes out; nothing if the file cannot be read.
pub fn secrets(file: &Path) -> Vec<SecretString> {
    let tokens = StoredSignIn::read(file).unwrap_or_default().tokens;
    tokens.map_or_else(Vec::new, |tokens| vec![tokens.access, tokens.refresh])
}

impl Tokens {
    /// Returns whether the access token can be sent: it is not the refused one, and lasts for a
    /// while, or may not be renewed yet.
    pub fn serve(&self, now: Timestamp, refused: Option<&SecretString>) -> bool {
        let is = |refused: &SecretString| refused.expose_secret() == self.access.expose_secret();
        let needed = MARGIN * u32::from(self.may_be_renewed(now));
        !refused.is_some_and(is) && now.after(needed) < self.expires_at
    }

    pub fn may_be_renewed(&self, now: Timestamp) -> bool {
        let earliest = self.earliest_refresh_at;
        earliest.is_none_or(|earliest| earliest <= now)
    }
}

/// Held while this process renews a token.
static RENEWAL: Mutex<()> = Mutex::new(());

/// A sign-in and its file.
#[derive(Clone, Debug)]
pub struct SignIn {
    pub issuer: String,
    pub file: PathBuf,
}

impl SignIn {
    /// Keeps other processes from using the refresh token; dropping the lock lets them. Blocks
    /// until the others have, each for a request.
    pub fn lock(&self) -> Result<FileLock, SignInError> {
        create_private_dir(folder_of(&self.file)).map_err(io::Error::other)?;
        Ok(files::lock(&self.file.with_extension("lock"))?)
    }

    /// Returns nothing stored if there is no file, or only one of another service.
    pub fn read(&self) -> Result<StoredSignIn, SignInError> {
        let stored = Some(StoredSignIn::read(&self.file)?);
        let known = stored.filter(|stored| stored.issuer == self.issuer);
        Ok(known.unwrap_or_default())
    }

    /// The caller holds the lock.
    pub fn write(&self, stored: &StoredSignIn) -> Result<(), SignInError> {
        let written = write_json(&self.file, stored, Durability::Synced);
        Ok(written.map_err(io::Error::other)?)
    }

    /// A file that cannot be read is no sign-in.
    pub fn stored(&self) -> StoredSignIn {
        self.read().unwrap_or_default()
    }

    /// Returns whether calls can be made, as far as the file says.
    pub fn is_usable(&self) -> bool {
        let stored = self.stored();
        stored.has_plan() && stored.tokens.is_some()
    }

    /// Returns what is known of a call that the plan pays for.
    pub fn plan_use(&self) -> Box<PlanUse> {
        let (plan, known) = (Some("ChatGPT".to_owned()), PlanUse::default());
        Box::new(PlanUse { plan, ..known })
    }

    /// Returns the account with a token that serves now, and is not the one that was refused.
    pub async fn account(&self, refused: Option<&SecretString>) -> Result<Account, Failure> {
        let (mut stored, now) = (self.stored(), Clock::system().now());
        let is_over = |tokens: &Tokens| !tokens.serve(now, refused);
        if stored.tokens.as_ref().is_some_and(is_over) {
            // On a thread of its own: a token that was renewed must reach the file, also when the
            // call is no longer wanted.
            let (sign_in, refused) = (self.clone(), refused.cloned());
            let renew = move || sign_in.renewed(refused.as_ref());
            let renewed = host::run_aside("sign-in", renew).await.transpose();
            let renewed = renewed.map_err(|error| match error {
                SignInError::Refused(_) => Failure::new(FailureClass::Auth, error.to_string()),
                error => Failure::new(FailureClass::Transport, error.to_string()),
            });
            stored = renewed?.unwrap_or_default();
        }
        let has_plan = stored.has_plan();
        let tokens = stored.tokens.filter(|_| has_plan).ok_or_else(|| {
            let message = format!("not signed in with ChatGPT; run `{COMMAND}`");
            Failure::new(FailureClass::Auth, message)
        })?;
        Ok(Account {
            key: Some(tokens.access),
            origin: format!("the sign-in (`{COMMAND}`)"),
            scheme: Scheme::Bearer,
            is_word: false,
        })
    }

    /// Blocks until another process that renews the token has done so.
    fn renewed(&self, refused: Option<&SecretString>) -> Result<StoredSignIn, SignInError> {
        let _alone = RENEWAL.lock();
        let _lock = self.lock()?;
        let now = Clock::system().now();
        let mut stored = self.read()?;
        let tokens = stored.tokens.clone();
        let Some(tokens) = tokens.filter(|tokens| !tokens.serve(now, refused)) else {
            return Ok(stored);
        };
        if !tokens.may_be_renewed(now) {
            return Err(SignInError::Refused("refused_before_renewal".to_owned()));
        }
        match host::runtime()?.block_on(stored.renew(now)) {
            Ok(()) => {}
            Err(SignInError::Refused(code)) if TABLES.ends_sign_in.has(&code) => {
                stored.tokens = None;
            }
            // It still serves.
            Err(_) if refused.is_none() && now < tokens.expires_at => return Ok(stored),
            Err(error) => return Err(error),
        }
        self.write(&stored)?;
        Ok(stored)
    }
}

impl Drop for SignIn {
    /// Waits for a renewal that is under way.
    fn drop(&mut self) {
        drop(RENEWAL.lock());
    }
}
