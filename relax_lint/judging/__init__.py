"""The order of a judgement: program, facts, rules, plans of remedies, checks. Imports `fixes` and below."""
