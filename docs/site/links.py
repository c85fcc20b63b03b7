"""Checks the built site: each link and anchor must have a target, and no page may load a file from another site.

Prints the number of pages and the size of the site.
"""

import html
import re
from urllib.parse import unquote

from program import SITE

TAG = re.compile(r"<(\w+)\b([^>]*)>")
ATTRIBUTE = re.compile(r'\b(href|src|srcset|data|poster)="([^"]*)"')


def main():
    pages = {
        page: page.read_text(encoding="utf-8") for page in SITE.rglob("*.html") if "_static" not in page.parts
    }
    ids = {page: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for page, text in pages.items()}
    dead, loaded, count = [], [], 0
    for page, text in pages.items():
        text = re.sub(r"<!--.*?-->|<script\b[^>]*>[^<]+</script>", "", text, flags=re.DOTALL)
        for tag, attributes in TAG.findall(text):
            for _, link in ATTRIBUTE.findall(attributes):
                link = html.unescape(link)
                if re.match(r"[a-z]+:|//", link):
                    is_relation = tag == "link" and not re.search(
                        r'rel="(?:stylesheet|preload|icon)', attributes
                    )
                    if tag != "a" and not is_relation and not link.startswith("data:"):
                        loaded.append((page, link))
                    continue
                count += 1
                path, _, anchor = link.partition("#")
                to = page if not path else (page.parent / unquote(path.split("?")[0])).resolve()
                if not to.exists():
                    dead.append((page, link))
                elif anchor and to in ids and unquote(anchor) not in ids[to]:
                    dead.append((page, link))
    for sheet in [*SITE.rglob("*.css")]:
        for link in re.findall(r"url\(['\"]?((?:https?:)?//[^)'\"]+)", sheet.read_text(encoding="utf-8")):
            loaded.append((sheet, link))
    for what, found in (("dead link", dead), ("loaded from outside", loaded)):
        for page, link in found:
            print(f"site: {what}: {page.relative_to(SITE)}: {link}")
    size = sum(file.stat().st_size for file in SITE.rglob("*") if file.is_file())
    print(
        f"site: {len(pages)} pages, {size / 1e6:.1f} MB, {count} local links, {len(dead)} dead, "
        f"{len(loaded)} loaded from outside: {SITE / 'index.html'}"
    )
    return not dead and not loaded and size <= 20e6


if __name__ == "__main__":
    main()
