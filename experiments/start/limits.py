"""Tables of docs/limits.md: how far `convoy` is from its aims, and what its slow cells and its losses have in common."""

from start.cells import CLASSES, ONE, share
from support.experiment import table
from support.mean import number

PAGE = "docs/limits.md"
AIMS = {"shared": (0.90, 0.97, 0.85), "separate": (0.98, 0.995, None)}
COLUMNS = (("one subflow", ONE), ("uncoupled", "cubic"), ("`convoy`", "convoy"))
SLOW = 0.02  # of the baseline's completion time
MORE = 0.5  # losses beyond the baseline's


def percent(value):
    """A share as a percentage, with a digit where whole ones would hide the distance."""
    return "–" if value is None else f"{number(100 * value, 1 if value > 0.99 else 0)} %"


def distance(found):
    """Each aim beside what MPTCP with one subflow, uncoupled CUBIC and `convoy` have."""
    rows = []
    for kind, title in CLASSES.items():
        aims = AIMS["shared" if kind.startswith("shared") else "separate"]
        texts = ("at most 2 % slower", "at most 5 % slower", "losses at most + 0.5")
        for text, aim, of in zip(texts, aims, range(3)):
            if aim is None:
                continue
            values = [reached(found[kind][name], of) if name in found[kind] else None for _, name in COLUMNS]
            rows.append([f"{title}: {text}", percent(aim), *map(percent, values)])
    return table(["", "aim", *(name for name, _ in COLUMNS)], rows)


def reached(summary, of):
    """Share of the cells within an aim."""
    if of == 2:
        return summary.polite()
    slower = summary.slower((0.02, 0.05)[of])
    return None if slower is None else 1 - slower


def reasons(found):
    """What the cells have in common in which `convoy` is more than 2 % slower than the baseline."""
    rows = []
    for kind, title in CLASSES.items():
        mine, one = found[kind]["convoy"], found[kind][ONE]
        single = {cell.name: time > 1 + SLOW for cell, time in zip(one.cells, one.times)}
        shared = kind.startswith("shared")
        each = list(zip(mine.cells, mine.times, mine.more, mine.seconds_more))
        slow = [cell for cell in each if cell[1] > 1 + SLOW]
        first = [cell for cell in slow if shared and single[cell[0].name]]
        rest = [cell for cell in slow if cell not in first]
        lost = [cell for cell in rest if cell[2] > MORE]
        round_trip = [cell for cell in rest if cell[2] <= MORE and cell[3] <= max(cell[0].rtt)]
        other = len(rest) - len(lost) - len(round_trip)
        counts = (len(slow), len(first) if shared else None, len(lost), len(round_trip), other)
        rows.append([f"{title}, {len(each)} cells", *("–" if count is None else str(count) for count in counts)])
    header = [
        "",
        "> 2 % slower",
        "so is one subflow",
        "of the rest: more losses",
        "no more losses, by at most one RTT",
        "no more losses, by more",
    ]
    return table(header, rows)


def losses(found):
    """Where the losses are that `convoy` has beyond the baseline's."""
    rows = []
    for kind, title in CLASSES.items():
        mine, one = found[kind]["convoy"], found[kind][ONE]
        single = {cell.name: more > MORE for cell, more in zip(one.cells, one.more)}
        more = [(cell, early) for cell, many, early in zip(mine.cells, mine.more, mine.early) if many > MORE]
        shared = kind.startswith("shared")
        rows.append(
            [
                title,
                percent(share(many > MORE for many in mine.more)),
                percent(share(single[cell.name] for cell, _ in more)) if shared else "–",
                percent(share(early <= MORE for _, early in more)),
            ]
        )
    header = [
        "",
        "more than 0.5 losses beyond",
        "of these: one subflow, too",
        "of these: at most 0.5 of them in slow start",
    ]
    return table(header, rows)


def limits(experiment, found):
    """Fills the page from the summaries of all classes."""
    experiment.fill(PAGE, "distance", distance(found))
    experiment.fill(PAGE, "reasons", reasons(found))
    experiment.fill(PAGE, "losses", losses(found))
