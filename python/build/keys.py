"""Prints python/lasthop/keys.py: types for the keys of scenarios, from the engine's JSON Schema.

python python/build/keys.py > python/lasthop/keys.py
"""

import json
import keyword
import textwrap

from lasthop import _lasthop

HEAD = '''"""The names of scenarios as types: editors complete them, and type checkers know them.

Made by python/build/keys.py from the engine's own schema; a test compares the two.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias, TypedDict

from lasthop.strategy import (
    AckPolicy,
    AckSplitting,
    Admission,
    AdvertisedWindow,
    CongestionControl,
    LossDiscriminator,
    Queue,
)
'''

# Keys that accept a Python class.
STRATEGIES = {
    "congestion": ["CongestionControl"],
    "ack_policy": ["AckPolicy"],
    "ack_splitting": ["AckSplitting"],
    "window": ["AdvertisedWindow"],
    "receiver.loss_discrimination": ["LossDiscriminator"],
    "queue": ["Admission", "Queue"],
}


def written(schema: dict) -> str:
    """Returns the text of the module."""
    parts = [HEAD]
    for name, definition in schema["$defs"].items():
        if name != "name":
            parts.append(mechanism(name, definition))
    link = schema["properties"]["link"]["additionalProperties"]
    flow = schema["properties"]["flow"]["additionalProperties"]["anyOf"]
    ends = {"sender": "Sender", "receiver": "Receiver"}
    merged: dict = {}
    for kind in flow:
        for key, value in kind["properties"].items():
            merged.setdefault(key, value)
    merged["kind"] = {
        "enum": [kind["properties"]["kind"]["const"] for kind in flow],
        "description": "traffic of the flow",
    }
    parts.append(table("Direction", link["properties"]["down"]["properties"], {}, "One direction of a link."))
    parts.append(
        table(
            "Link", link["properties"], {"down": "Direction", "up": "Direction"}, "A link between two nodes."
        )
    )
    parts.append(
        table(
            "Node",
            schema["properties"]["node"]["additionalProperties"]["properties"],
            {},
            "A node between links.",
        )
    )
    for key, name in ends.items():
        parts.append(table(name, merged[key]["properties"], {}, f"A flow's {key}."))
    parts.append(table("Flow", merged, ends, "A flow of packets between two nodes."))
    tables = {
        "link": "Mapping[str, Link]",
        "node": "Mapping[str, Node]",
        "flow": "Mapping[str, Flow]",
        "route": "Mapping[str, Mapping[str, str]]",
    }
    parts.append(table("ScenarioKeys", schema["properties"], tables, "A scenario."))
    return "\n\n".join(parts)


def choice(name: str) -> str:
    """Returns the name of the type of a key's values. `name` is the name in the schema: side, dot, key."""
    side, _, key = name.partition(".")
    # Sender and receiver both have this key, so the side is part of the name.
    words = f"{side}_{key}" if key == "loss_discrimination" else key
    return f"{words.title().replace('_', '')}Choice"


def mechanism(name: str, definition: dict) -> str:
    """Returns the type alias of a key for a mechanism: its values are names, a table with parameters, or a class."""
    names = [form["const"] for form in definition["anyOf"] if "const" in form]
    forms = [f"Literal[{', '.join(json.dumps(one) for one in names)}]", "str", "Mapping[str, object]"]
    bases = STRATEGIES.get(name) or STRATEGIES.get(name.partition(".")[2], [])
    forms += [form for base in bases for form in (base, f"type[{base}]")]
    alias = f"{choice(name)}: TypeAlias = {' | '.join(forms)}"
    if len(alias) > 110:
        alias = f"{choice(name)}: TypeAlias = (\n    " + "\n    | ".join(forms) + "\n)"
    return alias + f'\n"""{definition["description"]}"""\n'


def table(name: str, properties: dict, known: dict, doc: str) -> str:
    """Returns the text of a typed dict with a table's keys."""
    reserved = [key for key in properties if keyword.iskeyword(key)]
    base, before = "TypedDict", ""
    if reserved:
        base = f"_{name}Words"
        inner = ", ".join(f'"{key}": {kind(properties[key], known.get(key))}' for key in reserved)
        before = f'{base} = TypedDict("{base}", {{{inner}}}, total=False)\n\n\n'
    lines = [f"{before}class {name}({base}, total=False):", f'    """{doc}"""', ""]
    for key, value in properties.items():
        if key in reserved:
            continue
        lines.append(f"    {key}: {kind(value, known.get(key))}")
        doc_text = value.get("description", "")
        if "default" in value:
            doc_text += f"; {json.dumps(value['default'])} by default"
        if doc_text:
            body = textwrap.fill(doc_text, 110, initial_indent='    """', subsequent_indent="    ")
            lines.append(body.replace("\\", "\\\\") + '"""')
    return "\n".join(lines) + "\n"


def kind(value: dict, known: str | None) -> str:
    """Returns the type of a key's values."""
    if known:
        return known
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[1]
        return "str" if name == "name" else choice(name)
    if "enum" in value:
        words = [json.dumps(word) for word in value["enum"] if isinstance(word, str)]
        if True in value["enum"]:
            return "bool | str"
        return f"Literal[{', '.join(words)}] | str"
    if "anyOf" in value:
        types = [one.get("type") for one in value["anyOf"]]
        for number, python in (("integer", "int | str"), ("number", "float | str")):
            if number in types:
                return python
        return "str"
    return {"integer": "int", "number": "float", "object": "Mapping[str, object]"}.get(
        value.get("type", ""), "str"
    )


if __name__ == "__main__":
    print(written(json.loads(_lasthop.schema())), end="")
