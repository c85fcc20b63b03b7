"""Writes the pages of mechanisms and ready paths: one page for each kind, and one page for each mechanism."""

import json
import re
import shlex
from typing import NamedTuple

from markdown import cell, contents, escaped, rows, sections, slug, table
from program import lasthop, write


class Kind(NamedTuple):
    """A kind of mechanism: its title, the page that explains it, and the three parts of its "try it" commands.

    Such a command runs the ready path `path`. It compares the value `base` of `key` with another mechanism.
    """

    title: str
    page: str | None
    key: str
    base: str
    path: str = "umts"


KINDS = {
    "recovery": Kind("Loss recovery", "explanation/loss-recovery-in-pictures", "recovery", "reno"),
    "reduction": Kind("Window reduction", None, "reduction", "at_once"),
    "slow_start": Kind("Slow start exit", "explanation/senders", "slow_start", "none"),
    "pacing": Kind("Pacing", "explanation/senders", "pacing", "control"),
    "congestion": Kind("Congestion control", "explanation/senders", "congestion", "reno"),
    "ack_counting": Kind("ACK counting", None, "ack_counting", "rfc5681"),
    "sender.loss_discrimination": Kind(
        "Loss discrimination, sender", "explanation/senders", "sender.loss_discrimination", "always"
    ),
    "ack_policy": Kind("ACK policy", None, "ack_policy", "immediate"),
    "ack_splitting": Kind("ACK splitting", "explanation/loss-cause", "ack_splitting", "once"),
    "ecn_echo": Kind("ECN echo", None, "ecn_echo", "latched"),
    "window": Kind("Advertised window", "explanation/agent-inside", "window", "buffer"),
    "receiver.loss_discrimination": Kind(
        "Loss discrimination, receiver", "explanation/loss-cause", "receiver.loss_discrimination", "always"
    ),
    "window_estimate": Kind("Window estimate", None, "window_estimate", "rate_times_rtt"),
    "queue": Kind("Queue", "explanation/routers", "wireless.down.queue", "drop_tail"),
    "channel": Kind("Channel", "explanation/links/losses", "wireless.down.channel", "none"),
    "arq": Kind("Link layer", "explanation/links/index", "wireless.arq", "none"),
    "jitter": Kind("Jitter", "explanation/links/jitter", "wireless.down.jitter", "none"),
    "middlebox": Kind("Middlebox", "explanation/middleboxes", "middlebox", "none", "wavelan"),
    "stack": Kind("QUIC stack", "explanation/quic", "stack", "noq"),
    "profile": Kind("Profile", "development/validation/linux", "profile", "plain"),
    "path": Kind("Ready path", "explanation/links/index", "", ""),
}

# Additional flags without which a mechanism would have no effect in its "try it" command.
NEEDS = {
    "ack_splitting split": "--set receiver.loss_discrimination=jtcp",
    "receiver.loss_discrimination *": "--set ack_splitting=split",
    "receiver.loss_discrimination hack": "--set sender.loss_discrimination=hack",
    "ecn_echo *": "--set wireless.down.queue=codel --set ecn=true",
    "congestion prague": "--set wireless.down.queue=dualpi2 --set ecn=true",
    "channel scripted": "--set wireless.down.channel.lose=[14,26]",
}

# "Try it" commands of mechanisms that need parameters.
LINES = {
    "channel two_state": "lasthop compare rate=10Mbit/s,rtt=40ms,loss=1% --vary burst=1,5",
    "arq harq": "lasthop compare lte-am --vary wireless.arq.transmissions=1,4",
    "arq wifi": "lasthop compare rate=54Mbit/s,rtt=20ms,queue=200packets --set path.arq=wifi --vary path.arq.frames=1,64",
}


def entries():
    """Returns the entries of `lasthop list`, grouped by kind, in the order of the list."""
    found = {}
    for line in lasthop("list", "--format", "json").splitlines():
        entry = json.loads(line)
        found.setdefault(entry["kind"], []).append(entry)
    return found


def kind_of(name):
    """Returns the kind with this name. For a name that `KINDS` lacks, the name becomes the title and the key."""
    return KINDS.get(name) or Kind(name.replace("_", " ").capitalize(), None, name, "none")


def try_line(kind, name):
    """Returns a command that shows the effect of a mechanism or a ready path."""
    if kind == "path":
        return f"lasthop run {name}"
    if line := LINES.get(f"{kind} {name}"):
        return line
    about = kind_of(kind)
    base = about.base
    if name == base:
        base = next(entry["name"] for entry in entries()[kind] if entry["name"] != name)
    needs = NEEDS.get(f"{kind} {name}") or NEEDS.get(f"{kind} *")
    vary = shlex.quote(f"{about.key}={base},{name}")
    return f"lasthop compare {about.path} --vary {vary}" + (f" {needs}" if needs else "")


def pages():
    """Writes all pages of the catalogue. Returns the number of entries."""
    found = entries()
    bodies = _bodies(found)
    for kind, listed in found.items():
        about = kind_of(kind)
        write(f"reference/catalogue/{slug(kind)}.md", _kind_page(kind, about, listed))
        for entry in listed:
            write(f"reference/catalogue/{_slug(entry)}.md", _page(entry, about, bodies.get(_slug(entry), "")))
    total = sum(map(len, found.values()))
    write(
        "reference/catalogue/index.md",
        f"# Catalogue\n\n{total} mechanisms and ready paths of {len(found)} kinds, each with its source and parameters. "
        "In the terminal: `lasthop list`, `lasthop explain NAME`.\n\n"
        + table(
            ["kind", "names"],
            [
                [f"[{kind_of(kind).title}]({slug(kind)}.md)", ", ".join(_link(entry) for entry in listed)]
                for kind, listed in found.items()
            ],
        )
        + "\n\n"
        + "\n\nFor each rule's source see [Sources](sources.md).\n\n"
        + contents([*(slug(kind) for kind in found), "sources"], ":hidden:")
        + "\n",
    )
    write("reference/catalogue/sources.md", _sources(found))
    return total


