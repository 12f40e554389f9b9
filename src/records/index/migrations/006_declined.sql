-- A consultation whose cost was not agreed to is declined, not aborted: nothing was asked or spent,
-- and no statistic counts it. The index of days gets `ended`, so that they leave it out without
-- reading rows.

UPDATE consultations SET ended = 'declined'
  WHERE ended = 'aborted' AND abort_reason = 'declined' AND writer = 'conclave';

DROP INDEX idx_consultations_created_at;
CREATE INDEX idx_consultations_created_at ON consultations(created_at, total_micro_usd, lower_bound, ended);
