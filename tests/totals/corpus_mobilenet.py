"""The smallest of the image classifiers, for a symbolic number of images."""

from __future__ import annotations

from tests.totals.cases import Case
from tests.totals.corpus_vision import symbolic

CASES: list[Case] = [symbolic("mobilenet_v3_small")]
