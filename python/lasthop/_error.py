"""Error that reports invalid input."""

from __future__ import annotations


class Error(ValueError):
    """Invalid input: the problem, its place, and its remedy.

    `str(error)` is the text that the command `lasthop` prints: the message, the line of the file with the place
    underlined, and the help.
    """

    message: str
    """Problem, one sentence."""
    help: str | None
    """Remedy."""
    file: str | None
    """File, ready path or "command line" with the problem; None if the problem has no place in a scenario."""
    line: int | None
    """Line in the file, from 1."""
    column: int | None
    """Column in the line, from 1."""
    underlined: str | None
    """Text that is underlined: the place of the problem."""

    def __init__(
        self,
        message: str,
        help: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        underlined: str | None = None,
        drawn: str | None = None,
    ) -> None:
        super().__init__(message, help, file, line, column, underlined, drawn)
        self.message = message
        self.help = help
        self.file = file
        self.line = line
        self.column = column
        self.underlined = underlined
        self._drawn = drawn or f"  × {message}" + (f"\n  help: {help}" if help else "")

    def __str__(self) -> str:
        return "\n" + self._drawn
