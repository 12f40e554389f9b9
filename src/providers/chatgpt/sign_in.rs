//! The token of a sign-in, valid for the next call. It is renewed by one process at a time: the
//! others read what that one has written.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use secrecy::SecretString;

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::engine::clock::Clock;
use crate::engine::host;
use crate::providers::wire::{Account, Scheme};

use super::SignInError;
use super::stored::{StoredSignIn, lock};

/// The command that signs in.
pub const COMMAND: &str = "conclave login chatgpt";

/// The sign-in of one process.
#[derive(Debug)]
pub struct SignIn {
    pub issuer: String,
    pub file: PathBuf,
    /// Without a client if no one has signed in.
    stored: Mutex<StoredSignIn>,
    /// Held while a token is renewed.
    renewal: Arc<Mutex<()>>,
}

impl SignIn {
    /// A file that cannot be read is no sign-in.
    pub fn read(issuer: String, file: PathBuf) -> Self {
        let stored = StoredSignIn::read(&file, &issuer).ok().flatten();
        Self {
            issuer,
            file,
            stored: Mutex::new(stored.unwrap_or_default()),
            renewal: Arc::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, StoredSignIn> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn stored(&self) -> StoredSignIn {
        self.state().clone()
    }

    /// Returns whether calls can be made, as far as the file says.
    pub fn is_usable(&self) -> bool {
        let stored = self.stored();
        stored.has_plan() && stored.tokens.is_some()
    }

    /// Returns the account with a token that serves now, and is not the one that was refused.
    pub async fn account(&self, refused: Option<&SecretString>) -> Result<Account, Failure> {
        let mut stored = self.stored();
        let tokens = stored.tokens.as_ref();
        if tokens.is_some_and(|tokens| !tokens.serve(Clock::system().now(), refused)) {
            // On a thread of its own: a token that was renewed must reach the file, also when the
            // call is no longer wanted.
            let (issuer, file) = (self.issuer.clone(), self.file.clone());
            let (renewal, refused) = (Arc::clone(&self.renewal), refused.cloned());
            let renew = move || {
                let _alone = renewal.lock();
                renewed(&issuer, &file, refused.as_ref())
            };
            let renewed = host::run_aside("sign-in", renew).await;
            let renewed = renewed.unwrap_or_else(|| Ok(StoredSignIn::default()));
            stored = renewed.map_err(|error| match error {
                SignInError::Refused(_) => Failure::new(FailureClass::Auth, error.to_string()),
                error => Failure::new(FailureClass::Transport, error.to_string()),
            })?;
            self.state().clone_from(&stored);
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
}

impl Drop for SignIn {
    /// Waits for a renewal that is under way.
    fn drop(&mut self) {
        drop(self.renewal.lock());
    }
}

/// Blocks until another process that renews the token has done so.
fn renewed(
    issuer: &str,
    file: &Path,
    refused: Option<&SecretString>,
) -> Result<StoredSignIn, SignInError> {
    let _lock = lock(file)?;
    let now = Clock::system().now();
    let mut stored = StoredSignIn::read(file, issuer)?.unwrap_or_default();
    let tokens = stored.tokens.clone();
    let Some(tokens) = tokens.filter(|tokens| !tokens.serve(now, refused)) else {
        return Ok(stored);
    };
    if !tokens.may_be_renewed(now) {
        return Err(SignInError::Refused("refused_before_renewal".to_owned()));
    }
    match host::runtime()?.block_on(stored.renew(now)) {
        Ok(()) => {}
        Err(error) if error.ends_session() => stored.tokens = None,
        // It still serves.
        Err(_) if refused.is_none() && now < tokens.expires_at => return Ok(stored),
        Err(error) => return Err(error),
    }
    stored.write(file)?;
    Ok(stored)
}
