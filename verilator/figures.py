#!/usr/bin/env python3
"""Keeps the table of module sizes in docs/rtl.md: cells, bits of memory, and the longest path between registers in
cells, as yosys counts them for each module of the default build without its submodules. `check` fails where a module
grew by a tenth since the table was written, or is new; `write` updates the table. Run from this folder, with the Python
of .venv."""

import re
import sys

from strict import read_slang, yosys

DOC = "../docs/rtl.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
HEAD = "| Module | Cells | Memory bits | Longest path |\n|---|---|---|---|\n"
# Modules of control logic, whose longest paths are measured. Yosys would take many minutes for wide data paths.
CONTROL = """account arb cfg copy_chan cpl flr key msix rdsplit rxfetch rxq rxtake tables tags txcqe txpark txq_ctx
txq_fetch txq_sched txshare txturn""".split()
NAMES = ["cells", "memory bits", "longest path"]
PATHS = "ltp -noff " + " ".join(f"nic_{m}$*" for m in CONTROL)
SLACK = {"cells": 10, "memory bits": 0, "longest path": 2}  # smaller differences are not reported


def measure():
    """Returns {module: [cells, memory bits, longest path]}, each the largest of the module's instances."""
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
        sys.exit("yosys printed no paths: did the format of its output change?")
    return figures


def read():
    """Returns the table's figures by module."""
    text = open(DOC).read()
    if BEGIN not in text or END not in text:
        sys.exit(f"docs/rtl.md: needs the lines {BEGIN} and {END}, around the table")
    rows = re.findall(r"^\| `(nic_\w+)` \| (\d+) \| (\d+) \| (\d+) \|$", text.split(BEGIN)[1].split(END)[0], re.M)
    return {m: [int(n) for n in rest] for m, *rest in rows}


def write(figures):
    text = open(DOC).read()
    rows = "".join(f"| `{m}` | {a} | {b} | {c} |\n" for m, (a, b, c) in sorted(figures.items()))
    before, rest = text.split(BEGIN)
    open(DOC, "w").write(before + BEGIN + "\n" + HEAD + rows + END + rest.split(END)[1])


def check(figures, table):
    """Returns a message for each module that has grown or is in only one of figures and table."""
    faults = [f"{m}: is not in the table" for m in sorted(figures.keys() - table.keys())]
    faults += [f"{m}: is in the table but not in the RTL" for m in sorted(table.keys() - figures.keys())]
    for m in sorted(figures.keys() & table.keys()):
        for name, now, was in zip(NAMES, figures[m], table[m]):
            if now > was + SLACK[name] and now * 10 > was * 11:
                faults.append(f"{m}: {name} {was} before, {now} now")
    return faults


def main():
    if sys.argv[1:] not in (["check"], ["write"]):
        sys.exit("usage: figures.py check|write")
    table = read()
    figures = measure()
    if sys.argv[1] == "write":
        write(figures)
        return
    if faults := check(figures, table):
        sys.exit("the RTL grew by a tenth or more; say why in the commit, and run make rtl-figures-write:\n"
                 + "\n".join(faults))
    print("rtl figures: within a tenth of docs/rtl.md")


if __name__ == "__main__":
    main()
