"""Run the cells of a notebook in order and write below each what it printed and what its last line is worth.

Invariant: a notebook is run as the blocks of a page are: one namespace, one empty folder, the offline model. What is written is
the form 4.5 of Jupyter's notebooks, without counts and ids of a session, so that it changes only where an output does.
Source: docs/decisions/0135.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import warnings
from pathlib import Path
from typing import Any

from scripts.page_blocks import ROOT, reader, steady

EXAMPLES = ROOT / "examples"
Cell = dict[str, Any]


def drawn(path: Path) -> str:
    """Return the notebook with what its cells give now. An output that differs only in what varies is left as it is."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with warnings.catch_warnings(), reader():
        warnings.simplefilter("ignore")
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                outputs = _run("".join(cell["source"]), namespace)
                if steady(json.dumps(outputs)) != steady(json.dumps(cell["outputs"])):
                    cell["outputs"] = outputs
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def markdown(path: Path) -> str:
    """Return a notebook as a page."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        outputs = cell.get("outputs", ())
        drawn_ones = ["".join(output.get("data", {}).get("text/html", ())) for output in outputs]
        plain = [
            output.get("text") or output["data"]["text/plain"]
            for output, html in zip(outputs, drawn_ones, strict=True)
            if not html
        ]
        shown = "".join("".join(lines) for lines in plain)
        parts += [f"```output\n{shown.rstrip()}\n```"] if shown.strip() else []
        parts += [" ".join(html.split()) for html in drawn_ones if html]  # one line, which Markdown leaves as it is
    return "\n\n".join(parts) + "\n"


def _run(code: str, namespace: dict[str, Any]) -> list[Cell]:
    *body, last = ast.parse(code).body or [ast.Pass()]
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(body, []), "cell", "exec"), namespace)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
        else:
            exec(compile(ast.Module([*body, last], []), "cell", "exec"), namespace)
    outputs: list[Cell] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        outputs.append({"data": _forms(value), "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _forms(value: object) -> dict[str, list[str]]:
    draw = getattr(value, "_repr_html_", None)
    if draw is None:
        return {"text/plain": repr(value).splitlines(keepends=True)}
    return {"text/plain": [f"<{type(value).__name__}>"], "text/html": draw().splitlines(keepends=True)}


def main() -> None:
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        path.write_text(drawn(path), encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
