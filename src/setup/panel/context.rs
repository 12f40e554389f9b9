//! The context of panel selection: providers with a key, local servers, the embedded model, the
//! catalog and the personas.

use std::collections::BTreeSet;

use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::family::{Family, family};
use crate::domain::model::program;
use crate::domain::model::vendors::{self, USUAL_JUDGE, VENDORS, Vendor};
use crate::domain::names::near_or_all;
use crate::domain::panel::Seat;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::providers::catalog::{Model, ModelCatalog};
use crate::setup::embedded_model;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::personas::PersonaRegistry;
use crate::setup::programs::ProgramList;
use crate::setup::provider_access::{self, ProviderAccess};

/// The sources to select from.
#[derive(Debug)]
pub struct SelectionContext<'a> {
    pub catalog: &'a ModelCatalog,
    pub personas: &'a PersonaRegistry,
    /// All providers but programs and the embedded model's, in the order in which they fill a panel.
    pub access_list: &'a [ProviderAccess],
    pub programs: &'a ProgramList,
    /// The models of programs that fill a panel when no key is set.
    pub usual_programs: &'a [ModelRef],
    /// The embedded model, which is used when nothing else is there; `None` in a build without it.
    pub embedded: Option<ModelRef>,
    /// The local servers that this run needs.
    pub servers: &'a LocalServerSet,
    pub now: Timestamp,
}

