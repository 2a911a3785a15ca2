"""The pages of docs/python: every block with prompts is run, and prints what it shows."""

import doctest
import pathlib
import re

import pytest

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python"


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_a_page_shows_what_happens(page):
    for package in ("networkx", "pandas"):
        pytest.importorskip(package)
    text = (PAGES / page).read_text("utf-8")
    blocks = "".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))
    assert ">>>" in blocks
    test = doctest.DocTestParser().get_doctest(blocks, {}, page, str(PAGES / page), 0)
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)
