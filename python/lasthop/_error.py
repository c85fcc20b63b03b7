"""What is wrong with what the user gave."""

from __future__ import annotations


class Error(ValueError):
    """What the user gave cannot be used; says what, where, and how to mend it.

    `str(error)` is what the command `lasthop` prints: the message, the file with the line underlined, the help.
    """

    message: str
    """What is wrong, one sentence."""
    help: str | None
    """What would be right."""
    file: str | None
    """The scenario's file, ready path or "command line"; None if the mistake is not in a scenario."""
    line: int | None
    """The line in it, from 1."""
    column: int | None
    """The place in the line, from 1."""
    underlined: str | None
    """The text at that place."""

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
