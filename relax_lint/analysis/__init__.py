"""Data flow over one function or program: no provers, no claims, no verdicts. Imports `sources` and below."""

# It says how much sympy keeps before anything else imports that.
import relax_lint.symbolic as _symbolic  # noqa: F401
