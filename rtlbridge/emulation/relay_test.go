package emulation

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Environment of a test's program that stands between agent and board.
const (
	relayMode  = "NICTWIN_TEST_RELAY"       // what goes wrong
	relayBoard = "NICTWIN_TEST_RELAY_BOARD" // program of the board
	relayFile  = "NICTWIN_TEST_RELAY_FILE"  // receives the process's number, then the bytes from the agent
)

const (
	relayAfter   = 2000                  // bytes from the agent until it goes wrong
	relayLatency = 80 * time.Millisecond // of a slow board, each way

	// Bytes of a narrow link, each way, and the time for these.
	relayPart     = 64
	relayPartTime = 10 * time.Millisecond
)

// relay carries bytes between agent and board, until something goes wrong. It returns the exit status.
func relay(mode string) int {
	signal.Ignore(syscall.SIGPIPE) // the agent may end first
	if err := os.WriteFile(os.Getenv(relayFile), fmt.Appendf(nil, "%d\n", os.Getpid()), 0o644); err != nil {
		return 1
	}
	board, to, from := startBoard()
	most := 4096
	if mode == "narrow" {
		most = relayPart
	}
	var seen atomic.Int64
	var wrong atomic.Bool
	wrong.Store(mode == "mute")
	go func() {
		b := make([]byte, most)
		for {
			n, err := from.Read(b)
			narrow(mode)
			switch {
			case err != nil && wrong.Load() && mode == "reset":
				time.Sleep(time.Millisecond)
				continue
			case err != nil && mode == "stay":
				return
			case err != nil:
				os.Exit(0)
			}
			pass(mode, wrong.Load(), b[:n])
		}
	}()
	b := make([]byte, most)
	for {
		n, err := os.Stdin.Read(b)
		narrow(mode)
		if err != nil {
			break
		}
		if seen.Add(int64(n)) > relayAfter && !wrong.Swap(true) {
			switch mode {
			case "unplug":
				return 3
			case "kill":
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			case "reset":
				_ = board.Process.Kill()
				board, to, from = startBoard()
			case "flood":
				go flood()
			}
		}
		if mode == "slow" {
			late := append([]byte{}, b[:n]...)
			time.AfterFunc(relayLatency, func() { _, _ = to.Write(late) })
		} else if !wrong.Load() || mode != "freeze" {
			_, _ = to.Write(b[:n])
		}
	}
	if mode == "stay" {
		time.Sleep(time.Hour)
	}
	// Appended: when the board's end makes the process exit meanwhile, its number stays.
	if f, err := os.OpenFile(os.Getenv(relayFile), os.O_APPEND|os.O_WRONLY, 0); err == nil {
		_, _ = fmt.Fprintln(f, seen.Load())
	}
	return 0
}

// narrow waits for the time that a narrow link takes for some bytes.
func narrow(mode string) {
	if mode == "narrow" {
		time.Sleep(relayPartTime)
	}
}

// pass gives the agent bytes of the board.
func pass(mode string, wrong bool, b []byte) {
	switch {
	case mode == "slow":
		late := append([]byte{}, b...)
		time.AfterFunc(relayLatency, func() { _, _ = os.Stdout.Write(late) })
		return
	case wrong && (mode == "freeze" || mode == "mute" || mode == "flood"):
		return
	case wrong && mode == "nonsense":
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
	}
	_, _ = os.Stdout.Write(b)
}

// flood gives the agent bytes that are no frames, as fast as it takes them. Frames between them would keep the session.
func flood() {
	b := make([]byte, 1<<16)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	for err := error(nil); err == nil; {
		_, err = os.Stdout.Write(b)
	}
}

// startBoard starts the board's program.
func startBoard() (c *exec.Cmd, to io.Writer, from io.Reader) {
	c = exec.Command(os.Getenv(relayBoard), os.Args[1:]...)
	c.ExtraFiles = []*os.File{os.NewFile(3, "words")}
	in, errIn := c.StdinPipe()
	out, errOut := c.StdoutPipe()
	if errIn != nil || errOut != nil || c.Start() != nil {
		os.Exit(1)
	}
	return c, in, out
}

// relayed returns what a relay wrote about itself: its process, and how many bytes the agent sent.
func relayed(file string) (pid, bytes int) {
	text, _ := os.ReadFile(file)
	_, _ = fmt.Fscan(strings.NewReader(string(text)), &pid, &bytes)
	return pid, bytes
}
