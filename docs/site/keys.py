"""Writes the pages of the scenario keys from `lasthop help reference`: one page for each table of the scenario."""

from markdown import contents, rows, sections, slug, table
from program import lasthop, write

# Sections of the first chapter that belong to the page of units. The other sections belong to the index of scenario
# keys.
UNITS = ("Units", "Queues in bandwidth-delay products")


def pages():
    """Writes the pages of tables, units, topologies and the schema. Returns the number of keys."""
    names, count = [], 0
    for part in sections():
        if part.chapter != "Scenario keys" or ' = "' in part.title and not part.title.startswith("[flow"):
            continue
        name = slug(part.title)
        names.append(name)
        keys = rows(part.body)
        count += len(keys)
        write(f"reference/scenario/{name}.md", _page(part, name, keys))
    first = [part for part in sections() if part.chapter == "Reference" and part.title not in UNITS]
    write(
        "reference/scenario/index.md",
        "# Scenario keys\n\nA scenario is a TOML file, a ready path, or one line. "
        "Each table of the file has a page; `lasthop explain KEY` explains one key. "
        "Parameters of mechanisms are in the [catalogue](../catalogue/index.md).\n\n"
        + contents([*names, "topologies"], ":maxdepth: 1")
        + "\n\n"
        + "\n\n".join(f"## {part.title}\n\n{part.body}" for part in first)
        + "\n",
    )
    units = [part for part in sections() if part.title in UNITS]
    write("reference/units.md", "# Units\n\n" + "\n\n".join(_unit(part) for part in units) + "\n")
    shapes = [part for part in sections() if part.chapter == "Topologies with several flows"]
    write(
        "reference/scenario/topologies.md",
        "# Topologies with several flows\n\n"
        + "\n\n".join(f"## {part.title}\n\n{part.body}" for part in shapes)
        + "\n",
    )
    schema()
    return count


def _unit(part):
    return part.body if part.title == "Units" else f"## {part.title}\n\n{part.body}"


def _page(part, name, keys):
    before = part.body.split("\n|")[0] if keys else part.body
    head = ["key", "meaning", "values"]
    marked = [[f'<span id="{name}-{slug(key)}"></span>{key}', *rest] for key, *rest in keys]
    return (
        f"({'keys-' + name})=\n# {part.title}\n\n{before.strip()}\n\n{table(head, marked) if keys else ''}\n"
    )


def schema():
    """Writes the JSON Schema, and a page that explains how to use the schema."""
    write("_static/scenario.schema.json", lasthop("schema"))
    write(
        "reference/schema.md",
        "# JSON Schema\n\n`lasthop schema` prints the JSON Schema of scenario files (draft 2020-12). Editors with a "
        "TOML language server complete and check keys with it.\n\n"
        "```sh\nlasthop schema > lasthop.schema.json\n```\n\n"
        "In the first line of a scenario, for editors with Taplo (Even Better TOML):\n\n"
        "```toml\n#:schema ./lasthop.schema.json\n```\n\n"
        '<a href="../_static/scenario.schema.json">The schema of this version</a>\n',
    )
