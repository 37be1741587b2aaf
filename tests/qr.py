"""Reads the QR code of a page as a phone would: the drawn lines become pixels, a decoder reads them."""

import re

import zxingcpp

PIXELS = 4  # of one module


def read_qr(svg: str) -> str:
    """Return the text in the QR code that segno drew as SVG; ValueError unless there is exactly one."""
    rows = drawn(svg)
    lines = [b"".join((b"\0" if dark else b"\xff") * PIXELS for dark in row) for row in rows for _ in range(PIXELS)]
    image = memoryview(b"".join(lines)).cast("B", (len(lines), len(lines[0])))
    (code,) = zxingcpp.read_barcodes(image)
    return str(code.text)


def drawn(svg: str) -> list[list[bool]]:
    """Return which modules are dark: the path moves to (x, y + ½) and draws lines to the right, one module thick."""
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    path = re.search(r' d="([^"]*)"', svg)
    if size is None or path is None:
        raise ValueError("There is no QR code in this SVG.")
    rows = [[False] * int(size[1]) for _ in range(int(size[2]))]
    x, y = 0.0, 0.0
    for command, first, second in re.findall(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?", path[1]):
        if command == "M":
            x, y = float(first), float(second)
        elif command == "m":
            x, y = x + float(first), y + float(second)
        else:
            rows[int(y)][int(x) : int(x + float(first))] = [True] * int(float(first))
            x += float(first)
    return rows
