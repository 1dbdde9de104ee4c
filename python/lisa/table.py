"""Tables in Arrow's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from lisa.checks import checked
from lisa.errors import ArgumentError
from lisa.optional import load

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from lisa import _native

Library = Literal["pandas", "polars"]


class Framed:
    """What has a table of results: it is in pandas or polars, too."""

    def to_arrow(self) -> Any:
        """The table, as an object with the Arrow PyCapsule interface."""
        raise NotImplementedError

    def to_pyarrow(self) -> pyarrow.Table:
        """The table in pyarrow, without a copy.

        Raises:
            MissingPackage: Without pyarrow.
        """
        return load("pyarrow", "pandas").table(self.to_arrow())

    def to_pandas(self) -> pandas.DataFrame:
        """The table in pandas, without a copy: the columns have Arrow's types (``pandas.ArrowDtype``), and a missing value is
        ``<NA>``.

        Raises:
            MissingPackage: Without pandas or pyarrow.
        """
        of_arrow = load("pandas", "pandas").ArrowDtype
        frame: pandas.DataFrame = self.to_pyarrow().to_pandas(types_mapper=of_arrow)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The table in polars, without a copy.

        Raises:
            MissingPackage: Without polars.
        """
        frame: polars.DataFrame = load("polars", "polars").DataFrame(self.to_arrow())
        return frame

    @overload
    def to_frame(self, library: Literal["pandas"] = "pandas") -> pandas.DataFrame: ...
    @overload
    def to_frame(self, library: Literal["polars"]) -> polars.DataFrame: ...
    @checked
    def to_frame(self, library: Library = "pandas") -> Any:
        """The table in pandas or polars.

        Args:
            library: ``"pandas"`` or ``"polars"``.

        Raises:
            ArgumentError: For another library.
            MissingPackage: Without the library.
        """
        if library == "pandas":
            return self.to_pandas()
        if library == "polars":
            return self.to_polars()
        raise ArgumentError(f"library {library}: one of pandas, polars")


class Table(Framed):
    """Named columns in Arrow's memory format.

    Any library that reads the Arrow PyCapsule interface takes a table as it is: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``, ``duckdb.from_arrow(table)``. The columns are not copied.
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<lisa.Table: {len(self)} rows of {', '.join(self.column_names)}>"

    def __str__(self) -> str:
        from lisa.html import rows

        return rows(self).text()

    def _repr_html_(self) -> str:
        from lisa.html import rows

        return rows(self).html()

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self._native.column_names

    def column(self, name: str) -> list[Any]:
        """Values of a column as a list; a missing value is ``None``.

        Args:
            name: Name of the column.

        Raises:
            KeyError: For a name that no column has.
        """
        return self._native.column(name)

    def to_arrow(self) -> Table:
        """The table itself."""
        return self