impl SelectionContext<'_> {
    /// Fails when its provider cannot be asked.
    pub fn model(&self, name: &str) -> Result<ModelRef, Error> {
        let model = self.catalog.resolve(name.trim()).map_err(|unknown| {
            let program = self.programs.find(&ProviderId::new(name.trim()));
            let usual = program.and_then(|program| program.usual_models().into_iter().next());
            Error::usage(unknown)
                .hint_if(usual.map(|model| format!("name its model too, as in `{model}`")))
                .hint("see the models with `conclave models`, or write it as `provider:model`")
        })?;
        self.check_provider(&model.provider)?;
        Ok(model)
    }

    pub fn check_provider(&self, provider: &ProviderId) -> Result<(), Error> {
        match self.embedded {
            None if provider.is_local() => Err(embedded_model::not_built_in()),
            Some(_) if provider.is_local() => Ok(()),
            Some(_) | None => self.programs.check(provider).unwrap_or_else(|| {
                let checked = self.servers.check_provider(provider, self.access_list);
                checked.map_err(|error| self.with_names(provider, error))
            }),
        }
    }

    fn with_names(&self, provider: &ProviderId, error: Error) -> Error {
        if provider_access::find(self.access_list, provider).is_some() {
            return error;
        }
        let known = self.access_list.iter().map(|access| access.id.as_str());
        let programs = self.programs.iter().map(|it| it.id.as_str());
        let known = known.chain(programs).chain([ProviderId::LOCAL]);
        let known: Vec<&str> = known.collect();
        error
            .hint(near_or_all(provider.as_str(), &known))
            .hint(format!(
                "or give it an address with `conclave config set endpoints.{provider}.base_url URL`"
            ))
    }

    /// Returns the providers whose models may be chosen without being named.
    pub fn selectable(&self) -> impl Iterator<Item = &ProviderAccess> {
        let all = self.access_list.iter();
        all.filter(|access| access.is_selectable())
    }

    /// Gives a model to every seat that has none: to a default persona the first choice of its own
    /// vendor if that has a key, to the others the best models of the families with the fewest
    /// seats.
    pub(super) fn fill(
        &self,
        personas: &[&str],
        own: Vec<Option<ModelRef>>,
    ) -> Result<Vec<ModelRef>, Error> {
        if let Some(all) = own.iter().cloned().collect::<Option<Vec<_>>>() {
            return Ok(all);
        }
        let Some(first) = self.selectable().next() else {
            if !self.usual_programs.is_empty() {
                return seat_all(own, self.usual_programs).ok_or_else(no_models);
            }
            let local = self.servers.by_default.as_ref().or(self.embedded.as_ref());
            let local = local.ok_or_else(no_models)?;
            let seat = |own: Option<ModelRef>| own.unwrap_or_else(|| local.clone());
            return Ok(own.into_iter().map(seat).collect());
        };
        let mut seats = own;
        let mut met = BTreeSet::new();
        for (persona, seat) in personas.iter().zip(&mut seats) {
            let usual = default_seats().find(|(id, _)| id == persona);
            let usual = usual.and_then(|(_, vendor)| {
                let mut selectable = self.selectable();
                selectable.find(|access| access.id.as_str() == vendor.id)
            });
            // The same persona sits twice for two opinions.
            if let (None, Some(access), true) = (&seat, usual, met.insert(*persona)) {
                *seat = self.best(&access.id);
            }
        }
        let defaults = self.selectable();
        let defaults = defaults.flat_map(|access| self.catalog.defaults(&access.id));
        let mut pool: Vec<&Model> = defaults.collect();
        if pool.is_empty() {
            let error = format!("{} has no usual models to ask", vendors::name(&first.id));
            return Err(Error::usage(error)
                .hint(format!("name one: `--model {}:MODEL`", first.id))
                .hint(format!(
                    "or set it in the settings with `conclave config set panel \
                 \"security={0}:MODEL,architect={0}:MODEL,pragmatic={0}:MODEL\"`",
                    first.id
                )));
        }
        pool.sort_by_key(|model| (model.tier, model.rank));
        let pool: Vec<ModelRef> = pool.into_iter().map(Model::to_ref).collect();
        seat_all(seats, &pool).ok_or_else(no_models)
    }

    fn best(&self, vendor: &ProviderId) -> Option<ModelRef> {
        let defaults = self.catalog.defaults(vendor);
        defaults.first().map(|model| model.to_ref())
    }

    /// The embedded model, a server on the user's machine, or an endpoint or a program from the
    /// settings.
    pub fn is_own_server(&self, provider: &ProviderId) -> bool {
        let is_own = |access: &ProviderAccess| access.id == *provider && !access.is_cloud();
        provider.is_local() || provider.command().is_some() || self.access_list.iter().any(is_own)
    }

    pub fn is_program(&self, provider: &ProviderId) -> bool {
        self.programs.find(provider).is_some()
    }

    /// A provider that is no longer configured counts as private; a vendor's program is its
    /// vendor's cloud.
    pub fn is_private(&self, provider: &ProviderId) -> bool {
        let access = provider_access::find(self.access_list, provider);
        program::of_vendor(provider).is_none() && access.is_none_or(ProviderAccess::is_private)
    }

    /// Returns the judge and its fallbacks: the best model of a family with a key and no seat, else
    /// the panel's OpenAI model, else its best; then one model of each other vendor, and of a
    /// reseller without a seat last.
    ///
    /// A panel on the user's own servers, or of programs, judges itself: its question goes to no
    /// vendor that the user has not named, and costs nothing beyond the plan.
    pub fn default_judges(&self, seats: &[Seat]) -> Vec<ModelRef> {
        let seated = || seats.iter().map(|seat| &seat.model);
        let is_own = |model: &ModelRef| self.is_own_server(&model.provider);
        if seated().all(|model| is_own(model) || self.is_program(&model.provider)) {
            let mut met = BTreeSet::new();
            let distinct = seated().filter(|model| met.insert(*model));
            let mut judges: Vec<ModelRef> = distinct.cloned().collect();
            if !seated().all(is_own) {
                // A judge of the family with the fewest seats is the most independent.
                let seats_of =
                    |of: &ModelRef| seated().filter(|it| family(it) == family(of)).count();
                judges.sort_by_key(seats_of);
            }
            return judges;
        }
        let is_usual = |model: &&ModelRef| {
            family(model) == Family::Maker(USUAL_JUDGE) && !self.is_own_server(&model.provider)
        };
        let usual = seated().find(is_usual);
        let best = seated().min_by_key(|model| {
            let known = self.catalog.find(model);
            known.map_or((u8::MAX, None), |known| (known.tier, known.rank))
        });
        let first = self.outside_judge(seats);
        let first = first.or_else(|| usual.or(best).cloned());
        let mut judges: Vec<ModelRef> = first.into_iter().collect();
        // A fallback may never be asked, which is no reason to have a key unlocked.
        let (resellers, vendors): (Vec<_>, Vec<_>) = self
            .selectable()
            .filter(|access| has_seat(seats, &access.id) || access.key_ready())
            .partition(|access| is_added_reseller(seats, &access.id));
        let firsts = vendors.iter().filter_map(|access| self.best(&access.id));
        let resold = resellers.iter().filter_map(|access| self.best(&access.id));
        for model in firsts.chain(seated().cloned()).chain(resold) {
            if !judges.contains(&model) {
                judges.push(model);
            }
        }
        judges
    }

    /// Returns the best model of a family that has no seat. A reseller without a seat is asked only
    /// if every seat is of one family: otherwise its judge would show the debate to one more
    /// company for little gain.
    fn outside_judge(&self, seats: &[Seat]) -> Option<ModelRef> {
        let seated: BTreeSet<Family<'_>> = seats.iter().map(|seat| family(&seat.model)).collect();
        let outsider = |access: &ProviderAccess| {
            let mut models = self
                .catalog
                .defaults(&access.id)
                .into_iter()
                .map(Model::to_ref);
            models.find(|model| !seated.contains(&family(model)))
        };
        let is_reseller = |access: &&ProviderAccess| is_added_reseller(seats, &access.id);
        let mut vendors = self.selectable().filter(|access| !is_reseller(access));
        let mut resellers = self.selectable().filter(is_reseller);
        let last = || resellers.find_map(outsider).filter(|_| seated.len() == 1);
        vendors.find_map(outsider).or_else(last)
    }
}

