"""Embeds the lab (the simulator as a web page) in a page of full width, and links each lesson to the lab."""

import re

from program import SOURCE, lasthop

FRAME = """
```{raw} html
<iframe class="lab" id="lab" src="_static/lab.html" title="The lab" loading="lazy"></iframe>
<script>document.getElementById("lab").src = "_static/lab.html" + location.hash;</script>
```

<a href="_static/lab.html">The lab on a page of its own</a>
"""


def pages():
    """Exports the lab, embeds it in a page, and links each lesson to the lab. Returns the number of links."""
    (SOURCE / "_static").mkdir(parents=True, exist_ok=True)
    lasthop("lab", "--export", str(SOURCE / "_static/lab.html"))
    page = SOURCE / "lab.md"
    text = page.read_text(encoding="utf-8").rstrip()
    page.write_text(
        "---\nhtml_theme.sidebar_secondary.remove: true\n---\n" + text + "\n" + FRAME,
        encoding="utf-8",
    )
    lessons = SOURCE / "tutorials/lab-lessons.md"
    text = lessons.read_text(encoding="utf-8")
    text, count = re.subn(r"`lab\.html(#[\w-]+)`", r'<a href="../_static/lab.html\1">\1</a>', text)
    lessons.write_text(text, encoding="utf-8")
    return count
