"""The order of a judgement: program, facts, rules, checks, policy. Imports `facts`, `fixes` and below."""
