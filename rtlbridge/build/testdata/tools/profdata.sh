#!/bin/sh
# Stands in for llvm-profdata $VERSION.
[ "$2" != --version ] || { echo "Debian LLVM version $VERSION"; exit; }
[ "$1 $2" = "merge -o" ] && echo profile >"$3"
