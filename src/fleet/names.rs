//! The names of a fleet's subjects, streams and buckets, all under one prefix.
//!
//! ```text
//! PREFIX.jobs.<providers>.<run>.<consultation>   stream PREFIX_jobs: a job that is to be done
//! PREFIX.journal.<run>.<consultation>            stream PREFIX_journal: its journal
//! PREFIX.owner.<worker>                          asks a worker whether it still has a job
//! ```

use std::collections::BTreeSet;

use crate::domain::ids::{ConsultationId, ProviderId};

use super::FleetError;

/// Bytes of the longest part of a subject.
const LONGEST: usize = 200;

/// The names under one prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    prefix: String,
}

/// Names one consultation of one run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobName {
    pub run: String,
    pub id: ConsultationId,
}

impl Names {
    pub const USUAL: &str = "conclave";

    pub fn new(prefix: &str) -> Result<Self, FleetError> {
        let prefix = part(prefix)?.to_owned();
        Ok(Self { prefix })
    }

    /// Returns the name of a stream or a bucket.
    pub fn store(&self, what: &str) -> String {
        format!("{}_{what}", self.prefix)
    }

    /// Returns the subjects of a kind, of which `rest` is the part that varies.
    pub fn subject(&self, kind: &str, rest: &str) -> String {
        format!("{}.{kind}.{rest}", self.prefix)
    }

    pub fn job(&self, providers: &str, job: &JobName) -> String {
        self.subject("jobs", &format!("{providers}.{}.{}", job.run, job.id))
    }

    pub fn journal(&self, job: &JobName) -> String {
        self.subject("journal", &format!("{}.{}", job.run, job.id))
    }

    /// Returns the journals of all consultations of a run.
    pub fn journals(&self, run: &str) -> String {
        self.subject("journal", &format!("{run}.>"))
    }

    /// Returns what the subject of a job or a journal names; `None` for any other subject.
    pub fn job_of(&self, subject: &str) -> Option<JobName> {
        let rest = subject.strip_prefix(&self.prefix)?.strip_prefix('.')?;
        let mut parts = rest.split('.');
        match parts.next()? {
            "jobs" => parts.next().map(drop)?,
            "journal" => {}
            _ => return None,
        }
        let (run, id) = (parts.next()?, parts.next()?);
        parts.next().is_none().then(|| JobName::new(run, id).ok())?
    }
}

impl JobName {
    pub fn new(run: &str, id: &str) -> Result<Self, FleetError> {
        let id = ConsultationId::parse(part(id)?).map_err(|_| FleetError::Name(id.to_owned()))?;
        let run = part(run)?.to_owned();
        Ok(Self { run, id })
    }
}

/// Checks that a text can be one part of a subject, a key or the name of a stream.
pub fn part(text: &str) -> Result<&str, FleetError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !text.is_empty() && text.len() <= LONGEST && text.bytes().all(is_allowed) {
        Ok(text)
    } else {
        Err(FleetError::Name(text.chars().take(LONGEST).collect()))
    }
}

/// Returns the name of the queue of jobs that need these providers: `anthropic+openai`.
pub fn queue_of(providers: &BTreeSet<ProviderId>) -> Result<String, FleetError> {
    let names = providers.iter().map(|provider| part(provider.as_str()));
    let names: Vec<&str> = names.collect::<Result<_, _>>()?;
    let name = names.join("+");
    if name.is_empty() || name.len() > LONGEST {
        return Err(FleetError::Name(name));
    }
    Ok(name)
}

/// Returns the providers that the jobs of a queue need; `None` for a name that no queue has.
pub fn providers_of(queue: &str) -> Option<BTreeSet<ProviderId>> {
    let providers = queue.split('+').map(|name| part(name).map(ProviderId::new));
    let providers = providers.collect::<Result<BTreeSet<_>, _>>().ok()?;
    (queue.len() <= LONGEST).then_some(providers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_name_their_job_and_nothing_else_does() {
        let names = Names::new("lab-1").unwrap();
        let job = JobName::new("bench-01k", "consult-01a").unwrap();
        assert_eq!(names.store("jobs"), "lab-1_jobs");
        let subjects = [names.job("anthropic+openai", &job), names.journal(&job)];
        assert_eq!(
            subjects[0],
            "lab-1.jobs.anthropic+openai.bench-01k.consult-01a"
        );
        for subject in &subjects {
            assert_eq!(names.job_of(subject), Some(job.clone()), "{subject}");
        }
        for other in [
            "",
            "lab-1",
            "lab-1.jobs.a.b",
            "lab-1.journal.a.b.c",
            "lab-1.journal.a",
            "lab-1.journal.a.",
            "other.journal.a.b",
            "lab-1.journal.a.$b",
            "lab-1.owner.a.b",
        ] {
            assert_eq!(names.job_of(other), None, "{other}");
        }
    }

    #[test]
    fn names_have_no_character_that_means_something_in_a_subject() {
        for name in [
            "",
            "a.b",
            "a b",
            "*",
            ">",
            "a\n",
            "ä",
            "a/b",
            "$a",
            &"a".repeat(201),
        ] {
            assert!(Names::new(name).is_err(), "{name:?}");
            assert!(JobName::new(name, "consult-1").is_err(), "{name:?}");
            assert!(JobName::new("run", name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn queue_names_the_providers_that_its_jobs_need() {
        let providers: BTreeSet<_> = ["openai", "anthropic"].map(ProviderId::new).into();
        let queue = queue_of(&providers).unwrap();
        assert_eq!(queue, "anthropic+openai");
        assert_eq!(providers_of(&queue), Some(providers));
        assert!(queue_of(&BTreeSet::new()).is_err());
        assert!(queue_of(&[ProviderId::new("command:own")].into()).is_err());
        assert_eq!(providers_of("a+.b"), None);
        assert_eq!(providers_of(""), None);
    }
}
