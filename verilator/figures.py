#!/usr/bin/env python3
"""Sizes of the RTL's modules as yosys sees them, in a table of docs/rtl.md: cells, bits of memory, longest path in cells
between registers, of the default build, each module for itself. `check` fails where a module grew by a tenth since the
table was written, or is new; `write` writes it anew. Run from this folder, with the Python of .venv."""

import re
import sys

from strict import read_slang, yosys

DOC = "../docs/rtl.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
HEAD = "| Module | Cells | Memory bits | Longest path |\n|---|---|---|---|\n"
# Modules whose paths are measured: control logic. Yosys takes many minutes for the wide data paths of the others.
DECIDE = """account arb cfg copy_chan cpl flr key msix rdsplit rxfetch rxq rxtake tables tags txcqe txpark txq_ctx txq_fetch
txq_sched txshare txturn""".split()
NAMES = ["cells", "memory bits", "longest path"]
PATHS = "ltp -noff " + " ".join(f"nic_{m}$*" for m in DECIDE)
SLACK = {"cells": 10, "memory bits": 0, "longest path": 2}  # smaller differences are not reported


def measure():
    """{module: [cells, memory bits, longest path]}, the largest of its instances."""
    figures = {}

    def note(module, which, n):
        row = figures.setdefault(module, [0, 0, 0])
        row[which] = max(row[which], n)

    module = None
    for line in yosys(read_slang({}), "stat", PATHS).splitlines():
        if m := re.match(r"=== (nic_\w+)\S* ===", line):
            module = m[1]
        elif line.startswith("=== "):
            module = None
        elif module and (m := re.match(r"\s+(\d+) (cells|memory bits)$", line)):
            note(module, NAMES.index(m[2]), int(m[1]))
        elif m := re.match(r"Longest topological path in (nic_\w+)\S* \(length=(\d+)\)", line):
            note(m[1], 2, int(m[2]))
    if not any(row[2] for row in figures.values()):
        sys.exit("yosys told no paths: did the words of its output change?")
    return figures


def read():
    """The table's lines, by module."""
    text = open(DOC).read()
    if BEGIN not in text or END not in text:
        sys.exit(f"docs/rtl.md: want the lines {BEGIN} and {END}, between which the table stands")
    rows = re.findall(r"^\| `(nic_\w+)` \| (\d+) \| (\d+) \| (\d+) \|$", text.split(BEGIN)[1].split(END)[0], re.M)
    return {m: [int(n) for n in rest] for m, *rest in rows}


def write(figures):
    text = open(DOC).read()
    rows = "".join(f"| `{m}` | {a} | {b} | {c} |\n" for m, (a, b, c) in sorted(figures.items()))
    before, rest = text.split(BEGIN)
    open(DOC, "w").write(before + BEGIN + "\n" + HEAD + rows + END + rest.split(END)[1])


def check(figures, table):
    """Messages for the modules that have grown."""
    told = [f"{m}: is not in the table" for m in sorted(figures.keys() - table.keys())]
    told += [f"{m}: is in the table, and there is no such module" for m in sorted(table.keys() - figures.keys())]
    for m in sorted(figures.keys() & table.keys()):
        for name, now, was in zip(NAMES, figures[m], table[m]):
            if now > was + SLACK[name] and now * 10 > was * 11:
                told.append(f"{m}: {name} {was} before, {now} now")
    return told


def main():
    if sys.argv[1:] not in (["check"], ["write"]):
        sys.exit("usage: figures.py check|write")
    table = read()
    figures = measure()
    if sys.argv[1] == "write":
        write(figures)
        return
    if told := check(figures, table):
        sys.exit("the RTL grew by a tenth or more; say why in the commit, and run make rtl-figures-write:\n" + "\n".join(told))
    print("rtl figures: within a tenth of docs/rtl.md")


if __name__ == "__main__":
    main()
