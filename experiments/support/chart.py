"""A figure with a panel for each network, and in it lines over an axis with numbers."""

import html
import math

WIDTH, HEIGHT = 430, 250  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 50, 14, 30, 42


def chart(path, title, panels, x, y, colours, logarithmic=False):
    """Writes the figure. `panels` has for each panel its heading, and for each line its name and points; `x` and `y` have title and range; `colours` are by name."""
    columns = 2 if len(panels) > 1 else 1
    width, height = columns * WIDTH, 54 + math.ceil(len(panels) / columns) * HEIGHT
    names = list(dict.fromkeys(name for _, lines in panels for name in lines))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="15">{html.escape(title)}</text>',
    ]
    at = LEFT
    for name in names:
        parts.append(f'<path d="M{at} 38h18" stroke="{colours[name]}" stroke-width="2"/>')
        parts.append(f'<text x="{at + 23}" y="42">{html.escape(name)}</text>')
        at += 40 + 8 * len(name)
    for number, (heading, lines) in enumerate(panels):
        corner = (number % columns * WIDTH, 54 + number // columns * HEIGHT)
        parts += panel(corner, heading, lines, x, y, colours, logarithmic)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


def marks(low, high, logarithmic):
    """Values with a grid line."""
    if logarithmic:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        return [
            v for p in powers for v in (10.0**p, 2 * 10.0**p, 5 * 10.0**p) if low <= v * 1.0001 and v <= high * 1.0001
        ]
    rough = (high - low) / 5
    step = 10 ** math.floor(math.log10(rough))
    step *= next((m for m in (1, 2, 2.5, 5) if m * step >= rough * 0.999), 10)
    return [low + i * step for i in range(int((high - low) / step + 1.001))]


def panel(corner, heading, lines, x, y, colours, logarithmic):
    """The parts of a panel."""
    (x_title, (x_low, x_high)), (y_title, (y_low, y_high)) = x, y
    left, right = corner[0] + LEFT, corner[0] + WIDTH - RIGHT
    bottom, top = corner[1] + HEIGHT - BOTTOM, corner[1] + TOP
    scale = math.log if logarithmic else float

    def across(value):
        part = (scale(min(max(value, x_low), x_high)) - scale(x_low)) / (scale(x_high) - scale(x_low))
        return left + (right - left) * part

    def up(value):
        return bottom + (top - bottom) * (min(max(value, y_low), y_high) - y_low) / (y_high - y_low)

    yield f'<text x="{left}" y="{top - 8}" font-weight="bold">{html.escape(heading)}</text>'
    for mark in marks(x_low, x_high, logarithmic):
        yield f'<path d="M{across(mark):.1f} {bottom}V{top}" stroke="#ddd"/>'
        yield f'<text x="{across(mark):.1f}" y="{bottom + 15}" text-anchor="middle" font-size="10">{mark:g}</text>'
    for mark in marks(y_low, y_high, False):
        yield f'<path d="M{left} {up(mark):.1f}H{right}" stroke="#ddd"/>'
        yield f'<text x="{left - 6}" y="{up(mark) + 4:.1f}" text-anchor="end" font-size="10">{mark:g}</text>'
    yield f'<text x="{(left + right) / 2:.0f}" y="{bottom + 32}" text-anchor="middle" font-size="11">{html.escape(x_title)}</text>'
    middle = (top + bottom) / 2
    turned = f'transform="rotate(-90 {corner[0] + 14} {middle:.0f})"'
    yield f'<text x="{corner[0] + 14}" y="{middle:.0f}" text-anchor="middle" font-size="11" {turned}>{html.escape(y_title)}</text>'
    for name, points in lines.items():
        path = "L".join(f"{across(a):.1f} {up(b):.1f}" for a, b in points)
        if path:
            yield f'<path d="M{path}" fill="none" stroke="{colours[name]}" stroke-width="1.5"/>'
