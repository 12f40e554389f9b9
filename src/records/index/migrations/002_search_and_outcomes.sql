-- Full-text search over questions and answers, and what became of an answer.

ALTER TABLE consultations ADD COLUMN outcome TEXT;
ALTER TABLE consultations ADD COLUMN outcome_note TEXT;
ALTER TABLE consultations ADD COLUMN outcome_at TEXT;

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

INSERT INTO consultations_text(consultations_text) VALUES ('rebuild');

-- Consultations that have begun, as long as their process has not brought their rows.
CREATE TABLE open_consultations (
  id TEXT PRIMARY KEY,
  began_at TEXT NOT NULL
) WITHOUT ROWID;
