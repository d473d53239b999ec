"""Files as a team has them, made up: a handbook of 60 pages as PDF, a network of 200 devices as a diagram."""

from __future__ import annotations

from pathlib import Path

PAGES, NODES = 60, 200
_CITIES = ("Munich", "Berlin", "Hamburg", "Vienna", "Zurich", "Cologne")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday")


def write_handbook(path: Path) -> None:
    """Write a PDF with one site a page."""
    write_pdf(path, [_page(n) for n in range(1, PAGES + 1)])


def write_network(path: Path) -> None:
    """Write a Mermaid diagram: ten core routers in a ring, nineteen access switches at each."""
    lines = ["graph TD"]
    for n in range(10):
        lines.append(f"  core{n}[core-{n}] ---|ring| core{(n + 1) % 10}[core-{(n + 1) % 10}]")
        lines += [f"  core{n} ---|uplink {s}| sw{n}x{s}[sw-{n}-{s}]" for s in range(1, 20)]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _page(n: int) -> list[str]:
    city, day = _CITIES[n % len(_CITIES)], _DAYS[n % len(_DAYS)]
    return [
        f"Site {n}: {city} {n}",
        f"Site {n} is in {city}. Its border router is br-{n}, its management network 10.{n}.0.0/24.",
        f"Maintenance at site {n} happens on {day} from 22:{n % 60:02d} on, after the owner team-{n} agreed.",
        f"The uplink of br-{n} goes to provider AS{64500 + n} over circuit C-{4000 + n}.",
        f"Spare parts for site {n} are kept in room {100 + n}; badge group {n % 9} opens it.",
        f"If br-{n} does not answer, check circuit C-{4000 + n} first, then the power of room {100 + n}.",
    ]


def write_pdf(path: Path, pages: list[list[str]]) -> None:
    """Write lines of plain English text as a PDF in Helvetica, the first line of each page as its title."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", font]
    kids = []
    for lines in pages:
        shown, y = [], 800
        for number, line in enumerate(lines):
            size = 18 if number == 0 else 11
            text = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            shown.append(f"BT /F1 {size} Tf 50 {y} Td ({text}) Tj ET")
            y -= 2 * size
        content = "\n".join(shown).encode("ascii")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    path.write_bytes(bytes(out) + head.encode() + tail.encode())
