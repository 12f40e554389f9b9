//! One run of a consultation, begun anew or gone on with: who is told, who is asked, and what
//! becomes of it at its end.

use crate::commands::config::threshold;
use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::consultation::Consultation;
use crate::consultation::event::Envelope;
use crate::consultation::policy::consent::ConsentMode;
use crate::domain::ids::ProviderId;
use crate::domain::vendors;
use crate::engine::clock::Clock;
use crate::engine::dispatcher::Dispatcher;
use crate::engine::dispatcher::pool::PoolRules;
use crate::engine::driver::{Driver, Providers, RunStart};
use crate::engine::interrupts;
use crate::engine::ports::Subscriber;
use crate::error::{Error, Exit};
use crate::records::events_file::EventsFile;
use crate::terminal::output::printer::Printer;
use crate::terminal::progress::ProgressReporter;
use crate::terminal::prompt::keyboard::{Keyboard, StdinUse, can_ask};
use crate::terminal::prompt::person::TerminalPerson;

use super::finish;
use super::finish::{Keeping, Present};
use crate::commands::consult::flags::{ControlFlags, OutputFlags};

/// A run that is about to begin: where its events go is open already, so that nothing is begun that
/// could not be told.
pub(crate) struct Run<'a> {
    home: &'a Home,
    environment: &'a Environment,
    output: &'a OutputFlags,
    printer: &'a Printer,
    events: Option<EventsFile>,
    present: Option<Present<'a>>,
}

impl<'a> Run<'a> {
    /// Opens what events go to.
    pub(crate) fn prepare(
        home: &'a Home,
        environment: &'a Environment,
        output: &'a OutputFlags,
        printer: &'a Printer,
    ) -> Result<Self, Error> {
        Ok(Self {
            home,
            environment,
            output,
            printer,
            events: events_file(output, printer)?,
            present: None,
        })
    }

    /// Shows something else than the report in the end, which is kept all the same.
    #[must_use]
    pub(crate) fn presenting(self, present: Present<'a>) -> Self {
        Self {
            present: Some(present),
            ..self
        }
    }

    /// Runs the consultation to its end; keeps and shows what came of it together with what was
    /// told `earlier`.
    pub(crate) fn carry_out(
        self,
        (mut consultation, begin): (Consultation, RunStart),
        clock: Clock,
        providers: &Providers,
        earlier: Vec<Envelope>,
        mut keeping: Keeping,
    ) -> Result<(), Error> {
        let Run {
            home,
            environment,
            output,
            printer,
            mut events,
            present,
        } = self;
        let events_on_stderr = output
            .events
            .as_deref()
            .is_some_and(|path| path.as_os_str() == "-");
        let progress = if events_on_stderr {
            ProgressReporter::plain(printer.clone())
        } else {
            ProgressReporter::new(printer.clone())
        };
        let mut progress = if output.stream {
            progress.with_judges_text()
        } else {
            progress
        };
        let entry = keeping.entry(home, &consultation.plan().id, clock.now());
        progress.catch_up(&earlier, clock.now());
        let save_threshold = |amount| threshold::save(amount, home, environment, printer);
        let vendor_name = |provider: &ProviderId| vendors::name(provider).to_owned();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::failed)?;
        let mut history = earlier;
        history.extend(runtime.block_on(async {
            let mut subscribers: Vec<&mut dyn Subscriber> = Vec::new();
            subscribers.extend(
                keeping
                    .journal()
                    .map(|journal| journal as &mut dyn Subscriber),
            );
            subscribers.extend(events.as_mut().map(|events| events as &mut dyn Subscriber));
            subscribers.push(&mut progress);
            let month = consultation.plan().control.consent.month;
            let person = TerminalPerson::new(
                printer.clone(),
                Keyboard::controlling(),
                &save_threshold,
                &vendor_name,
                month,
            );
            let interrupts = interrupts::listen(Exit::Interrupted.code()).map_err(Error::failed)?;
            let rules = PoolRules::seeded(consultation.plan().seed);
            let dispatcher = Dispatcher::new(clock, rules);
            let driver = Driver {
                clock,
                providers,
                dispatcher,
                budgets: Vec::new(),
                subscribers,
                person: &person,
                interrupts,
            };
            Ok::<_, Error>(driver.run(&mut consultation, begin).await)
        })?);
        drop(progress);
        let ended = finish::finish(&history, output, present, keeping, entry, printer);
        // A thread that still waits for an answer on the terminal, or a model that is still
        // decoding, must not hold up the end.
        runtime.shutdown_background();
        ended
    }
}

/// Who can be asked in this run.
pub(crate) fn consent_mode(
    control: &ControlFlags,
    printer: &Printer,
    input: StdinUse,
) -> ConsentMode {
    match (control.yes, can_ask(printer, input)) {
        (true, _) => ConsentMode::PreApproved,
        (false, true) => ConsentMode::Interactive,
        (false, false) => ConsentMode::NonInteractive,
    }
}

fn events_file(flags: &OutputFlags, printer: &Printer) -> Result<Option<EventsFile>, Error> {
    match flags.events.as_deref() {
        None => Ok(None),
        Some(path) if path.as_os_str() == "-" => Ok(Some(EventsFile::new(printer.stderr_writer()))),
        Some(path) => EventsFile::create(path).map(Some).map_err(Error::usage),
    }
}
