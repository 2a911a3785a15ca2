"""How Sphinx builds the manual (`./tutti docs`): pages in Markdown (MyST), and the page of columns from
docs/schemas. What a page links to outside docs/ is linked as the file of this clone that it is."""

import os
import pathlib
import sys

from docutils import nodes

docs = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(docs))

import columns_page  # noqa: E402

(docs / "columns.md").write_text(columns_page.page(docs / "schemas"), encoding="utf-8")

project = "Tutti"
copyright = "Tutti contributors, MIT licence"
extensions = ["myst_parser"]
myst_heading_anchors = 3
exclude_patterns = ["schemas/README.md"]
html_theme = "furo"
html_title = "Tutti"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_show_sphinx = False
html_copy_source = False


def link_to_the_clone(app, environment, node, content):
    """A link to what is no page of the manual: a source file, a folder, a result."""
    page = pathlib.Path(environment.doc2path(node["refdoc"])).parent
    target, _, fragment = node["reftarget"].partition("#")
    path = (page / target).resolve()
    if not target or not path.exists():
        return None
    page_folder = pathlib.Path(app.outdir) / os.path.dirname(node["refdoc"])
    link = os.path.relpath(path, page_folder) + ("#" + fragment if fragment else "")
    return nodes.reference("", "", *node.children, internal=False, refuri=link)


def setup(app):
    app.connect("missing-reference", link_to_the_clone)
