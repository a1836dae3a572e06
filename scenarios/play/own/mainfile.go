package own

// hookText is the program's main file. It serves requests with the reference, and contains nothing of the user's.
const hookText = `package main

import (
	"fmt"
	"os"
	"syscall"

	"nictwin/models/ref/remote"
	userref "nictwin/userref"
)

func main() {
	var files [3]*os.File
	for i := range files {
		syscall.CloseOnExec(3 + i)
		files[i] = os.NewFile(uintptr(3+i), "channel")
	}
	if err := remote.Serve(files[0], files[1], files[2], userref.Reference); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(remote.NoChannel)
	}
}
`
