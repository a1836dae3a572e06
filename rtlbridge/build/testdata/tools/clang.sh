#!/bin/sh
# Stands in for clang++ $VERSION: its answers and the files that it leaves; what it links plays any recording. RUNTIME is the
# run-time for profiles that it links, RUNTIME_DIR the folder that it says run-times lie in, PROFDATA the llvm-profdata that it
# knows of, LOG gets its command lines.
echo "clang++ $*" >>"$LOG"
case $1 in
--version) echo "Debian clang version $VERSION"; exit ;;
-dumpversion) echo "$VERSION"; exit ;;
-print-runtime-dir) echo "$RUNTIME_DIR"; exit ;;
-print-prog-name=llvm-profdata) echo "$PROFDATA"; exit ;;
"-###")
  printf 'Debian clang version %s\n "/usr/bin/ld" "-o" "a.out" "/dev/null" "%s" "-lc"\n' "$VERSION" "$RUNTIME" >&2
  exit ;;
esac
case " $* " in *" -dM "*) echo "#define __x86_64__ 1"; exit ;; esac # macros
compiles=
while [ $# -gt 0 ]; do
  case $1 in
  -E) exit ;; # it has no macros
  -c) compiles=y ;;
  -o) out=$2; shift ;;
  esac
  shift
done
if [ -n "$compiles" ]; then
  echo object >"$out"
else
  cat >"$out" <<'END'
#!/bin/sh
[ -z "$LLVM_PROFILE_FILE" ] || echo counters >"$LLVM_PROFILE_FILE"
echo '{"cycles":1,"digest":"0"}'
END
  chmod +x "$out"
fi
