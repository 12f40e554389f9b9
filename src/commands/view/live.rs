//! A page that changes, as events: each has the new contents of `main`, made and escaped by the one
//! renderer, and the version as its id. The page is built again when one of its files has grown,
//! and every second for its clocks; what did not change is not sent.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::Event;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::time::{Instant, sleep};

use super::site::{Builder, Live, Reply, Request, Site};
use crate::files::{Stamp, stamp};
use crate::terminal::document::served_main;

/// How soon a change is noticed.
const TICK: Duration = Duration::from_millis(40);

/// After this time a page is built again in any case.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// A page that takes long to build is built less often, so that others are not slowed: this many
/// parts of the time are left to them.
const SHARE: u32 = 2;

struct Followed {
    site: Arc<Site>,
    build: Builder,
    request: Arc<Request>,
    /// The version that the browser has.
    seen: Option<u64>,
    /// The page that it has; `None` if it stems from an earlier connection.
    sent: Option<String>,
    files: Vec<PathBuf>,
    stamps: Vec<Option<Stamp>>,
    took: Duration,
    is_over: bool,
}

/// The first event is the whole page, unless the browser has this version already; the last one is
/// named `end`.
pub(super) fn events(
    site: Arc<Site>,
    build: Builder,
    request: Arc<Request>,
    seen: Option<u64>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let followed = Followed {
        site,
        build,
        request,
        seen,
        sent: None,
        files: Vec::new(),
        stamps: Vec::new(),
        took: Duration::ZERO,
        is_over: false,
    };
    unfold(followed, |mut followed| async {
        let event = followed.next().await?;
        Some((Ok(event), followed))
    })
}

impl Followed {
    async fn next(&mut self) -> Option<Event> {
        while !self.is_over {
            self.change().await;
            self.site.active.send_replace(());
            // Before the page is built: what comes meanwhile is a change.
            self.stamps = self.files.iter().map(|file| stamp(file)).collect();
            let (site, request) = (Arc::clone(&self.site), Arc::clone(&self.request));
            let began = Instant::now();
            let Some(Ok(Reply::Page(page))) = site.build(self.build, request).await else {
                // The browser asks again in a while.
                return None;
            };
            let (main, live) = (served_main(&page.parts), page.live);
            self.took = began.elapsed();
            let Some(Live { version, files }) = live else {
                self.is_over = true;
                return Some(Event::default().event("end").data(main));
            };
            self.files = files;
            let is_same = self.sent.as_ref().is_none_or(|sent| *sent == main);
            let is_seen = self.seen == version && is_same;
            let is_first = self.sent.is_none() && version.is_none();
            self.seen = version;
            self.sent = Some(main.clone());
            if is_first || !is_seen {
                let event = Event::default().data(main);
                return Some(match version {
                    Some(version) => event.id(version.to_string()),
                    None => event,
                });
            }
        }
        None
    }

    /// Waits for a change of a file, or for the next second. The first time there is none.
    async fn change(&self) {
        if self.files.is_empty() {
            return;
        }
        let until = Instant::now() + LONGEST_WAIT;
        sleep(TICK.max(self.took * SHARE)).await;
        let is_same = || {
            self.files
                .iter()
                .map(|file| stamp(file))
                .eq(self.stamps.iter().copied())
        };
        while is_same() && Instant::now() < until {
            sleep(TICK).await;
        }
    }
}
