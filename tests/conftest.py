"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# In CI the examples are the same in every run: what is random is tried by people, and by `make slow`.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
