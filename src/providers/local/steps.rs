//! One decoding step for all open calls: it evaluates pending tokens as one batch, then each answer
//! chooses its next token.

use llama_cpp_2::token::LlamaToken;

use crate::consultation::protocol::call::{Failure, Reply, StopReason};
use crate::engine::ports::Delta;

use super::job::{JobEvent, internal};
use super::worker::{ActiveJob, BATCH, CHUNK, Worker, sequence};

/// The part of one answer in the batch.
struct StepShare {
    tokens: usize,
    /// The tokens before this step.
    from: usize,
    /// The row of the batch after which its next token is chosen; `None` while its prompt is read.
    row: Option<i32>,
}

impl Worker<'_> {
    pub(super) fn step(&mut self) -> Result<(), Failure> {
        self.batch.clear();
        let mut shares = Vec::with_capacity(self.answering.len());
        for answering in &self.answering {
            let filled = usize::try_from(self.batch.n_tokens()).unwrap_or(BATCH);
            let (from, tokens) = self
                .slots
                .pending(answering.slot, CHUNK.min(BATCH.saturating_sub(filled)));
            let whole = tokens.len() == self.slots.waiting(answering.slot);
            for (position, token) in (from..).zip(tokens) {
                let last = whole && position + 1 == from + tokens.len();
                let position = i32::try_from(position).unwrap_or(i32::MAX);
                self.batch
                    .add(
                        LlamaToken(*token),
                        position,
                        &[sequence(answering.slot)],
                        last,
                    )
                    .map_err(|error| internal(error.to_string()))?;
            }
            shares.push(StepShare {
                tokens: tokens.len(),
                from,
                row: whole.then(|| self.batch.n_tokens() - 1),
            });
        }
        if self.batch.n_tokens() == 0 {
            return Ok(());
        }
        self.context
            .decode(&mut self.batch)
            .map_err(|error| internal(format!("the local model failed: {error}")))?;
        self.context.synchronize();
        for (answering, share) in std::mem::take(&mut self.answering).into_iter().zip(shares) {
            self.slots.evaluated(answering.slot, share.tokens);
            if let Some(row) = share.row {
                self.choose(answering, row);
                continue;
            }
            if share.from < answering.prompt {
                answering.report_reading(share.from + share.tokens);
            }
            self.answering.push(answering);
        }
        Ok(())
    }

    fn choose(&mut self, mut answering: ActiveJob, row: i32) {
        match answering
            .writer
            .choose(self.model, self.context.get_logits_ith(row))
        {
            Ok(Some(token)) => {
                answering.begin_writing();
                self.go_on(answering, &[token]);
            }
            Ok(None) => self.end(&answering, StopReason::End),
            Err(failure) => self.fail(&answering, failure),
        }
    }

    /// Adds the chosen token and those that the schema forces after it, reports them, and ends a
    /// complete answer.
    pub(super) fn go_on(&mut self, mut answering: ActiveJob, chosen: &[i32]) {
        let mut tokens = chosen.to_vec();
        match answering.writer.forced(self.model) {
            Ok(forced) => tokens.extend(forced),
            Err(failure) => return self.fail(&answering, failure),
        }
        let fitted = self.slots.push(answering.slot, &tokens);
        answering.usage.output += u64::try_from(fitted).unwrap_or(0);
        if !chosen.is_empty() {
            answering.report_writing();
        }
        // Text that the schema forces before the prompt is read does not show that an answer began.
        if !chosen.is_empty()
            && let Some(text) = answering.writer.news()
        {
            let _ = answering
                .job
                .events
                .send(JobEvent::Delta(Delta::Text(text)));
        }
        if answering.writer.ended() {
            self.end(&answering, StopReason::End);
        } else if fitted < tokens.len() || self.slots.waiting(answering.slot) == 0 {
            self.end(&answering, StopReason::Length);
        } else {
            self.answering.push(answering);
        }
    }

    fn end(&mut self, answering: &ActiveJob, stop: StopReason) {
        self.slots.finish(answering.slot);
        let reply = Reply {
            text: answering.writer.answer(),
            stop,
            usage: answering.usage,
            served_model: Some(self.file.clone()),
            reported_cost: None,
            plan: None,
        };
        let _ = answering.job.events.send(JobEvent::Done(Ok(reply)));
    }

    fn fail(&mut self, answering: &ActiveJob, failure: Failure) {
        self.slots.finish(answering.slot);
        let failure = Failure {
            usage: Some(Box::new(answering.usage)),
            partial: answering.writer.text(),
            ..failure
        };
        let _ = answering.job.events.send(JobEvent::Done(Err(failure)));
    }

    /// Ends all open calls after a failed step and clears the cache, whose contents are unknown
    /// then.
    pub(super) fn fail_all(&mut self, failure: &Failure) {
        for answering in std::mem::take(&mut self.answering) {
            self.fail(&answering, failure.clone());
        }
        self.context.clear_kv_cache();
        self.slots.clear();
    }
}
