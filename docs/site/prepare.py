"""Prepares the source of the documentation in target/docs/source: copies pages, and generates pages with `lasthop`."""

import catalogue
import columns
import commands
import gallery
import keys
import lab
import pages
import python_api
from program import PROGRAM


def main():
    if not PROGRAM.exists():
        raise SystemExit(f"site: {PROGRAM} is missing: cargo build --release, or set LASTHOP to a program")
    outside = pages.copy()
    made = {
        "commands": commands.pages(),
        "keys": keys.pages(),
        "mechanisms and ready paths": catalogue.pages(),
        "columns": columns.pages(),
        "names in Python": python_api.pages(),
        "pictures": gallery.pages(),
        "lessons": lab.pages(),
    }
    print("site: made from the program:", ", ".join(f"{count} {what}" for what, count in made.items()))
    print(f"site: {outside} links to files of the repository are shown as paths")


if __name__ == "__main__":
    main()
