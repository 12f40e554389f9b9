//! The file of a sign-in: the registration, whose account it is, and its tokens. One file for its
//! owner alone; a lock beside it, because a file that is replaced cannot be one.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, Serializer};

use crate::domain::time::Timestamp;
use crate::files::write::{Durability, create_private_dir, folder_of, write_json};
use crate::files::{self, LinkPolicy, SizeLimit};

use super::{PLAN_SCOPE, SignInError, random};

const VERSION: &str = "1.0";

/// What is stored.
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
        let bits = u128::from_be_bytes(random()?);
        let part = |shift: u32, mask: u128| bits >> shift & mask;
        let (first, second, third) = (part(96, 0xffff_ffff), part(80, 0xffff), part(64, 0xfff));
        let (fourth, node) = (part(48, 0xfff), part(0, 0xffff_ffff_ffff));
        Ok(Self {
            schema_version: VERSION.to_owned(),
            issuer: issuer.to_owned(),
            host_id: format!(
                "urn:uuid:{first:08x}-{second:04x}-4{third:03x}-a{fourth:03x}-{node:012x}"
            ),
            ..Self::default()
        })
    }

    /// `None` if there is no file. The parser's error would quote a token.
    fn read_any(file: &Path) -> io::Result<Option<Self>> {
        let text = match files::read_own(file, SizeLimit::SMALL) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let stored = serde_json::from_slice::<Self>(&text).ok();
        let stored = stored.filter(|stored| stored.schema_version == VERSION);
        let unreadable = || io::Error::other("it cannot be read");
        stored.map(Some).ok_or_else(unreadable)
    }

    /// `None` if there is no file, or only one of another service.
    pub fn read(file: &Path, issuer: &str) -> io::Result<Option<Self>> {
        Ok(Self::read_any(file)?.filter(|stored| stored.issuer == issuer))
    }

    pub fn write(&self, file: &Path) -> io::Result<()> {
        create_private_dir(folder_of(file)).map_err(io::Error::other)?;
        write_json(file, self, Durability::Synced).map_err(io::Error::other)
    }

    /// Returns whether the person lets this program use the plan.
    pub fn has_plan(&self) -> bool {
        let mut scopes = self.scope.iter().flat_map(|scope| scope.split_whitespace());
        scopes.any(|scope| scope == PLAN_SCOPE)
    }
}

/// Returns what must be in no text that goes out; nothing if the file cannot be read.
pub fn secrets(file: &Path) -> Vec<SecretString> {
    let stored = StoredSignIn::read_any(file).ok().flatten();
    let tokens = stored.and_then(|stored| stored.tokens);
    tokens.map_or_else(Vec::new, |tokens| vec![tokens.access, tokens.refresh])
}

/// Time before the end of a token from which it is renewed.
const MARGIN: Duration = Duration::from_secs(5 * 60);

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

/// Keeps other processes from using the refresh token; dropping the lock lets them. Blocks until
/// the others have, each for a request.
pub fn lock(file: &Path) -> io::Result<File> {
    create_private_dir(folder_of(file)).map_err(io::Error::other)?;
    let mut options = File::options();
    options.write(true).create(true).mode(0o600);
    let path = file.with_extension("lock");
    let lock = files::open_with(&mut options, &path, SizeLimit::NONE, LinkPolicy::Refuse)?;
    lock.lock().map(|()| lock)
}
