#!/usr/bin/env bash
# Lints all RTL with every warning on and no waivers: each device's top, and several builds of the NIC; then runs slang
# and yosys.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v verilator >/dev/null; then
  echo "verilator is missing: apt-get install verilator" >&2
  exit 1
fi

# A waiver in the sources would defeat this script.
if grep -rnE 'lint_off|verilator_config' --include='*.sv' --include='*.vlt' .; then
  echo "waivers are not allowed: mend the code" >&2
  exit 1
fi

# Packages first, imported ones before those that import them.
include=-Irtl/packages
nic=(rtl/packages/nic_pkg.sv rtl/packages/nic_int_pkg.sv)
for f in rtl/packages/*.sv rtl/*/*.sv; do
  [[ " ${nic[*]} " == *" $f "* ]] || nic+=("$f")
done

# lint TOP [verilator options] FILES
lint() {
  local top=$1
  shift
  echo "lint $top ${*/#*.sv/}" | tr -s ' '
  verilator --lint-only -Wall --assert $include --top-module "$top" "$@"
}

# Checks that every module is instantiated below a top: otherwise it would not be linted.
reached=$(verilator -E $include --top-module nic_top "${nic[@]}" | grep -oE '^\s*nic_[a-z0-9_]+ +(#\(|u_)' |
  grep -oE 'nic_[a-z0-9_]+' | sort -u)
for f in rtl/*/*.sv; do
  m=$(basename "$f" .sv)
  case $m in
    *_pkg | nic_top) ;;
    *) grep -qx "$m" <<<"$reached" || { echo "$f: no module uses $m" >&2; exit 1; } ;;
  esac
done

# Lints the NIC with every port count and width, the smallest and the largest sizes, and each part once built
# and once left out.
lint nic_top "${nic[@]}"
lint nic_top -GPorts=2 -GEthBits=256 "${nic[@]}"
lint nic_top -GNumRxq=4 -GNumTxq=4 -GNumKeys=16 -GNumRules=4 "${nic[@]}"
lint nic_top -GPorts=2 -GNumRxq=256 -GNumTxq=256 -GNumKeys=4096 -GNumRules=256 "${nic[@]}"
lint nic_top -GParts=0 "${nic[@]}"
lint nic_top -GParts=5461 "${nic[@]}"
lint nic_top -GParts=10922 "${nic[@]}"
if [ -n "${NICTWIN_LONG:-}" ]; then
  lint nic_top -GPorts=2 "${nic[@]}"
  lint nic_top -GEthBits=256 "${nic[@]}"
  lint nic_top -GParts=275 "${nic[@]}"
  for part in 4 8 16 32 256 1024 2048 4096 8192; do
    lint nic_top -GParts=$part "${nic[@]}"
  done
  lint nic_top -GPorts=2 -GParts=316 -GNumRxq=256 "${nic[@]}"
  lint nic_top -GPorts=2 -GParts=736 -GNumTxq=4 "${nic[@]}"
fi
lint axis_fifo duts/fifo/rtl/*.sv
lint port_kinds duts/ports/rtl/*.sv
for dut in duts/own/*/dut.yaml; do
  for bug in 0 1 2; do
    lint "$(sed -n 's/^top: //p' "$dut")" -GBUG=$bug "$(dirname "$dut")"/rtl/*
  done
done

# Lints all test devices of blocks together with the NIC, because each alone uses only a part of the packages.
blocks=()
for f in duts/blocks/rtl/packages/*.sv duts/blocks/rtl/*/*.sv; do
  [[ " ${blocks[*]} " == *" $f "* ]] || blocks+=("$f")
done
echo "lint nic_top ${blocks[*]##*/}"
verilator --lint-only -Wall -Wno-MULTITOP --assert $include "${nic[@]}" "${blocks[@]}"

# Lints each cell as a top; the clock gate also with a technology's cell.
lint_cell() {
  lint "cell_$1" "${@:2}" "rtl/cells/nic_$1.sv" duts/cells/rtl/cell_player.sv "duts/cells/rtl/cell_$1.sv"
}
for f in duts/cells/rtl/cell_*.sv; do
  cell=$(basename "$f" .sv)
  case ${cell#cell_} in
    player | icg) ;;
    *) lint_cell "${cell#cell_}" ;;
  esac
done
lint_cell clkgate -DNICTWIN_ICG=cell_icg duts/cells/rtl/cell_icg.sv

# Lints the blocks of the emulation shell. A test lints generated shells, which use all of the package, with their
# devices.
shell=(shell/shell_pkg.sv)
for f in shell/*.sv; do
  [[ " ${shell[*]} " == *" $f "* ]] || shell+=("$f")
done
echo "lint shell_host ${shell[*]##*/}"
verilator --lint-only -Wall -Wno-MULTITOP -Wno-UNUSEDPARAM --assert "${shell[@]}"
for f in shell/*.sv; do
  m=$(basename "$f" .sv)
  [ "$m" = shell_pkg ] || grep -rqE "\b$m (#\(|u_)" shell/*.sv ../rtlbridge/emulation/*.go ||
    { echo "$f: no module uses $m" >&2; exit 1; }
done

# Rejects constructs that Verilator accepts and other tools do not.
if ! [ -e ../.venv/installed.txt ]; then
  echo "slang and yosys are missing: run make setup" >&2
  exit 1
fi
../.venv/bin/python strict.py
echo "rtl lint: clean"
