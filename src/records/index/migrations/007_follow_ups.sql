-- The consultation that a question follows up; earlier versions knew no follow-ups. The record of
-- the earlier one is not rewritten: its follow-ups are found from here.

ALTER TABLE consultations ADD COLUMN follow_up_of TEXT;

CREATE INDEX idx_consultations_follow_up_of ON consultations(follow_up_of, id)
  WHERE follow_up_of IS NOT NULL;
