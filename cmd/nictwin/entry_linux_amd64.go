package main

// entry is in entry_linux_amd64.s.
func entry()

// What entry tells, on stderr only: who wants JSON gets none this early.
var noSpace = "nictwin: the limit on address space (ulimit -v) is below 2097152 kB, with which Go's runtime may not start: " +
	"want 4194304 kB or more; raise it where nictwin is started\n"

var noFiles = "nictwin: the limit on open files (ulimit -n) is below 7, with which Go's runtime may not start: want 40 or more; raise it where nictwin is started\n"

var _, _, _ = entry, noSpace, noFiles // the linker and entry use them
