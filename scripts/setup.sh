#!/usr/bin/env bash
# Installs the missing Debian 12 packages: Verilator, compilers, tshark for tests of formats, Chromium for tests of
# pages. Then installs the Go modules and, in .venv, further RTL tools and scapy for tests of formats.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v go >/dev/null; then
  echo "setup: Go is not installed; nictwin needs the version named in go.mod or newer" >&2
  exit 1
fi

# Verilator and a C++ compiler are required. The rest is optional: clang++ for the fastest devices and for tuned builds,
# zlib for waveforms, tshark and Chromium for tests, Python for the further RTL tools.
needed=() wanted=()
command -v verilator >/dev/null || needed+=(verilator)
command -v g++ >/dev/null || command -v clang++ >/dev/null || needed+=(g++)
command -v tshark >/dev/null || wanted+=(tshark)
command -v chromium >/dev/null || wanted+=(chromium)
command -v clang++ >/dev/null || wanted+=(clang)
# A tuned build needs llvm-profdata and the profile run-time of the same version as clang++ (14 on Debian 12). clang++
# prints where they are; if it has no llvm-profdata of its own, it prints one of any version found in PATH.
clang=14 profdata=llvm-profdata runtime=
if command -v clang++ >/dev/null; then
  clang=$(clang++ -dumpversion); clang=${clang%%.*}
  profdata=$(clang++ -print-prog-name=llvm-profdata)
  runtime=$(clang++ '-###' -fprofile-generate /dev/null 2>&1 | grep -o '"[^"]*clang_rt\.profile[^"]*"' |
    tail -1 | tr -d '"') || runtime=
fi
is_of_clang() { "$1" merge --version 2>/dev/null | grep -q "LLVM version $clang\."; }
is_of_clang "$profdata" || is_of_clang "llvm-profdata-$clang" || wanted+=("llvm-$clang")
[ -e "$runtime" ] || wanted+=("libclang-rt-$clang-dev")
[ -e /usr/include/zlib.h ] || wanted+=(zlib1g-dev)
python3 -c 'import ensurepip, venv' 2>/dev/null || wanted+=(python3-venv)
missing=(${needed[@]+"${needed[@]}"} ${wanted[@]+"${wanted[@]}"})

# short WHY: exits if a required package is missing, else warns and continues.
short() {
  ((${#needed[@]} == 0)) || { echo "setup: $1; run: apt-get install ${needed[*]}" >&2; exit 1; }
  echo "setup: $1; going on without ${wanted[*]}" >&2
}

install() {
  local sudo=() log
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { short "not root and no sudo"; return; }
    sudo=(sudo)
  fi
  log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update -q && \
         "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
         "${missing[@]}"; } >"$log" 2>&1; then
    tail -20 "$log" >&2
    short "apt-get could not install ${missing[*]}"
  fi
  rm -f "$log"
}

if ((${#missing[@]})); then
  echo "setup: installing ${missing[*]}" >&2
  install
fi

go mod download

# Rebuild the venv when its list of packages has changed.
tools=ci/rtl-tools.txt
if ! cmp -s "$tools" .venv/installed.txt; then
  echo "setup: installing the tools of $tools into .venv" >&2
  rm -rf .venv
  if python3 -m venv .venv &&
    .venv/bin/pip install -q --disable-pip-version-check --no-deps --require-hashes -r "$tools"; then
    cp "$tools" .venv/installed.txt
  else
    echo "setup: going on without .venv, which make rtl-lint and tests of formats need" >&2
  fi
fi
