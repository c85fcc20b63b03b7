"""Tables that other libraries read by Arrow's PyCapsule interface."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lasthop._error import Error
from lasthop._extra import needs

if TYPE_CHECKING:
    import pandas
    import polars

    from lasthop import _lasthop


class Table:
    """Named columns of equal length; each name includes its unit (`goodput_kbps`).

    Libraries with Arrow's PyCapsule interface read a table without a copy: `pyarrow.table(t)`, `polars.DataFrame(t)`,
    `duckdb.sql("from t")`.
    """

    __slots__ = ("_table",)

    def __init__(self, table: _lasthop.Table) -> None:
        self._table = table

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return self._table.column_names

    def __len__(self) -> int:
        return self._table.num_rows

    def __getitem__(self, name: str) -> list[Any]:
        """Values of a column; an undefined value is None."""
        return self._table.column(name)

    def doc(self, name: str) -> str:
        """Meaning of a column, one line."""
        return self._table.doc(name)

    def to_dict(self) -> dict[str, list[Any]]:
        """Returns the values of all columns, by name."""
        return {name: self[name] for name in self.column_names}

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a pandas data frame. If pyarrow is installed, no intermediate lists are needed."""
        with needs("to_pandas", "pandas"):
            import pandas

        try:
            import pyarrow  # type: ignore[import-untyped]
        except ImportError:
            columns = self.to_dict()
            series = {
                name: pandas.Series(columns[name], dtype="float64" if kind == "Float64" else None)
                for name, kind in zip(self.column_names, self._table.column_types, strict=True)
            }
            return pandas.DataFrame(series)
        frame: pandas.DataFrame = pyarrow.table(self).to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Returns a polars data frame."""
        with needs("to_polars", "polars"):
            import polars

        return polars.DataFrame(self)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes a Parquet file; needs pyarrow or polars. A failed write leaves no file."""
        target = os.fspath(path)
        half = f"{target}.part"
        try:
            try:
                from pyarrow import parquet, table
            except ImportError:
                try:
                    frame = self.to_polars()
                except Error:
                    raise Error(
                        "to_parquet needs pyarrow or polars, and neither is installed", "pip install pyarrow"
                    ) from None
                frame.write_parquet(half)
            else:
                parquet.write_table(table(self), half)
            os.replace(half, target)
        except OSError as error:
            raise Error(f"cannot write `{target}`: {error.strerror or error}", "choose another path") from error
        finally:
            if os.path.exists(half):
                os.remove(half)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<lasthop.Table of {len(self)} rows: {', '.join(self.column_names)}>"

    def _repr_html_(self) -> str:
        """Returns a table of the first rows as HTML, which notebooks show."""
        from html import escape

        shown = min(len(self), 10)
        columns = self.to_dict()
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{escape(_short(values[row]))}</td>" for values in columns.values())
            + "</tr>"
            for row in range(shown)
        )
        return f"<table><tr>{head}</tr>{body}</table><p>{shown} of {len(self)} rows</p>"


def _short(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
