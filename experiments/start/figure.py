"""A figure of distributions: a panel for each class of cells, a line for each algorithm."""

import math

WIDTH, HEIGHT = 420, 260  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 34, 40
LOW, HIGH = 0.6, 1.5  # relative times; others are at the edge
COLOURS = ("#7f7f7f", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
MARKS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5)


def svg(title, panels):
    """The figure. `panels` has for each panel its title and for each line its name and values."""
    columns = 2
    width = columns * WIDTH
    legend = 24
    height = 30 + legend + math.ceil(len(panels) / columns) * HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="15">{title}</text>',
    ]
    names = list(dict.fromkeys(name for _, lines in panels for name in lines))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    x = LEFT
    for name in names:
        parts.append(f'<path d="M{x} 38h18" stroke="{colours[name]}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 23}" y="42">{name}</text>')
        x += 40 + 8 * len(name)
    for number, (heading, lines) in enumerate(panels):
        left, top = number % columns * WIDTH, 30 + legend + number // columns * HEIGHT
        parts += panel(left, top, heading, lines, colours)
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(left, top, heading, lines, colours):
    """The parts of a panel."""
    x0, x1, y0, y1 = left + LEFT, left + WIDTH - RIGHT, top + HEIGHT - BOTTOM, top + TOP

    def x(value):
        value = min(max(value, LOW), HIGH)
        return x0 + (x1 - x0) * math.log(value / LOW) / math.log(HIGH / LOW)

    def y(share):
        return y0 + (y1 - y0) * share

    yield f'<text x="{x0}" y="{top + 22}" font-weight="bold">{heading}</text>'
    for mark in MARKS:
        yield f'<path d="M{x(mark):.1f} {y0}V{y1}" stroke="#ddd"/>'
        yield f'<text x="{x(mark):.1f}" y="{y0 + 16}" text-anchor="middle" font-size="10">{mark:g}</text>'
    for tenth in (0, 0.5, 0.8, 0.9, 1):
        yield f'<path d="M{x0} {y(tenth):.1f}H{x1}" stroke="#ddd"/>'
        yield f'<text x="{x0 - 6}" y="{y(tenth) + 4:.1f}" text-anchor="end" font-size="10">{tenth * 100:.0f} %</text>'
    yield f'<text x="{(x0 + x1) / 2:.0f}" y="{y0 + 32}" text-anchor="middle" font-size="11">relative completion time (times beyond the axis are at its ends)</text>'
    for name, values in lines.items():
        steps = (f"H{x(value):.1f}V{y((i + 1) / len(values)):.1f}" for i, value in enumerate(sorted(values)))
        path = f"M{x0} {y0}" + "".join(steps)
        yield f'<path d="{path}" fill="none" stroke="{colours[name]}" stroke-width="1.5"/>'
