use super::*;

/// Another process: it runs a consultation once, and keeps its journal.
#[derive(Debug)]
struct OtherProcess {
    providers: Providers,
    shared: SharedResources,
    journals: Mutex<BTreeMap<ConsultationId, Vec<Envelope>>>,
    /// Those that are never begun.
    left: Option<ConsultationId>,
}

#[derive(Debug, Default)]
struct Kept(Vec<Envelope>);

impl Subscriber for Kept {
    fn event(&mut self, event: &Envelope) -> Result<(), SubscriberError> {
        self.0.push(event.clone());
        Ok(())
    }
}

impl Executor for OtherProcess {
    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        mut interrupt: watch::Receiver<Option<InterruptStage>>,
        on: &'a mut (dyn FnMut(Envelope) + Send),
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let kept = self.journals.lock().unwrap().get(&plan.id).cloned();
            if self.left.as_ref() == Some(&plan.id) {
                interrupt.wait_for(Option::is_some).await.unwrap();
                return Ok(());
            }
            let events = if let Some(events) = kept {
                events
            } else {
                let mut events = Kept::default();
                let (_interrupt, interrupts) = mpsc::unbounded_channel();
                let clock = Clock::starting(Timestamp(1_795_252_598_000));
                let participants = Participants {
                    subscribers: vec![&mut events],
                    person: &NoPerson,
                    interrupts,
                    report: |_| String::new(),
                };
                let (plan, providers) = (plan.clone(), self.providers.clone());
                let session = Session::new(plan, providers, Storage::Nowhere, clock);
                run::run(session, participants, self.shared.clone()).await?;
                events.0
            };
            let mut journals = self.journals.lock().unwrap();
            journals.insert(plan.id.clone(), events.clone());
            events.into_iter().for_each(on);
            Ok(())
        })
    }

    fn running(&self) -> usize {
        0
    }

    fn room(&self) -> usize {
        usize::MAX
    }

    fn news(&self) -> BoxFuture<'_, News> {
        Box::pin(std::future::pending())
    }
}

impl BatchHome {
    /// Consultations run in another process from now on. This one may ask no provider.
    fn elsewhere(&mut self, left: Option<usize>) {
        let shared = self.batch(None).shared.clone();
        let (interrupt, interrupts) = mpsc::unbounded_channel();
        (self.interrupt, self.interrupts) = (interrupt, Some(interrupts));
        self.executor = Some(Arc::new(OtherProcess {
            providers: std::mem::take(&mut self.providers),
            shared,
            journals: Mutex::default(),
            left: left.map(|number| self.plan(number).id),
        }));
    }
}

#[tokio::test(start_paused = true)]
async fn consultation_of_another_process_leaves_what_one_of_this_process_leaves() {
    let files = |home: &BatchHome| {
        let logs = home.home.logs_folder();
        let id = home.plan(1).id;
        let names = ["jsonl", "json", "md"].map(|suffix| logs.join(format!("{id}.{suffix}")));
        names.map(|file| std::fs::read_to_string(file).unwrap())
    };
    let mut here = BatchHome::new(Scripted::default());
    let mut batch = here.batch(None);
    batch.start(1, here.plan(1), &here.providers, None);
    let all = run_to_end(&mut batch).await;
    let mut there = BatchHome::new(Scripted::default());
    there.elsewhere(None);
    // The second batch meets the same consultation, and asks nothing again.
    for _ in 0..2 {
        let mut batch = there.batch(None);
        batch.start(1, there.plan(1), &there.providers, None);
        let copied = run_to_end(&mut batch).await;
        assert_eq!(
            copied[0].result.as_ref().unwrap().record,
            all[0].result.as_ref().unwrap().record
        );
        assert_eq!(transcript(&copied[0]).calls, transcript(&all[0]).calls);
        batch.finish(&SilentFace).await;
        assert_eq!(files(&there), files(&here));
        there.interrupts = Some(mpsc::unbounded_channel().1);
    }
    assert_eq!(there.provider.calls(), 1);
    let index = Index::open(&there.home.index_file()).unwrap();
    let id = there.plan(1).id;
    assert!(
        history::with_id(&index.connection, id.as_str())
            .unwrap()
            .is_some()
    );
}

#[tokio::test(start_paused = true)]
async fn first_interrupt_ends_what_no_other_process_has_begun() {
    let mut home = BatchHome::new(Scripted::default());
    home.elsewhere(Some(1));
    let mut batch = home.batch(None);
    home.start_all(&mut batch, 2);
    home.interrupt.send(()).unwrap();
    let all = run_to_end(&mut batch).await;
    let result = |key| {
        &all.iter()
            .find(|finished| finished.key == key)
            .unwrap()
            .result
    };
    assert_eq!(
        result(0).as_ref().unwrap().transcript.state,
        StateName::Complete
    );
    let error = result(1).as_ref().unwrap_err().to_string();
    assert_eq!(error, "no process has begun it");
    let journal = home
        .home
        .logs_folder()
        .join(format!("{}.jsonl", home.plan(1).id));
    assert!(!journal.exists());
}
