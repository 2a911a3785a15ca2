"""What goes wrong: bad input with its place, and work that was interrupted. Infeasible, unsupported
and timed out are no errors but the `status` of an outcome."""

from __future__ import annotations

import re
from typing import Optional

_PLACE = re.compile(r"(?P<file>[^\s:]*/[^\s:]+|[^\s:]+\.\w+|[^\s:]+(?=:\d+:)):"
                    r"(?:(?P<line>\d+):(?:(?P<column>\d+):)?)? ")


class InputError(ValueError):
    """Bad input, in the words that the command has for it: what was found, and what is known.

    `file`, `line` and `column` say where, as far as that is known; else they are None."""

    @property
    def _place(self) -> Optional[re.Match[str]]:
        return _PLACE.match(str(self))

    @property
    def file(self) -> Optional[str]:
        return self._place["file"] if self._place else None

    @property
    def line(self) -> Optional[int]:
        return int(self._place["line"]) if self._place and self._place["line"] else None

    @property
    def column(self) -> Optional[int]:
        return int(self._place["column"]) if self._place and self._place["column"] else None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while Tutti worked. `best` is the best that there was by then, verified: a Schedule of
    `synthesize`, Results of a study, Rows of a sweep; None where there was nothing yet."""

    def __init__(self, best: object = None) -> None:
        super().__init__("interrupted" + ("" if best is None else "; the best so far is in .best"))
        self.best = best

    def __reduce__(self) -> tuple[type, tuple[object]]:
        return type(self), (self.best,)
