"""Serves a page on port 8000: 68 requests and 2.4 MB. HTML of 60 kB, 6 style sheets, 21 scripts and 40 pictures have a
total size close to the median of web pages (HTTP Archive). The content is synthetic.

After loading, the page writes its load time into its root element, in ms since the start of the navigation.
"""

import random
import struct
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = 8000
SHEETS, SHEET_BYTES = 6, 15_000
SCRIPTS, SCRIPT_BYTES = 21, 30_000
PICTURES, SIDE = 40, 116  # width and height in pixels of 3 bytes: 40 kB per picture

WHEN_LOADED = """<script>
addEventListener("load", () => {
  const shown = document.documentElement.dataset;
  shown.load = performance.now();
  shown.paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? "";
  shown.requests = performance.getEntriesByType("resource").length + 1;
});
</script>"""


def page():
    sheets = "".join(f'<link rel="stylesheet" href="/{n}.css">' for n in range(SHEETS))
    scripts = "".join(f'<script defer src="/{n}.js"></script>' for n in range(SCRIPTS))
    pictures = "".join(f'<img src="/{n}.bmp" width="116" height="116">' for n in range(PICTURES))
    text = "<p>" + "word " * 12_000 + "</p>"
    return f"<!doctype html><title>A page</title>{WHEN_LOADED}{sheets}{scripts}<h1>A page</h1>{pictures}{text}".encode()


def picture(number):
    """Returns a bitmap of random pixels, which cannot be compressed."""
    pixels = random.Random(number).randbytes(3 * SIDE * SIDE)
    header = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(pixels), 0, 0, 54, 40, SIDE, SIDE, 1, 24, 0, 0, 0, 0, 0, 0)
    return header + pixels


FILES = {"/": ("text/html", page())}
FILES |= {f"/{n}.css": ("text/css", b"/*" + b"." * SHEET_BYTES + b"*/") for n in range(SHEETS)}
FILES |= {f"/{n}.js": ("text/javascript", b"//" + b"." * SCRIPT_BYTES) for n in range(SCRIPTS)}
FILES |= {f"/{n}.bmp": ("image/bmp", picture(n)) for n in range(PICTURES)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open

    def do_GET(self):
        kind, content = FILES.get(self.path, (None, b""))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Ignores errors of connections that the browser closes at its end."""


if __name__ == "__main__":
    Server(("", PORT), Handler).serve_forever()
