//! The connection of a process to its fleet's server, and the streams and buckets there.
//!
//! A thread with a runtime of its own serves the socket: what waits for the server without a
//! runtime, such as a budget, blocks only itself. What is not acknowledged is not done: a server
//! that went away is waited for, and the caller decides how long.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::header::{HeaderMap, NATS_MESSAGE_ID};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{self, GetErrorKind, ObjectStore};
use async_nats::jetstream::stream::{self, RawMessageErrorKind, RetentionPolicy};
use async_nats::jetstream::{self, kv};
use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use tokio::io::AsyncReadExt;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep};
use url::Url;

use crate::domain::hash::sha256;
use crate::engine::host;

use super::account::Account;
use super::bucket::Bucket;
use super::job::{RunEntry, SeenChange, WorkerEntry};
use super::names::{store, subject};
use super::{FleetError, OrRefused};

/// How long journals, jobs and what is large stay on the server.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);

/// How long a provider's state is worth knowing.
const LIMITS_KEPT: Duration = Duration::from_secs(3_600);

/// Bytes of the largest job or event. A context has 16 MB at most.
const LARGEST: usize = 128 << 20;

/// The first version of the server whose answers this program reads.
const OLDEST: (i64, i64) = (2, 10);

/// Names the object that has the payload of a message.
const OBJECT: &str = "Conclave-Object";

/// How often the server is asked whether it is there.
const PING: Duration = Duration::from_secs(5);

/// Between two attempts to reach a server that went away, or to have something done.
const PAUSE: Duration = Duration::from_millis(250);

/// How to reach a fleet.
#[derive(Clone, Debug)]
pub struct FleetAddress {
    /// Without what is secret.
    servers: Vec<Url>,
    /// Who the process is for the server, and how it knows the server.
    pub options: ConnectOptions,
    /// How long a worker that is silent keeps its jobs.
    pub lease: Duration,
    /// The servers that keep each stream, for those that do not exist yet.
    pub replicas: usize,
}

impl FleetAddress {
    /// Takes `nats://` or `tls://`, several with commas; a user and a password, or a token, may be
    /// in it.
    pub fn new(url: &str) -> Result<Self, FleetError> {
        let (mut servers, mut options) = (Vec::new(), ConnectOptions::new());
        for url in url.split(',') {
            let server = Url::parse(url.trim()).ok();
            let is_server = |url: &Url| matches!(url.scheme(), "nats" | "tls") && url.has_host();
            let mut server = server.filter(is_server).ok_or_else(|| {
                let why = "the address of a fleet is `nats://HOST:PORT` or `tls://HOST:PORT`";
                FleetError::Wrong(why.to_owned())
            })?;
            options = match login(&server) {
                (user, Some(password)) => options.user_and_password(user, password),
                (token, None) if !token.is_empty() => options.token(token),
                (_, None) => options,
            };
            // They fail only without a host.
            let _ = (server.set_username(""), server.set_password(None));
            servers.push(server);
        }
        Ok(Self {
            servers,
            options,
            lease: Duration::from_secs(30),
            replicas: 1,
        })
    }

    /// Returns the address for messages.
    pub fn shown(&self) -> String {
        let shown: Vec<&str> = self.servers.iter().map(Url::as_str).collect();
        shown.join(",")
    }
}

fn login(server: &Url) -> (String, Option<String>) {
    let password = server.password().map(percent_decoded);
    (percent_decoded(server.username()), password)
}

fn percent_decoded(text: &str) -> String {
    // The others that mean something in a form are written with a percent sign by now.
    let text = text.replace('+', "%2B").replace('&', "%26");
    let mut names = url::form_urlencoded::parse(text.as_bytes());
    let name = names.next().map(|(name, _)| name.into_owned());
    name.unwrap_or_default()
}

/// The connection of this process. A clone is another handle to the same; the last one closes it.
#[derive(Clone)]
pub struct Link(Arc<Connected>);

