"""A film as a file: a GIF, or a page of HTML that needs no other file.

The page holds every frame as a PNG in base64, a slider and thirty lines of JavaScript; it
fetches nothing from the network.
"""

from __future__ import annotations

import base64
import html
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maxmargin.errors import InputError, load_extra

if TYPE_CHECKING:
    from collections.abc import Sequence

COLOURS = 96  # of a GIF: the surface has about twenty, letters as many greys
LAST = 3.0  # seconds for which a GIF shows its last frame
SUFFIXES = (".gif", ".html", ".htm")

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; margin: 1em; max-width: {width}px; }}
img {{ display: block; width: 100%; }}
.row {{ display: flex; gap: 0.5em; align-items: center; }}
input {{ flex: 1; }}
</style>
</head>
<body>
<img id="frame" alt="{title}">
<div class="row">
<button id="play" type="button">pause</button>
<input id="at" type="range" min="0" max="{last}" value="0" aria-label="frame">
<span id="count"></span>
</div>
<script>
const frames = [
{frames}
];
const told = {told};
const picture = document.getElementById("frame");
const slider = document.getElementById("at");
const button = document.getElementById("play");
let playing = true;
function show(k) {{
  slider.value = k;
  picture.src = "data:image/png;base64," + frames[k];
  picture.alt = told[k];
  document.getElementById("count").textContent = (k + 1) + " / " + frames.length;
}}
function play(on) {{
  playing = on;
  button.textContent = on ? "pause" : "play";
}}
button.onclick = () => {{
  if (!playing && +slider.value === frames.length - 1) show(0);
  play(!playing);
}};
slider.oninput = () => {{ play(false); show(+slider.value); }};
setInterval(() => {{
  if (!playing) return;
  const next = +slider.value + 1;
  if (next < frames.length) show(next); else play(false);
}}, {interval});
show(0);
</script>
</body>
</html>
"""


def checked_path(path: Any) -> Path:
    """Return a path whose suffix says which kind of film it is."""
    checked = Path(path)
    if checked.suffix.lower() not in SUFFIXES:
        msg = f"path={str(path)!r}: a film is written to a name that ends in "
        msg += " or ".join(SUFFIXES)
        raise InputError(msg)
    if not checked.parent.is_dir():
        msg = f"path={str(path)!r}: there is no folder {str(checked.parent)!r}"
        raise InputError(msg)
    return checked


def write_film(
    path: Path, frames: Sequence[bytes], words: Sequence[str], *, fps: float, title: str
) -> None:
    """Write PNG frames of one size as a GIF or a page, as the suffix of the path says.

    ``words`` describe the frames to screen readers; ``fps`` are frames a second.
    """
    if path.suffix.lower() == ".gif":
        _write_gif(path, frames, fps)
    else:
        _write_html(path, frames, words, fps, title)


def _write_gif(path: Path, frames: Sequence[bytes], fps: float) -> None:
    image = load_extra("PIL.Image", extra="plot", purpose="writing a GIF")
    pictures = [image.open(io.BytesIO(frame)).convert("RGB") for frame in frames]
    # One palette without dithering keeps flat areas flat and files small.
    width, height = pictures[0].size
    sheet = image.new("RGB", (width, 4 * height))
    for k in range(4):
        sheet.paste(pictures[k * (len(pictures) - 1) // 3], (0, k * height))
    palette = sheet.quantize(COLOURS, dither=image.Dither.NONE)
    first, *others = (
        picture.quantize(palette=palette, dither=image.Dither.NONE)
        for picture in pictures
    )
    usual = round(1000.0 / fps)
    times = [usual] * len(others) + [max(usual, round(1000.0 * LAST))]
    first.save(path, save_all=True, append_images=others, duration=times, loop=0)


def _write_html(
    path: Path, frames: Sequence[bytes], words: Sequence[str], fps: float, title: str
) -> None:
    image = load_extra("PIL.Image", extra="plot", purpose="writing an animation")
    width = image.open(io.BytesIO(frames[0])).width
    lines = [f'"{base64.b64encode(frame).decode("ascii")}"' for frame in frames]
    page = _PAGE.format(
        title=html.escape(title),
        width=width,
        last=len(frames) - 1,
        frames=",\n".join(lines),
        # a sentence must not be able to end the script
        told=json.dumps(list(words)).replace("<", "\\u003c"),
        interval=round(1000.0 / fps),
    )
    path.write_text(page, encoding="utf-8")
