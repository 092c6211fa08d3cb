"""The pages and pictures that code writes are as the code writes them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
import tvm

from relax_lint_rules import RULES
from tools import doc_tables, pictures, tvm_checks


def test_the_rule_index_is_up_to_date() -> None:
    assert doc_tables.PAGE.read_text(encoding="utf-8") == doc_tables.index(), "run `make pages`"


def test_every_rule_is_in_the_index_once() -> None:
    text = doc_tables.index()
    assert [rule.code for rule in RULES if text.count(f"[{rule.code}](") != 1] == []


def test_the_pictures_are_up_to_date() -> None:
    assert list(pictures.stale()) == [], "run `make pages`"


@pytest.mark.parametrize("name", pictures.pictures())
def test_a_picture_is_drawn_inside_its_frame(name: str) -> None:
    root = ElementTree.fromstring(pictures.pictures()[name])
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for part in root:
        if "x" in part.attrib:
            assert 0 <= float(part.attrib["x"]) <= width - float(part.attrib.get("width", 0))
            assert 0 <= float(part.attrib["y"]) <= height


def test_what_tvm_checks_is_what_the_page_says() -> None:
    text = Path(tvm_checks.PAGE).read_text(encoding="utf-8")
    if f"with TVM {tvm.__version__}:" not in text:
        pytest.skip(f"the page was written with another version than {tvm.__version__}")
    assert text == tvm_checks.text(), "run `make pages`"