struct Connected {
    address: FleetAddress,
    jetstream: jetstream::Context,
    stores: Stores,
    objects: ObjectStore,
    connection: watch::Receiver<Option<Instant>>,
    say: Say,
    /// What the server refused, each thing once.
    troubles: Mutex<BTreeSet<String>>,
    runtime: Handle,
    /// Dropped with it, which ends the thread.
    _end: oneshot::Sender<()>,
}

/// Prints a line for people, from whichever thread.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// The streams and buckets of a fleet.
#[derive(Debug)]
pub struct Stores {
    pub(super) jobs: stream::Stream,
    pub(super) journal: stream::Stream,
    pub ledger: Bucket<Account>,
    pub limits: Bucket<SeenChange>,
    pub workers: Bucket<WorkerEntry>,
    pub runs: Bucket<RunEntry>,
    /// Beside the entries of runs: the run that is open for what a key stands for.
    pub open: Bucket<String>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.address.fmt(f)
    }
}

impl Link {
    /// Connects, and creates the streams and buckets that do not exist.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, refuses the credentials, or has no `JetStream`.
    pub async fn connect(address: FleetAddress, say: Say) -> Result<Self, FleetError> {
        let (done, connected) = oneshot::channel();
        let what = "be connected: the system refuses a thread";
        let runtime = host::runtime().or_refused(what)?;
        let serve = move || {
            let handle = runtime.handle().clone();
            runtime.block_on(async move {
                let (end, ended) = oneshot::channel();
                // Without a receiver, the connection is dropped here and ends the thread.
                let _ = done.send(Box::pin(open(address, say, handle, end)).await);
                let _ = ended.await;
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("fleet".to_owned());
        thread.spawn(serve).or_refused(what)?;
        let connected = connected.await.or_refused(what)?;
        Ok(Self(Arc::new(connected?)))
    }

    pub fn lease(&self) -> Duration {
        self.0.address.lease
    }

    /// The thread of the connection.
    pub fn runtime(&self) -> Handle {
        self.0.runtime.clone()
    }

    /// Says since when the server can be reached; `None` while it cannot.
    pub fn connection(&self) -> watch::Receiver<Option<Instant>> {
        self.0.connection.clone()
    }

    pub fn say(&self, text: &str) {
        (self.0.say)(text);
    }

    /// Has people learn of what is tried again, once. While the server is away, that says it all.
    pub fn trouble(&self, error: &FleetError) {
        // What its source has for sources, it says itself.
        let source = std::error::Error::source(error);
        let text = source.map_or(error.to_string(), |source| format!("{error}: {source}"));
        let mut said = self
            .0
            .troubles
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.connection().borrow().is_some() && said.insert(text.clone()) {
            self.say(&format!("Warning: {text}; it is tried again"));
        }
    }

    /// The same, until it is time for another attempt.
    pub async fn rest(&self, error: &FleetError) {
        self.trouble(error);
        sleep(PAUSE).await;
    }

    pub fn stores(&self) -> &Stores {
        &self.0.stores
    }

    pub(super) fn jetstream(&self) -> &jetstream::Context {
        &self.0.jetstream
    }

    /// Publishes a payload behind the last message of its subject, which is then its own: under an
    /// id, it may be published again. `None` if another message is the last.
    pub(super) async fn append(
        &self,
        subject: &str,
        payload: String,
        (last, id): (u64, Option<&str>),
    ) -> Result<Option<u64>, FleetError> {
        let what = "store a job or an event";
        let message = self.pack(payload).await?;
        let message = id.into_iter().fold(message, PublishMessage::message_id);
        let message = message.expected_last_subject_sequence(last);
        let sent = self.0.jetstream.send_publish(subject.to_owned(), message);
        match sent.await.or_refused(what)?.await {
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {}
            stored => return stored.map(|stored| Some(stored.sequence)).or_refused(what),
        }
        let Some(id) = id else { return Ok(None) };
        // It may be this very message, whose acknowledgement was lost.
        let journal = &self.stores().journal;
        let stored = journal.get_last_raw_message_by_subject(subject).await;
        let stored = stored.or_refused(what)?;
        let is_own = (stored.headers.get(NATS_MESSAGE_ID)).is_some_and(|it| it.as_str() == id);
        Ok(is_own.then_some(stored.sequence))
    }

    /// Makes a message of a payload, which goes to the object store if it is large.
    pub(super) async fn pack(&self, payload: String) -> Result<PublishMessage, FleetError> {
        let message = PublishMessage::build();
        let most = self.0.jetstream.client().max_payload() / 2;
        if payload.len() <= most {
            return Ok(message.payload(payload.into()));
        }
        let name = sha256(&payload);
        // One that is there has the same content: it is named by it.
        if self.0.objects.info(&name).await.is_err() {
            self.put(&name, payload.as_bytes()).await?;
        }
        Ok(message.header(OBJECT, name.as_str()))
    }

    /// Returns the payload of a message that [`Self::pack`] made.
    pub(super) async fn unpack(
        &self,
        headers: Option<&HeaderMap>,
        payload: &[u8],
    ) -> Result<Vec<u8>, FleetError> {
        let Some(name) = headers.and_then(|headers| headers.get(OBJECT)) else {
            return Ok(payload.to_vec());
        };
        let object = self.get(name.as_str()).await?;
        object.ok_or_else(|| FleetError::unreadable("a large message", &"it is gone"))
    }

    /// Stores an object, in place of one with the same name.
    pub async fn put(&self, name: &str, mut bytes: &[u8]) -> Result<(), FleetError> {
        let stored = self.0.objects.put(name, &mut bytes).await;
        stored.map(drop).or_refused("store what is large")
    }

    /// Returns an object; `None` if there is none.
    pub async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, FleetError> {
        let object = match self.0.objects.get(name).await {
            Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
            object => object.or_refused("read what is large")?,
        };
        let mut bytes = Vec::new();
        let mut object = object.take(LARGEST as u64 + 1);
        let read = object.read_to_end(&mut bytes).await;
        read.or_refused("read what is large")?;
        if bytes.len() > LARGEST {
            let why = "a job or an event is too large for the fleet";
            return Err(FleetError::Wrong(why.to_owned()));
        }
        Ok(Some(bytes))
    }

    /// Returns the message of a subject of the journals that comes after a sequence: its own
    /// sequence, and its payload.
    pub(super) async fn next(
        &self,
        subject: &str,
        after: u64,
    ) -> Result<Option<(u64, Vec<u8>)>, FleetError> {
        let journal = &self.stores().journal;
        // Not of any replica: it may not have yet what another process heard of.
        let next = journal.raw_message_builder().sequence(after + 1);
        let message = match next.next_by_subject(subject).send().await {
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => return Ok(None),
            message => message.or_refused("read a journal")?,
        };
        let payload = self.unpack(Some(&message.headers), &message.payload);
        Ok(Some((message.sequence, payload.await?)))
    }
}

async fn open(
    address: FleetAddress,
    say: Say,
    runtime: Handle,
    end: oneshot::Sender<()>,
) -> Result<Connected, FleetError> {
    let (state, connection) = watch::channel(Some(Instant::now()));
    let client = Box::pin(connect(&address, (state, Arc::clone(&say)))).await;
    let client = client.map_err(|source| FleetError::Server {
        what: format!("cannot connect to the NATS server at {}", address.shown()),
        source,
    })?;
    let (major, minor) = OLDEST;
    if !client.is_server_compatible(major, minor, 0) {
        let why = format!("a fleet needs a NATS server of version {major}.{minor} or later");
        return Err(FleetError::Wrong(why));
    }
    let jetstream = jetstream::new(client);
    let stores = Box::pin(Stores::open(&jetstream, &address, &runtime)).await;
    let (stores, objects) = stores.or_refused("create the streams of the fleet")?;
    Ok(Connected {
        address,
        jetstream,
        stores,
        objects,
        connection,
        say,
        troubles: Mutex::default(),
        runtime,
        _end: end,
    })
}

async fn connect(
    address: &FleetAddress,
    (state, say): (watch::Sender<Option<Instant>>, Say),
) -> Result<Client, async_nats::Error> {
    // Fails if it was done before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = (address.options.clone().name("conclave"))
        // A server that hangs is noticed after twice as long.
        .ping_interval(PING)
        .reconnect_delay_callback(|attempts| PAUSE.saturating_mul((attempts > 1).into()))
        .event_callback(move |event| {
            let now = match event {
                Event::Connected => Some(Instant::now()),
                Event::Disconnected => None,
                _ => return std::future::ready(()),
            };
            let before = state.send_replace(now);
            // The first connection is an event too.
            if now.is_some() != before.is_some() {
                say(if now.is_some() {
                    "The fleet's server is back"
                } else {
                    "The fleet's server cannot be reached: no call goes out until it is back"
                });
            }
            std::future::ready(())
        });
    let servers = address.servers.iter().cloned().map(ServerAddr::from_url);
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    Ok(options.connect(servers).await?)
}

impl Stores {
    async fn open(
        jetstream: &jetstream::Context,
        address: &FleetAddress,
        runtime: &Handle,
    ) -> Result<(Self, ObjectStore), async_nats::Error> {
        let num_replicas = address.replicas;
        let stream = async |what, retention| {
            let config = stream::Config {
                name: store(what),
                subjects: vec![subject(what, ">")],
                retention,
                max_age: KEPT,
                num_replicas,
                allow_direct: true,
                ..stream::Config::default()
            };
            jetstream.get_or_create_stream(config).await
        };
        let bucket = async |what, max_age| {
            let bucket = store(what);
            if let Ok(store) = jetstream.get_key_value(&bucket).await {
                return Ok(store);
            }
            let config = kv::Config {
                bucket,
                history: 1,
                max_age,
                num_replicas,
                ..kv::Config::default()
            };
            jetstream.create_key_value(config).await
        };
        let objects = object_store::Config {
            bucket: store("objects"),
            max_age: KEPT,
            num_replicas,
            ..object_store::Config::default()
        };
        let runs = bucket("runs", KEPT).await?;
        let ledger = bucket("ledger", Duration::ZERO).await?;
        let limits = bucket("limits", LIMITS_KEPT).await?;
        let workers = bucket("workers", address.lease).await?;
        let stores = Self {
            jobs: stream("jobs", RetentionPolicy::WorkQueue).await?,
            journal: stream("journal", RetentionPolicy::Limits).await?,
            ledger: Bucket::new(ledger, runtime, None),
            limits: Bucket::new(limits, runtime, None),
            workers: Bucket::new(workers, runtime, Some(address.lease)),
            runs: Bucket::new(runs.clone(), runtime, None),
            open: Bucket::new(runs, runtime, None),
        };
        let objects = match jetstream.get_object_store(&objects.bucket).await {
            Ok(store) => store,
            Err(_) => jetstream.create_object_store(objects).await?,
        };
        Ok((stores, objects))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_an_address_are_neither_shown_nor_lost() {
        let text = "nats://u:p%40s+&=s@host:4222, tls://other";
        let (first, _) = text.split_once(',').unwrap();
        let (user, password) = login(&Url::parse(first).unwrap());
        assert_eq!((user.as_str(), password.as_deref()), ("u", Some("p@s+&=s")));
        let address = FleetAddress::new(text).unwrap();
        assert_eq!(address.shown(), "nats://host:4222,tls://other");
        let text = format!("{address:?}");
        assert!(!text.contains("p@s") && !text.contains("p%40s"), "{text}");
        let with_token = Url::parse("nats://s3cret@host").unwrap();
        assert_eq!(login(&with_token), ("s3cret".to_owned(), None));
        let with_token = FleetAddress::new(with_token.as_str()).unwrap();
        assert!(!format!("{with_token:?}").contains("s3cret"));
    }

    #[test]
    fn addresses_of_other_schemes_are_refused() {
        for url in [
            "",
            "host:4222",
            "http://host",
            "nats:",
            "file:///etc",
            "nats://a,b",
        ] {
            let error = FleetAddress::new(url).unwrap_err().to_string();
            assert!(error.starts_with("the address of a fleet "), "{error}");
        }
    }
}
