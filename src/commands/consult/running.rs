//! One run of a consultation, begun anew or gone on with: who is told, who is asked, and what becomes of it at its end.

use crate::consultation::Consultation;
use crate::consultation::event::Envelope;
use crate::consultation::policy::consent::Standing;
use crate::engine::clock::Clock;
use crate::engine::driver::{Begin, Driver, Providers};
use crate::engine::interrupts;
use crate::engine::ports::Subscriber;
use crate::error::{Error, Exit};
use crate::records::events_file::EventsFile;
use crate::terminal::consent::{self, Input};
use crate::terminal::printer::Printer;
use crate::terminal::progress::Progress;

use super::Asker;
use super::ending::{self, Keeping};
use super::flags::{ControlFlags, OutputFlags};

/// What a run works with besides the machine.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) clock: Clock,
    pub(crate) providers: &'a Providers,
    pub(crate) output: &'a OutputFlags,
    /// Opened before anything is kept: a run that cannot write them leaves nothing behind.
    pub(crate) events: Option<EventsFile>,
    pub(crate) printer: &'a Printer,
}

impl Run<'_> {
    /// Runs the consultation to its end; keeps and shows what came of it together with what was kept `earlier`.
    pub(crate) fn carry_out(
        self,
        mut consultation: Consultation,
        begin: Begin,
        earlier: Vec<Envelope>,
        mut keeping: Keeping,
    ) -> Result<(), Error> {
        let Run { clock, providers, output, mut events, printer } = self;
        let events_on_stderr = output.events.as_deref().is_some_and(|path| path.as_os_str() == "-");
        let mut progress = if events_on_stderr { Progress::plain(printer.clone()) } else { Progress::new(printer.clone()) };
        progress.catch_up(&earlier, clock.now());

        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::failed)?;
        let mut history = earlier;
        history.extend(runtime.block_on(async {
            let mut subscribers: Vec<&mut dyn Subscriber> = Vec::new();
            subscribers.extend(keeping.journal().map(|journal| journal as &mut dyn Subscriber));
            subscribers.extend(events.as_mut().map(|events| events as &mut dyn Subscriber));
            subscribers.push(&mut progress);
            let person = Asker { printer, agents: consultation.plan().panel.seats.len() };
            let interrupts = interrupts::listen(Exit::Interrupted.code()).map_err(Error::failed)?;
            let driver = Driver { clock, providers, subscribers, person: &person, interrupts };
            Ok::<_, Error>(driver.run(&mut consultation, begin).await)
        })?);
        drop(progress);
        let ended = ending::finish(&history, output, keeping, printer);
        // A thread that still waits for an answer on the terminal, or a model that is still decoding, must not hold up the end.
        runtime.shutdown_background();
        ended
    }
}

/// Who can be asked in this run.
pub(crate) fn standing(control: &ControlFlags, printer: &Printer, input: Input) -> Standing {
    match (control.yes, consent::can_ask(printer, input)) {
        (true, _) => Standing::Granted,
        (false, true) => Standing::Askable,
        (false, false) => Standing::Unattended,
    }
}

/// The file that every event goes to, where there is one.
pub(crate) fn events_file(flags: &OutputFlags, printer: &Printer) -> Result<Option<EventsFile>, Error> {
    match flags.events.as_deref() {
        None => Ok(None),
        Some(path) if path.as_os_str() == "-" => Ok(Some(EventsFile::new(printer.stderr_writer()))),
        Some(path) => EventsFile::create(path).map(Some).map_err(Error::usage),
    }
}