# Words in the citation of a mechanism. If a citation contains one of them, we read only a part of the cited work, or
# added a part ourselves.
PARTIAL = re.compile(
    r"memory|abstract|survey|description|lecture|described|quote|not at hand|our construction|ours",
    re.IGNORECASE,
)


def _sources(found):
    listed = [entry for kind in found if kind != "path" for entry in found[kind]]
    partial = [entry for entry in listed if PARTIAL.search(entry["source"])]
    whole = [entry for entry in listed if entry not in partial]
    lines = lambda entries: table(
        ["mechanism", "kind", "source"],
        [[_link(entry), kind_of(entry["kind"]).title, cell(escaped(entry["source"]))] for entry in entries],
    )
    return (
        "# Sources\n\n`lasthop list` prints the same sources. Numbers of ready paths: [ready paths](path.md).\n\n"
        "## Read in part, or completed here\n\n"
        "Each source names the part that we read, and the part that we wrote from memory or designed ourselves.\n\n"
        f"{lines(partial)}\n\n## Other mechanisms\n\n"
        "{doc}`/explanation/senders` and {doc}`/explanation/routers` state which of these texts we had.\n\n"
        f"{lines(whole)}\n"
    )


def _slug(entry):
    return slug(f"{entry['kind']}-{entry['name']}")


def _link(entry):
    return f"[`{entry['name']}`]({_slug(entry)}.md)"


def _bodies(found):
    """Returns the reference's sections on mechanisms, by slug. Mechanisms of sender and receiver may have the same
    title."""
    expected = {}
    for kind, listed in found.items():
        for entry in listed:
            expected.setdefault(f'{kind.rsplit(".")[-1]} = "{entry["name"]}"', []).append(_slug(entry))
    bodies = {}
    for part in sections():
        if expected.get(part.title):
            bodies[expected[part.title].pop(0)] = part.body
    return bodies


def _places(kind):
    """Returns links to the pages of scenario tables that have a key for mechanisms of this kind."""
    key = f"`{kind.rsplit('.')[-1]}`"
    side = kind.split(".")[0] if "." in kind else ""
    found = []
    for part in sections():
        if part.chapter == "Scenario keys" and part.title.startswith("[") and side in part.title:
            if any(row[0] == key for row in rows(part.body)):
                found.append(f"[`{part.title}`](../scenario/{slug(part.title)}.md)")
    return found


def _explained(about):
    return f"Explained in {{doc}}`/{about.page}`." if about.page else ""


def _kind_page(kind, about, listed):
    head = f"(kind-{slug(kind)})=\n# {about.title}\n\n"
    if kind == "path":
        text = "Scenarios that are part of the program: `lasthop run NAME`, `lasthop show NAME`."
    else:
        places = _places(kind)
        text = f"Key `{kind.rsplit('.')[-1]}`" + (f" of {' and '.join(places)}" if places else "") + "."
    lines = [
        [_link(entry), cell(escaped(entry["summary"])), cell(escaped(entry["source"]))] for entry in listed
    ]
    return (
        f"{head}{text} {_explained(about)}\n\n"
        + table(["name", "meaning", "source"], lines)
        + "\n\n"
        + contents([_slug(entry) for entry in listed], ":hidden:")
        + "\n"
    )


def _page(entry, about, body):
    kind, name = entry["kind"], entry["name"]
    parameters = rows(body)
    out = [f"(mechanism-{_slug(entry)})=\n# {name}"]
    out.append(f"{about.title}: {escaped(entry['summary'])}.")
    if kind == "path":
        out += ["## Try it", f"```sh\n{try_line(kind, name)}\n```"]
        out += [f"Source of this path's numbers: {escaped(entry['source'])}."]
        out += [
            "## Scenario",
            f"`lasthop show {name} > mine.toml` writes this scenario to a file.",
            f"```toml\n{lasthop('show', name).strip()}\n```",
        ]
        return "\n\n".join(out) + "\n"
    key = kind.rsplit(".")[-1]
    out.append(f"Source: {escaped(entry['source'])}.")
    out += ["## Use", f'```toml\n{key} = "{name}"\n```']
    if places := _places(kind):
        out.append(f"In {' or '.join(places)}. {_explained(about)}")
    out += ["## Try it", f"```sh\n{try_line(kind, name)}\n```"]
    out.append("## Parameters")
    if parameters:
        marked = [[f'<span id="{slug(row[0])}"></span>{row[0]}', *row[1:]] for row in parameters]
        out.append(table(["parameter", "meaning", "values"], marked))
        first = re.sub(r"`", "", parameters[0][0])
        out.append(
            f'Set a parameter together with the name: `{key} = {{ kind = "{name}", {first} = … }}`, '
            f"or `--set …{key}.{first}=…`."
        )
    else:
        out.append(f"`{name}` has no parameters.")
    return "\n\n".join(out) + "\n"
