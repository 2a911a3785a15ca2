"""The notebooks: each cell runs, in order, and the last one leaves a picture."""

import ast
import json
import pathlib

import pytest

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[2] / "python" / "notebooks"
FAST = "swing"


def run(path):
    """The value of the last expression, and the names that are left."""
    names, value = {"__name__": "__main__"}, None
    for i, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"{path.name}, cell {i}")
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, tree.body and f"{path.name}, cell {i}" or path.name, "exec"), names)
        value = eval(compile(last, f"{path.name}, cell {i}", "eval"), names) if last else None
    return value, names


@pytest.mark.parametrize("name", [pytest.param(path.stem, marks=[] if path.stem == FAST else [pytest.mark.slow])
                                  for path in sorted(NOTEBOOKS.glob("*.ipynb"))])
def test_a_notebook_ends_with_a_picture(name, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("pandas")
    pytest.importorskip("networkx")
    monkeypatch.chdir(tmp_path)
    value, _ = run(NOTEBOOKS / f"{name}.ipynb")
    drawn = [axes for number in plt.get_fignums() for axes in plt.figure(number).axes if axes.lines or axes.patches]
    assert drawn or value._repr_svg_().count("<svg") == 1
    for number in plt.get_fignums():
        plt.figure(number).savefig(tmp_path / f"{number}.svg")
    plt.close("all")


def test_notebooks_are_kept_without_outputs():
    for path in NOTEBOOKS.glob("*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells), path.name
