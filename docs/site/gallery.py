"""Draws the pictures of the gallery and of the showcases, and writes the gallery's page. A command draws each picture.

To add a picture to the gallery, append a `Picture` whose command ends with `--figure FILE.svg`. A showcase is a page
with a picture of its own: the comment `<!-- figure: COMMAND -->` is replaced by the picture that COMMAND draws. A
comment `<!-- set-up … -->` in this page contains shell commands that create the files for COMMAND. The gallery also
shows the pictures of all showcases.
"""

import html
import os
import re
import shlex
import shutil
import subprocess
from typing import NamedTuple

from program import DOCS, PROGRAM, SOURCE, WORK, lasthop, write

SET_UP = re.compile(r"<!-- set-up\n(.*?)-->", re.DOTALL)
FIGURE = re.compile(r"^<!-- figure: (.*?) -->$", re.MULTILINE)


class Picture(NamedTuple):
    """A picture: its title, the question that it answers, and its command."""

    title: str
    question: str
    command: str


PICTURES = [
    Picture(
        "A UMTS path over time",
        "Is goodput steady on a UMTS path with bit errors and link retransmissions?",
        "lasthop run umts --figure umts.svg",
    ),
    Picture(
        "LTE over time",
        "Does CUBIC fill the queue of a base station?",
        "lasthop run lte --set duration=20s --figure lte.svg",
    ),
    Picture(
        "A handover",
        "Do goodput and queue survive a handover between two LTE cells?",
        "lasthop run lte-handover --figure handover.svg",
    ),
    Picture(
        "Prague beside CUBIC",
        "Do a scalable and a classic flow share one DualPI2 queue fairly?",
        "lasthop run l4s --set duration=20s --figure l4s.svg",
    ),
    Picture(
        "Congestion controls on UMTS",
        "Which congestion control leaves the shortest round trip?",
        "lasthop compare umts --vary congestion=reno,cubic,bbr,bbr3,westwood,veno --metric "
        "mean_rtt_ms --figure controls.svg",
    ),
    Picture(
        "Random loss and eight congestion controls",
        "Which congestion control keeps its goodput if packets are lost at random?",
        "lasthop compare rate=20Mbit/s,rtt=40ms,duration=20s --vary loss=0.01%,0.1%,0.3%,1%,3% "
        "--vary congestion=reno,cubic,illinois,vegas,copa,westwood_plus,bbr,bbr3 --runs 5 --figure "
        "loss.svg",
    ),
    Picture(
        "Loss recovery on a radio link",
        "Does loss recovery decide the goodput on WaveLAN?",
        "lasthop compare wavelan --vary recovery=tahoe,reno,new_reno,sack,rack --figure "
        "recoveries.svg",
    ),
    Picture(
        "Queue disciplines",
        "Which queue discipline leaves the shortest delay?",
        "lasthop compare rate=10Mbit/s,rtt=40ms,duration=20s,start_spread=100ms --vary "
        "queue=4bdp,codel,pie,fq_codel,cake --runs 5 --metric mean_rtt_ms --figure queues.svg",
    ),
    Picture(
        "Transmissions on the link",
        "Do more transmissions by the link layer help TCP?",
        "lasthop compare umts --vary link.wireless.down.arq.transmissions=1,2,3,4,8 --vary "
        "recovery=sack,rack --runs 5 --figure repeats.svg",
    ),
    Picture(
        "Long round trips",
        "Which congestion control keeps its goodput on a long path with random loss?",
        "lasthop compare rate=10Mbit/s,loss=0.1%,duration=30s --vary "
        "rtt=10ms,20ms,50ms,100ms,200ms,500ms --vary congestion=reno,cubic,hybla --runs 5 --figure "
        "long.svg",
    ),
    Picture(
        "ACK splitting over the bit error rate",
        "At which bit error rates does ACK splitting help?",
        "lasthop compare hasegawa --set duration=100s --vary channel.rate=1e-5,3e-5,7e-5,1e-4 "
        "--vary ack_splitting=once,split --runs 5 --figure splitting.svg",
    ),
    Picture(
        "Losses in bursts",
        "Does loss recovery matter if packets are lost in bursts?",
        "lasthop compare rate=10Mbit/s,rtt=40ms,loss=1%,duration=20s --vary burst=1,2,5,10 --vary "
        "recovery=reno,sack,rack --runs 5 --figure bursts.svg",
    ),
    Picture(
        "Fairness of several flows",
        "Do several flows of one congestion control share a bottleneck evenly?",
        "lasthop compare rate=20Mbit/s,rtt=40ms,queue=1bdp,duration=20s,start_spread=100ms --vary "
        "flow.bulk.count=2,4,8,16 --vary congestion=reno,cubic,bbr3 --runs 5 --metric fairness "
        "--figure flows.svg",
    ),
    Picture(
        "Short transfers",
        "Does RACK shorten transfers of every size?",
        "lasthop compare rate=10Mbit/s,rtt=60ms,loss=1%,duration=20s --vary "
        "transfer=10KB,30KB,100KB,300KB,1MB --vary recovery=sack,rack --runs 50 --metric "
        "completed_s --figure transfers.svg",
    ),
    Picture(
        "Snoop at the base station",
        "Do retransmissions by the base station help a path that loses packets on the air?",
        "lasthop compare wavelan --vary middlebox=none,snoop --figure snoop-wavelan.svg",
    ),
    Picture(
        "A deep queue",
        "Does the congestion control decide the round-trip time if the queue holds 500 packets?",
        "lasthop compare rate=10Mbit/s,rtt=40ms,queue=500packets,duration=30s,start_spread=100ms "
        "--vary congestion=reno,cubic,bbr,bbr3,vegas --runs 5 --metric mean_rtt_ms --figure "
        "deep.svg",
    ),
    Picture(
        "ACK policies and byte counting",
        "Do delayed ACKs cost goodput, and does byte counting repair the cost?",
        "lasthop compare rate=10Mbit/s,rtt=40ms,loss=0.5%,duration=20s --vary "
        "ack_policy=delayed,immediate --vary ack_counting=per_ack,bytes --runs 5 --figure acks.svg",
    ),
    Picture(
        "A satellite link",
        "Which sender fills a geostationary link?",
        "lasthop compare geo-modern --vary congestion=reno,cubic,hybla,bbr --runs 5 --figure "
        "geo.svg",
    ),
    Picture(
        "The edge of a Wi-Fi cell",
        "Which sender keeps the queue short at the edge of a Wi-Fi cell?",
        "lasthop compare wifi-edge --vary congestion=reno,cubic,bbr,bbr3 --runs 5 --metric "
        "mean_rtt_ms --figure wifi.svg",
    ),
]


