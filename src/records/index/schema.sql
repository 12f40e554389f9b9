-- One row a consultation, agent, round and call. Text is as the record has it; times are RFC 3339 in UTC with milliseconds; money is in
-- whole micro-dollars, with `total_cost` in dollars beside it for people. NULL is unknown, never zero.

CREATE TABLE consultations (
  -- Milliseconds since 1970 times 2^19, plus 19 bits of a hash of the id: sorts by time, and is the same however often it is indexed.
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  question TEXT NOT NULL,
  mode TEXT NOT NULL,
  final_recommendation TEXT,
  confidence REAL,
  total_cost REAL,
  total_micro_usd INTEGER,
  -- 1 when the real cost is at least this.
  lower_bound INTEGER NOT NULL DEFAULT 0,
  -- 1 when a plan pays for a part, which has no price and is left out.
  by_plan INTEGER NOT NULL DEFAULT 0,
  total_tokens INTEGER,
  duration_ms INTEGER,
  created_at TEXT NOT NULL,
  schema_version TEXT,
  state TEXT NOT NULL,
  -- completed, aborted, declined or unfinished
  ended TEXT NOT NULL,
  status TEXT,
  abort_reason TEXT,
  project_type TEXT,
  agreement REAL,
  -- How many entries of dissent the verdict has.
  dissent INTEGER,
  -- 1 when it ended after Round 2, and what the rounds that were left out would have cost.
  early_termination INTEGER NOT NULL DEFAULT 0,
  saved_micro_usd INTEGER,
  -- Experts whose positions were compared; of these, those that held something else at the end.
  experts_heard INTEGER NOT NULL DEFAULT 0,
  experts_changed INTEGER NOT NULL DEFAULT 0,
  -- Sum of the rises in confidence in millionths, and over how many experts.
  confidence_rise INTEGER NOT NULL DEFAULT 0,
  confidence_rise_of INTEGER NOT NULL DEFAULT 0,
  -- Whether the verdict differs from what Round 2 alone would have said.
  verdict_changed INTEGER,
  later_rounds_micro_usd INTEGER,
  later_rounds_lower_bound INTEGER NOT NULL DEFAULT 0,
  -- The user's grade of the answer.
  outcome TEXT,
  outcome_note TEXT,
  outcome_at TEXT,
  -- The consultation that the question follows up, whose own record is not rewritten.
  follow_up_of TEXT,
  -- The consultation whose answers were judged again.
  rejudged_from TEXT,
  -- The size of the context in tokens, and what the caches of the providers saved.
  context_tokens INTEGER,
  cache_saved_micro_usd INTEGER,
  -- 1 when calls are left out whose saving is unknown.
  cache_saved_incomplete INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE consultation_agents (
  number INTEGER NOT NULL REFERENCES consultations(number) ON DELETE CASCADE,
  consultation_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  -- expert or judge
  role TEXT NOT NULL,
  -- What an expert stated in Round 1, or the judge in the verdict.
  confidence REAL,
  -- 1 when it stands behind the answer, 0 when it dissents, NULL when the record does not tell.
  agrees INTEGER,
  PRIMARY KEY (number, agent_id)
) WITHOUT ROWID;

CREATE TABLE consultation_rounds (
  number INTEGER NOT NULL REFERENCES consultations(number) ON DELETE CASCADE,
  consultation_id TEXT NOT NULL,
  round_number INTEGER NOT NULL,
  -- independent, synthesis, cross_exam or verdict
  round_type TEXT NOT NULL,
  duration_ms INTEGER,
  tokens_used INTEGER,
  micro_usd INTEGER,
  lower_bound INTEGER NOT NULL DEFAULT 0,
  -- Computed, not counted up: a row has the same name however often it is indexed.
  id TEXT GENERATED ALWAYS AS (consultation_id || '/' || round_number) VIRTUAL,
  PRIMARY KEY (number, round_number)
) WITHOUT ROWID;

CREATE TABLE calls (
  number INTEGER NOT NULL REFERENCES consultations(number) ON DELETE CASCADE,
  call INTEGER NOT NULL,
  round_number INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  -- The kind of answer that was asked for, and why.
  answer TEXT,
  purpose TEXT,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  -- Why the model stopped; NULL when there was no answer.
  stop TEXT,
  failed INTEGER NOT NULL,
  -- 1 when it was made beside a slow call and brought the answer.
  hedge_won INTEGER NOT NULL DEFAULT 0,
  micro_usd INTEGER NOT NULL,
  lower_bound INTEGER NOT NULL,
  by_plan INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  tokens_estimated INTEGER NOT NULL DEFAULT 0,
  first_token_ms INTEGER,
  duration_ms INTEGER,
  PRIMARY KEY (number, call)
) WITHOUT ROWID;

-- With what one cost, so that the sums of many days need not read the rows themselves.
CREATE INDEX idx_consultations_created_at ON consultations(
  created_at, total_micro_usd, lower_bound, by_plan, ended
);
CREATE INDEX idx_consultations_cost ON consultations(total_cost);
CREATE INDEX idx_consultations_mode ON consultations(mode);
CREATE INDEX idx_consultations_state ON consultations(state);
-- Lists of those that ended in one way, in one mode, and how many these are.
CREATE INDEX idx_consultations_ended ON consultations(ended, mode);
CREATE INDEX idx_consultations_outcome ON consultations(outcome) WHERE outcome IS NOT NULL;

CREATE VIRTUAL TABLE consultations_text USING fts5(
  question,
  final_recommendation,
  content = 'consultations',
  content_rowid = 'number',
  tokenize = 'unicode61 remove_diacritics 2'
);

-- Consultations that have begun, as long as their process has not brought their rows.
CREATE TABLE open_consultations (
  id TEXT PRIMARY KEY,
  began_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX idx_consultations_follow_up_of ON consultations(follow_up_of, id)
  WHERE follow_up_of IS NOT NULL;

-- Statistics read the rows: each of these indexes holds all that one of their queries needs, so
-- that no text is read.
CREATE INDEX idx_consultations_sums ON consultations(
  number, ended, total_micro_usd, lower_bound, by_plan, total_tokens, duration_ms, confidence, dissent,
  agreement, status, experts_heard, experts_changed, confidence_rise, confidence_rise_of,
  verdict_changed, later_rounds_micro_usd, later_rounds_lower_bound, early_termination,
  saved_micro_usd, project_type, context_tokens, cache_saved_micro_usd, cache_saved_incomplete
);
CREATE INDEX idx_consultations_duration ON consultations(ended, duration_ms);
CREATE INDEX idx_calls_model ON calls(
  provider, model, first_token_ms, micro_usd, input_tokens, output_tokens
);
-- Few calls fail, win as hedges, have an unknown cost or are paid by a plan.
CREATE INDEX idx_calls_exceptions ON calls(provider, model, failed, hedge_won, lower_bound, by_plan)
  WHERE failed OR hedge_won OR lower_bound OR by_plan;
