-- The size of the context of a question, in tokens, and what the caches of the providers saved.
-- NULL is unknown: earlier versions had no context, and stored no savings. The index of sums gets
-- all of it, so that statistics read no row.

ALTER TABLE consultations ADD COLUMN context_tokens INTEGER;
ALTER TABLE consultations ADD COLUMN cache_saved_micro_usd INTEGER;
-- 1 when calls are left out whose saving is unknown.
ALTER TABLE consultations ADD COLUMN cache_saved_incomplete INTEGER NOT NULL DEFAULT 0;

DROP INDEX idx_consultations_sums;
CREATE INDEX idx_consultations_sums ON consultations(
  number, ended, total_micro_usd, lower_bound, total_tokens, duration_ms, confidence, dissent,
  agreement, status, experts_heard, experts_changed, confidence_rise, confidence_rise_of,
  verdict_changed, later_rounds_micro_usd, later_rounds_lower_bound, early_termination,
  saved_micro_usd, project_type, context_tokens, cache_saved_micro_usd, cache_saved_incomplete
);
