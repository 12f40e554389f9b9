-- Few calls fail, win as hedges or have an unknown cost: these are counted from an index of their
-- own, so that the sums over all calls read less.

DROP INDEX idx_calls_model;
CREATE INDEX idx_calls_model ON calls(
  provider, model, first_token_ms, micro_usd, input_tokens, output_tokens
);
CREATE INDEX idx_calls_exceptions ON calls(provider, model, failed, hedge_won, lower_bound)
  WHERE failed OR hedge_won OR lower_bound;
