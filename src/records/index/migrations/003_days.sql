-- What all consultations that began on one day in UTC say together: sums that are added up where many are asked for. A day is summed up
-- again when one of its consultations has changed: whoever writes puts it into `stale_days`, whoever reads takes it out.

CREATE TABLE stale_days (
  -- 2026-11-21
  day TEXT PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE days (
  day TEXT PRIMARY KEY,
  total INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  aborted INTEGER NOT NULL,
  micro_usd INTEGER NOT NULL,
  -- How many cost at least what is known, or an amount that nobody knows.
  lower_bound INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  -- Sums over completed consultations; confidences and agreements in millionths.
  duration_ms INTEGER NOT NULL,
  with_confidence INTEGER NOT NULL,
  confidence INTEGER NOT NULL,
  high_confidence INTEGER NOT NULL,
  low_confidence INTEGER NOT NULL,
  with_dissent INTEGER NOT NULL,
  with_agreement INTEGER NOT NULL,
  agreement INTEGER NOT NULL,
  degraded INTEGER NOT NULL,
  debates INTEGER NOT NULL,
  experts_heard INTEGER NOT NULL,
  experts_changed INTEGER NOT NULL,
  confidence_rise INTEGER NOT NULL,
  confidence_rise_of INTEGER NOT NULL,
  high_value INTEGER NOT NULL,
  compared INTEGER NOT NULL,
  verdict_changed INTEGER NOT NULL,
  later_rounds_micro_usd INTEGER NOT NULL,
  later_rounds_lower_bound INTEGER NOT NULL,
  early_terminations INTEGER NOT NULL,
  saved_micro_usd INTEGER NOT NULL,
  -- The consultations that stand out, by their keys, each with what it stands out by.
  fastest INTEGER,
  fastest_ms INTEGER,
  slowest INTEGER,
  slowest_ms INTEGER,
  dearest INTEGER,
  dearest_micro_usd INTEGER,
  dearest_lower_bound INTEGER,
  cheapest INTEGER,
  cheapest_micro_usd INTEGER,
  -- Durations of completed consultations in milliseconds, each as four bytes, least first.
  durations BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE model_days (
  day TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  hedges_won INTEGER NOT NULL,
  micro_usd INTEGER NOT NULL,
  -- How many calls cost at least what is known.
  lower_bound INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  -- Milliseconds to the first sign of an answer of each call that gave one, each as four bytes, least first.
  first_tokens BLOB NOT NULL,
  PRIMARY KEY (day, provider, model)
) WITHOUT ROWID;

INSERT OR IGNORE INTO stale_days(day) SELECT DISTINCT substr(created_at, 1, 10) FROM consultations;
