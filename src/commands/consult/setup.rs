//! Everything a consultation needs before it begins: who sits, who judges, who helps, and what
//! course the debate takes.

use crate::config::env::Environment;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::setup::embedded_model::LocalModels;
use crate::setup::fallbacks::fallbacks;
use crate::setup::helper;
use crate::setup::local_servers::{Servers, Where};
use crate::setup::panel;
use crate::setup::panel::{Choices, Flags, Wanted};
use crate::setup::personas::PersonaRegistry;
use crate::terminal::output::printer::Printer;

use super::Args;
use super::debate::debate;
use crate::setup::plan::{Draft, Ground, Ready, Setup, obtain};

pub(super) fn prepare(
    args: &Args,
    environment: &Environment,
    printer: &Printer,
    question: String,
    consent_mode: ConsentMode,
    now: Timestamp,
) -> Result<Setup, Error> {
    let ground = Ground::find(environment, consent_mode, now)?;
    let Ground {
        home,
        settings,
        catalog,
        templates,
        reached,
        ..
    } = &ground;
    let catalogue = PersonaRegistry::of(templates, settings)?;

    let personas = args.personas.as_deref();
    let flags = Flags {
        panel: args.panel.as_deref(),
        models: &args.model,
        judge: args.judge.as_deref(),
        personas,
    };
    let wanted = Wanted::of(flags, settings, &catalogue)?;
    let local_models = LocalModels::new(environment, settings, home, printer);
    let local = local_models.default_model()?;
    let servers = Servers::for_run(&wanted, reached, Where::set(settings, reached)?)?;
    let choices = Choices {
        catalog,
        personas: &catalogue,
        reached,
        local,
        servers: &servers,
        now,
    };
    let mut chosen = panel::choose(&wanted, &choices)?;
    let ready = if args.dry_run {
        Ready::ToShow
    } else {
        Ready::ToAsk(obtain(&mut chosen.panel, &local_models, consent_mode)?)
    };

    let mut debate = debate(&args.debate, settings)?;
    debate.selectable_personas = std::mem::take(&mut chosen.selectable_personas);
    helper::appoint(&mut debate, &chosen.panel, &choices);

    let draft = Draft {
        question,
        debate,
        fallbacks: fallbacks(&chosen.panel, &wanted, catalog, reached, now),
        panel: chosen.panel,
        material: if args.output.verbose {
            PromptMaterial::Whole
        } else {
            PromptMaterial::Filtered
        },
        notices: chosen.notices,
    };
    ground.assemble(draft, &servers, ready, &args.control)
}
