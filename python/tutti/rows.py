"""Rows of results, and their units. A name means one thing in all of Tutti, and its end says the unit:
the one rule from which `DataFrame.attrs["units"]` follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional

if TYPE_CHECKING:
    import pandas

_UNITS = {"_bytes_per_s": "bytes/s", "_per_s": "1/s", "_bytes": "bytes", "_ps": "ps", "_seconds": "s", "_s": "s"}


def unit_of(column: str) -> Optional[str]:
    """The unit of a column by its name ("collective_time_ps": "ps"); None where it has none."""
    return next((unit for end, unit in _UNITS.items() if f"_{column}".endswith(end)), None)


def frame(data: Any, **attrs: object) -> pandas.DataFrame:
    """A DataFrame with the units of its columns in `attrs["units"]`, and further attributes."""
    import pandas

    made = pandas.DataFrame(data)
    made.attrs["units"] = {str(c): unit_of(str(c)) for c in made.columns if unit_of(str(c))}
    made.attrs.update(attrs)
    return made


class Rows(list[dict[str, Any]]):
    """A list of dictionaries, one for each row, as the command's JSON has them."""

    def __init__(self, rows: Iterable[Mapping[str, Any]] = (), units: Optional[Mapping[str, str]] = None):
        super().__init__(dict(row) for row in rows)
        self.units = dict(units or {})

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame without their details; units are in `attrs["units"]`."""
        made = frame([{k: v for k, v in row.items() if k != "details"} for row in self])
        made.attrs["units"].update(self.units)
        return made

    def _repr_html_(self) -> str:
        return str(self.to_pandas()._repr_html_())