/// Gives each open seat the model of the pool with the fewest seats, and of the family with the
/// fewest; `None` if the pool is empty.
fn seat_all(mut seats: Vec<Option<ModelRef>>, pool: &[ModelRef]) -> Option<Vec<ModelRef>> {
    for at in 0..seats.len() {
        let seated = || seats.iter().flatten();
        let seats_taken = |candidate: &&ModelRef| {
            let by_model = seated().filter(|model| model == candidate);
            let by_family = seated().filter(|model| family(model) == family(candidate));
            (by_model.count(), by_family.count())
        };
        let best = pool.iter().min_by_key(seats_taken).cloned();
        if let Some(seat @ None) = seats.get_mut(at) {
            *seat = best;
        }
    }
    seats.into_iter().collect()
}

fn has_seat(seats: &[Seat], provider: &ProviderId) -> bool {
    seats.iter().any(|seat| seat.model.provider == *provider)
}

/// Asking a reseller shows the question to one more company.
pub fn is_added_reseller(seats: &[Seat], provider: &ProviderId) -> bool {
    let vendor = vendors::find(provider.as_str());
    vendor.is_some_and(Vendor::is_reseller) && !has_seat(seats, provider)
}

/// What gives models without a key.
pub const LOG_IN: &str = "or log in to Claude Code or Codex, and name its model: `--model \
                          claude-code:sonnet`, `--model codex:gpt-5.5`";

fn no_models() -> Error {
    Error::usage(
        "there is no model to ask: no key is set, no program is logged in, no local server \
         answers, and this build has no local model",
    )
    .hint("set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`")
    .hint(LOG_IN)
    .hint("or start a local server, such as Ollama")
    .hint("or build in the local model with `cargo build --release --features local`")
}

/// Returns the personas of the default seats, each with the vendor that plays it when all keys are
/// set.
pub fn default_seats() -> impl Iterator<Item = (&'static str, &'static Vendor)> {
    VENDORS
        .iter()
        .filter_map(|vendor| Some((vendor.default_persona?, vendor)))
}
