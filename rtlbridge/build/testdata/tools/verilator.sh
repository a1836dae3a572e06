#!/bin/sh
# Stands in for Verilator $VERSION: its answers, the options that its help names (verilator-$VERSION.options: one a line, with VALUE
# if one follows), and the files that it leaves. VERILATOR_ROOT is where its run-time lies, LOG gets its command lines, READS is
# one more file that the design is said to read.
echo "verilator $*" >>"$LOG"
case $1 in
--version) echo "Verilator $VERSION stub"; exit ;;
--getenv) echo "$VERILATOR_ROOT"; exit ;;
esac

# known OPTION: in the help, as it is or switched the other way.
known() {
  for o in "$1" "--${1#--no-}" "--no-${1#--}"; do
    grep -qxF -e "$o" -e "$o VALUE" "$TOOLS/verilator-$VERSION.options" && return
  done
  while read -r o; do
    case $o in *\*) case $1 in "${o%\*}"?*) return ;; esac ;; esac
  done <"$TOOLS/verilator-$VERSION.options"
  return 1
}

fst=
while [ $# -gt 0 ]; do
  case $1 in
  -*)
    known "$1" || { echo "%Error: Invalid option: $1" >&2; exit 1; }
    [ "$1" != --Mdir ] || dir=$2
    [ "$1" != --trace-fst ] || fst=verilated_fst_c
    ! grep -qxF -e "$1 VALUE" "$TOOLS/verilator-$VERSION.options" || shift ;;
  *) sources="$sources $1" ;;
  esac
  shift
done

mkdir -p "$dir"
case $VERSION in
5.006) tab='	' syms=Vdut__Syms own= ;;
*) tab='  ' syms=Vdut__Syms__Slow own="$VERILATOR_ROOT/include/verilated_std.sv $VERILATOR_ROOT/include/verilated_std_waiver.vlt" ;;
esac
{
  for p in clk_i rst_ni s_axis_tlast s_axis_tvalid m_axis_tready; do echo "    VL_IN8(&$p,0,0);"; done
  for p in s_axis_tready m_axis_tlast m_axis_tvalid busy_o; do echo "    VL_OUT8(&$p,0,0);"; done
  echo "    VL_IN8(&defect_i,3,0);"
  echo "    VL_OUT8(&level_o,6,0);"
  echo "    VL_INW(&s_axis_tdata,511,0,16);"
  echo "    VL_OUTW(&m_axis_tdata,511,0,16);"
  echo "    VL_IN(&s_axis_tuser,31,0);"
  echo "    VL_OUT(&m_axis_tuser,31,0);"
  echo "    VL_IN64(&s_axis_tkeep,63,0);"
  echo "    VL_OUT64(&m_axis_tkeep,63,0);"
} >"$dir/Vdut.h"
for f in Vdut Vdut___024root__Slow $syms; do echo "// $f" >"$dir/$f.cpp"; done
echo "$dir/Vdut.cpp $dir/Vdut.h  : /usr/bin/verilator_bin /usr/bin/verilator_bin $own$sources $READS" >"$dir/Vdut__ver.d"

list() {
  echo "$1 += \\"
  shift
  for f; do echo "$tab$f \\"; done
  echo
}
{
  list VM_CLASSES_FAST Vdut
  list VM_CLASSES_SLOW Vdut___024root__Slow
  list VM_SUPPORT_FAST
  list VM_SUPPORT_SLOW $syms
  list VM_GLOBAL_FAST verilated verilated_threads $fst
  list VM_GLOBAL_SLOW
} >"$dir/Vdut_classes.mk"