def pages():
    """Draws all pictures and writes the gallery's page. Returns the number of pictures."""
    place = WORK / "gallery"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (SOURCE / "gallery").mkdir(parents=True, exist_ok=True)
    cards = [card(picture, drawn(picture.command, place)) for picture in PICTURES]
    cards += [card(picture, name) for picture, name in showcases()]
    first = SOURCE / "index.md"
    first.write_text(
        first.read_text(encoding="utf-8").replace(
            "<!-- picture -->", "![Mean RTT over a deep queue for five congestion controls](gallery/deep.svg)"
        ),
        encoding="utf-8",
    )
    head = (DOCS / "gallery.md").read_text(encoding="utf-8").rstrip()
    write("gallery.md", head + "\n\n" + "\n\n".join(cards) + "\n")
    return len(cards)


def drawn(command, folder):
    """Runs a command in a folder, and copies its picture to the gallery. Returns the picture's file name."""
    words = shlex.split(command)
    lasthop(*words[1:], cwd=folder)
    name = words[words.index("--figure") + 1]
    shutil.copy(folder / name, SOURCE / "gallery" / name)
    return name


def card(picture, name):
    """Returns the gallery's section of a picture."""
    return (
        f"## {picture.title}\n\n{picture.question}\n\n![{picture.title}](gallery/{name})\n\n"
        f"```sh\n{picture.command}\n```"
    )


def showcases():
    """Draws the pictures of the showcases. Yields each picture with its file name."""
    for page in sorted(SOURCE.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        found = FIGURE.search(text)
        if not found:
            continue
        folder = WORK / "gallery" / page.stem
        folder.mkdir(parents=True)
        for commands in SET_UP.findall(text):
            path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
            subprocess.run(["bash", "-ec", commands], cwd=folder, check=True, env={**os.environ, "PATH": path})
        name = drawn(found[1], folder)
        title = html.unescape(re.search(r"^# (.*)$", text, re.MULTILINE)[1])
        picture = f"![{title}]({os.path.relpath(SOURCE / 'gallery' / name, page.parent)})"
        page.write_text(text.replace(found[0], picture), encoding="utf-8")
        question = f"[The whole answer]({page.relative_to(SOURCE).as_posix()})."
        yield Picture(title, question, found[1]), name
