#!/usr/bin/env python3
"""Import circles among the modules of each crate.

Modules of one folder form a graph: an edge for each `use crate::…`, `use super::…` and each such path in the code, from
the module that has it (or that contains the module that has it) to the module that it names. Prints each circle with the
imports that make it; exits with 1 if there is one. Tests are left out. A module and its own parent may import each other:
`impl` blocks of one type are in several files.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod tests \{.*", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*")
USE = re.compile(r"\buse\s+((?:crate|super|self)::[^;]+);")
PATH = re.compile(r"\b((?:crate|super)(?:::\w+)+)")

Module = tuple[str, ...]


def module_of(file: Path, source: Path) -> Module:
    parts = file.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("lib", "main", "mod") else parts


def expand(tree: str) -> list[str]:
    """Paths of a `use` tree, without its braces."""
    match = re.match(r"^([^{]*)\{(.*)\}$", tree.strip(), re.DOTALL)
    if match is None:
        return [tree.strip()]
    prefix, body = match.groups()
    depth, part, paths = 0, "", []
    for character in body + ",":
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if part.strip():
                paths += [prefix.strip() + path for path in expand(part)]
            part = ""
        else:
            part += character
    return paths


def target(path: str, module: Module, modules: set[Module]) -> Module:
    """The module that a path names, or that has the item which it names."""
    segments = [segment.strip() for segment in path.split(" as ")[0].split("::")]
    base = [] if segments[0] == "crate" else list(module)
    for segment in segments[segments[0] in ("crate", "self") :]:
        if segment == "super":
            base.pop()
        elif (*base, segment) in modules:
            base.append(segment)
        else:
            break
    return tuple(base)


def imports(source: Path) -> dict[Module, set[tuple[Module, str]]]:
    """For each module the modules that it imports from, with the path that it uses."""
    files = {
        module_of(file, source): file
        for file in source.rglob("*.rs")
        if "test" not in file.stem and "tests" not in file.parts
    }
    modules = {module[:depth] for module in files for depth in range(len(module) + 1)}
    edges = defaultdict(set)
    for module, file in files.items():
        text = COMMENT.sub("", TESTS.sub("", file.read_text(encoding="utf-8")))
        paths = [path for use in USE.findall(text) for path in expand(use)]
        for path in paths + PATH.findall(text):
            edges[module].add((target(path, module, modules), path))
    return edges


def reachable(graph: dict[str, dict[str, set[str]]], start: str) -> set[str]:
    seen, rest = set(), [start]
    while rest:
        for following in graph[rest.pop()]:
            if following not in seen:
                seen.add(following)
                rest.append(following)
    return seen


def circles(crate: Path) -> list[str]:
    """A text for each circle of a crate."""
    edges = imports(crate / "src")
    folders = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    for module, targets in edges.items():
        for other, path in targets:
            depth = next((i for i, (a, b) in enumerate(zip(module, other, strict=False)) if a != b), None)
            if depth is not None:
                folders[module[:depth]][module[depth]][other[depth]].add(f"{'/'.join(module)}: {path}")
    texts = []
    for folder, graph in sorted(folders.items()):
        done = set()
        for module in sorted(graph):
            circle = {other for other in reachable(graph, module) if module in reachable(graph, other)}
            if module not in circle or module in done:
                continue
            done |= circle
            place = "/".join((crate.name, "src", *folder))
            texts.append(f"{place}: {', '.join(sorted(circle))} import each other")
            for a in sorted(circle):
                for b in sorted(circle & set(graph[a])):
                    texts.append(f"    {a} -> {b}: {'; '.join(sorted(graph[a][b]))}")
    return texts


def main() -> None:
    found = [text for crate in sorted(Path("crates").iterdir()) if crate.is_dir() for text in circles(crate)]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))


main()
