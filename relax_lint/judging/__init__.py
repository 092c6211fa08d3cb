"""The order of a judgement: program, facts, rules, plans of remedies, checks. Imports `fixes` and below."""

# It says how much sympy keeps before anything else imports that.
import relax_lint.symbolic as _symbolic  # noqa: F401
