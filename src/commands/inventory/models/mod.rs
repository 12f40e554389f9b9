//! `conclave models`: lists the models by provider, with prices, limits and retirement, and manages
//! the files of the embedded ones.

mod local_files;
mod screen;

use indexmap::IndexSet;
use jiff::civil::Date;

use crate::commands::flags::JsonFlags;
use crate::commands::{App, block_on};
use crate::config::paths::Home;
use crate::domain::ids::ProviderId;
use crate::domain::model::program::Program;
use crate::domain::model::vendors::{self, LocalServerKind, VENDORS};
use crate::error::Error;
use crate::providers::catalog::{Model, ModelCatalog};
use crate::providers::discovery::{ServedModel, Server};
use crate::providers::local::files::home::ModelHome;
use crate::setup::local_servers::search::is_small;
use crate::setup::local_servers::search::{self, ServerSearch, all_kinds};
use crate::setup::programs::ProgramList;
use crate::setup::provider_access::{self, ProviderAccess, find};
use crate::setup::settings;

use self::local_files::ModelAction;
use self::screen::{
    CloudModel, EmbeddedList, LocalModel, ModelList, ProgramModels, ProviderModels, ServerModels,
    screen,
};

/// List the models that can be asked, with tier, price, limits and retirement, and download
/// embedded ones
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(mut_arg("json", |arg| arg.help("Write JSON; its schema is schemas/models.schema.json")))]
#[command(after_help = "\
Prices are in dollars per million tokens.
Your own models and prices go into models.json in the home.
Local servers are looked for at their default ports on this machine, or where \
CONCLAVE_LOCAL_SERVERS says: `auto`, `none`, or addresses separated by commas.")]
pub struct Args {
    #[command(subcommand)]
    action: Option<ModelAction>,

    #[command(flatten)]
    json: JsonFlags,

    /// Show only models whose provider, name or tier contains this, such as `claude` or `tier 1`
    /// [default: all]
    filter: Vec<String>,

    /// Also show models that have retired
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    if let Some(action) = &args.action {
        return local_files::run(action, app);
    }
    let home = app.home()?;
    let catalog = settings::catalog(&home)?;
    let settings = settings::load(&home, app.environment)?;
    let access_list = provider_access::all(&settings, app.environment);
    let search = ServerSearch::new(&settings, &access_list)?;
    let servers = block_on(search::find(&search, &all_kinds()))?;
    let now = app.clock.now();
    let programs = ProgramList::load(&settings, app.environment, &home);
    let mut list = ModelList {
        warnings: catalog.age_warnings(now),
        programs: programs.iter().map(program_models).collect(),
        ..list(&catalog, &access_list, &servers, &home, now.day())
    };
    list.keep_only(&args.filter.join(" "));
    if !args.all {
        list.leave_out_retired();
    }
    let is_json = args.json.is_json();
    if !is_json {
        for warning in &list.warnings {
            app.printer.warning(&format!("Warning: {warning}"));
        }
        if list.is_empty() {
            app.printer
                .lines("No models match; list all with `conclave models`");
            return Ok(());
        }
    }
    app.print(is_json, &list, |width, paint| screen(&list, width, paint))
}

fn list(
    catalog: &ModelCatalog,
    access_list: &[ProviderAccess],
    servers: &[Server],
    home: &Home,
    today: Date,
) -> ModelList {
    // Local servers list their models themselves; models.json only gives them prices.
    let own_machine = |id: &ProviderId| id.is_local() || LocalServerKind::of(id).is_some();
    let clouds = VENDORS.iter().filter(|vendor| vendor.is_cloud());
    let mut ids: IndexSet<ProviderId> = clouds.map(|vendor| ProviderId::new(vendor.id)).collect();
    let providers = catalog.models.iter().map(|model| &model.provider);
    ids.extend(providers.filter(|id| !own_machine(id)).cloned());
    let providers = ids.iter().map(|id| {
        let models = catalog.models.iter();
        let mut models: Vec<&Model> = models.filter(|model| model.provider == *id).collect();
        // Default panel first, then the best first, then as the file has them.
        models.sort_by_key(|model| {
            let rank = model.rank.unwrap_or(u32::MAX);
            (rank, model.has_retired_by(today), model.tier)
        });
        ProviderModels {
            id: id.to_string(),
            name: vendors::name(id).to_owned(),
            has_key: find(access_list, id).is_some_and(ProviderAccess::is_configured),
            key_variables: vendors::find(id.as_str()).map_or(&[], |vendor| vendor.key_variables),
            models: models
                .iter()
                .map(|model| cloud_model(model, today))
                .collect(),
        }
    });
    ModelList {
        schema_version: "1.0",
        date: today,
        providers: providers.collect(),
        programs: Vec::new(),
        local_servers: servers.iter().map(server_models).collect(),
        embedded: EmbeddedList::of(&ModelHome::in_home(home.path())),
        retired_left_out: 0,
        warnings: Vec::new(),
    }
}

fn cloud_model(model: &Model, today: Date) -> CloudModel {
    CloudModel {
        model: model.to_ref().to_string(),
        price: model.price_on(today).cloned(),
        retired: model.has_retired_by(today),
        entry: model.clone(),
    }
}

fn program_models(program: &Program) -> ProgramModels {
    let file = program.executable.as_ref();
    ProgramModels {
        id: program.id.to_string(),
        name: program.name.clone(),
        executable: file.map(|file| file.display().to_string()),
        allowed: program.allowed == Some(true),
        models: program.usual_models(),
    }
}

fn server_models(server: &Server) -> ServerModels {
    let provider = server.kind.provider();
    let model = |served: &ServedModel| LocalModel {
        model: format!("{provider}:{}", served.id),
        small_prompts: is_small(served),
        served: served.clone(),
    };
    ServerModels {
        id: provider.to_string(),
        name: vendors::name(&provider).to_owned(),
        address: server.authority.clone(),
        version: server.version.clone(),
        condition: server.condition,
        models: server.models.iter().map(model).collect(),
    }
}
