#!/usr/bin/env python3
"""Writes the licences of the linked Rust crates into packaging/debian/copyright.

    packaging/copyright.py            after a change of the dependencies
    packaging/copyright.py --check    fails if the file is not up to date

Of a choice of licences, the first of PREFERRED is taken. Texts of licences that the file does not have by hand are those of the crates.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
FILE = REPOSITORY / "packaging/debian/copyright"
MARK = "Comment: From here on written by packaging/copyright.py.\n"

PREFERRED = ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "Unicode-3.0"]
# Names of Debian's format.
NAMES = {"BSD-2-Clause": "BSD-2-clause", "BSD-3-Clause": "BSD-3-clause"}
# A crate whose file has the text of a licence, and the line that the text begins with.
TEXTS = {
    "BSD-3-Clause": ("snap", "Redistribution and use"),
    "ISC": ("rustls-webpki", "Permission to use, copy"),
    "Zlib": ("slotmap", "This software is provided"),
    "Unicode-3.0": ("unicode-properties", "Permission is hereby granted"),
}


def cargo(*arguments):
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY).stdout


def linked():
    """The crates that are linked into the program, but for those of this repository."""
    lines = cargo(
        *("tree", "-p", "lisa", "-e", "normal,no-proc-macro", "--target", "x86_64-unknown-linux-gnu"),
        *("--prefix", "none", "--format", "{p}"),
    ).splitlines()
    names = {tuple(line.split()[:2]) for line in lines if line and "(/" not in line}
    packages = json.loads(cargo("metadata", "--format-version", "1"))["packages"]
    found = [p for p in packages if p["source"] and (p["name"], "v" + p["version"]) in names]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def chosen(expression):
    """The licences that apply: one of each choice."""
    expression = re.sub(r"\s*/\s*", " OR ", expression).replace("(", "").replace(")", "")
    licences = []
    for choice in expression.split(" AND "):
        options = [option.strip() for option in choice.split(" OR ")]
        known = [licence for licence in PREFERRED if licence in options]
        if not known:
            sys.exit(f"copyright: no known licence in `{expression}`")
        licences.append(known[0])
    return licences


def licence_files(package):
    folder = Path(package["manifest_path"]).parent
    names = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
    return sorted(file for file in folder.iterdir() if file.is_file() and file.name.upper().startswith(names))


def holders(package):
    """The lines about copyright in its files, or else its authors."""
    lines = []
    for file in licence_files(package):
        for line in file.read_text(errors="replace").splitlines():
            line = line.strip()
            if re.match(r"(?i)copyright\s+(\(c\)|©|[0-9]{4})", line) and not re.search(r"\[|\{", line):
                line = re.sub(r"(?i)^copyright\s+((\(c\)|©)\s*)?", "", line).rstrip(".")
                line = re.sub(r"(?i)\.?\s*all rights reserved$", "", line)
                lines.append(line)
    authors = [re.sub(r"\s*<.*>", "", author) for author in package["authors"]]
    return list(dict.fromkeys(lines))[:4] or authors or [f"The authors of {package['name']}"]


def text_of(licence, packages):
    name, begin = TEXTS[licence]
    package = next(package for package in packages if package["name"] == name)
    for file in licence_files(package):
        text = file.read_text()
        if begin in text and (licence != "Unicode-3.0" or "UNICODE" in text):
            lines = text[text.index(begin) :].rstrip().splitlines()
            return [line.rstrip() for line in lines]
    sys.exit(f"copyright: {name} has no text of {licence} any more")


def generated():
    packages = linked()
    groups = {}
    for package in packages:
        licences = chosen(package["license"] or "")
        groups.setdefault((tuple(licences), tuple(holders(package))), []).append(package)
    parts = []
    for (licences, owners), group in sorted(groups.items(), key=lambda item: item[1][0]["name"]):
        files = [f"crates.io/{package['name']}-{package['version']}/*" for package in group]
        name = " and ".join(NAMES.get(licence, licence) for licence in licences)
        parts.append("Files: " + "\n ".join(files) + "\nCopyright: " + "\n ".join(owners) + f"\nLicense: {name}\n")
    parts.append(
        "Files: library/*\nCopyright: The Rust Project Developers\nLicense: MIT\nComment: Rust's standard library.\n"
    )
    used = {licence for licences, _ in groups for licence in licences}
    for licence in sorted(used & TEXTS.keys()):
        lines = [" " + line if line else " ." for line in text_of(licence, packages)]
        parts.append(f"License: {NAMES.get(licence, licence)}\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def main():
    before = FILE.read_text()
    by_hand = before.split(MARK)[0].rstrip("\n")
    after = f"{by_hand}\n{MARK}\n{generated()}"
    if before == after:
        return
    if "--check" in sys.argv:
        sys.exit(f"copyright: {FILE} is not up to date: run packaging/copyright.py")
    FILE.write_text(after)


main()
