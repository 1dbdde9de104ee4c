"""A figure of shares over time: a panel for each kind of network, a line for each detector."""

import math

COLUMNS = 3
WIDTH, HEIGHT = 330, 190  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 28, 34
COLOURS = ("#0072B2", "#D55E00", "#009E73")


def svg(title, panels, stop):
    """The figure. `panels` has for each panel its title and for each line its name and points."""
    width, height = COLUMNS * WIDTH, 56 + math.ceil(len(panels) / COLUMNS) * HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="15">{title}</text>',
    ]
    x = LEFT
    for name, colour in zip(panels[0][1], COLOURS):
        parts.append(
            f'<path d="M{x} 40h18" stroke="{colour}" stroke-width="2"/><text x="{x + 23}" y="44">{name}</text>'
        )
        x += 50 + 8 * len(name)
    for at, (heading, lines) in enumerate(panels):
        parts += panel(at % COLUMNS * WIDTH, 54 + at // COLUMNS * HEIGHT, heading, lines, stop)
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(left, top, heading, lines, stop):
    """The parts of a panel."""
    x0, x1, y0, y1 = left + LEFT, left + WIDTH - RIGHT, top + HEIGHT - BOTTOM, top + TOP

    def point(time, share):
        return f"{x0 + (x1 - x0) * time / stop:.1f} {y0 + (y1 - y0) * share:.1f}"

    yield f'<text x="{x0}" y="{top + 18}" font-weight="bold" font-size="11">{heading}</text>'
    for time in range(0, stop + 1, 10):
        yield f'<path d="M{point(time, 0)}L{point(time, 1)}" stroke="#ddd"/>'
        x = point(time, 0).split()[0]
        yield f'<text x="{x}" y="{y0 + 14}" text-anchor="middle" font-size="10">{time} s</text>'
    for share in (0, 0.5, 1):
        yield f'<path d="M{point(0, share)}L{point(stop, share)}" stroke="#ddd"/>'
        y = float(point(0, share).split()[1]) + 4
        yield f'<text x="{x0 - 6}" y="{y:.1f}" text-anchor="end" font-size="10">{share * 100:.0f} %</text>'
    for points, colour in zip(lines.values(), COLOURS):
        if points:
            path = "M" + "L".join(point(*each) for each in points)
            yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
