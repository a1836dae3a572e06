package pair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// Command is the last argument of a process that is to call Main.
const Command = "split-side"

// sideFD is the file descriptor of the second process's socket to the first.
const sideFD = 3

// IsSide reports whether a program was started as the second process.
func IsSide(args []string) bool { return len(args) > 1 && args[len(args)-1] == Command }

// Main runs the second process and returns its exit code. It ends when the first process does.
func Main() int {
	runtime.LockOSThread() // ThreadDelay requires it
	collectLess()
	c, err := newConn(context.Background(), sideFD, "the first process", DefaultOptions().Limit)
	if err == nil {
		err = side(c)
		if errors.Is(err, io.EOF) { // the first process has ended: there is nobody to report to
			return 1
		}
	}
	if err == nil {
		return 0
	}
	text := err.Error()
	if c == nil || c.sendMessage(kindError, []byte(text[:min(len(text), maxText)])) != nil {
		fmt.Fprintln(os.Stderr, text)
	}
	return 1
}

// side simulates the second server, as the messages of the first process say.
func side(c *conn) (err error) {
	if err := greet(c); err != nil {
		return err
	}
	b, err := c.expect(kindJob)
	if err != nil {
		return err
	}
	o, frames, err := parseJob(b)
	if err != nil {
		return err
	}
	c.limit = o.Limit
	for bytes := 0; len(o.Frames) < frames; {
		b, err := c.expect(kindFrames)
		if err != nil {
			return err
		}
		more, err := parsePlayed(b)
		if err != nil {
			return err
		}
		if bytes += len(b); len(more) == 0 || bytes > 2*maxPlayed {
			return broken("FRAMES: none, or more than %d bytes", maxPlayed)
		}
		o.Frames = append(o.Frames, more...)
	}
	if err := o.Validate(); err != nil {
		return err
	}
	h, err := newHalf(o, 1, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := c.sendMessage(kindReady, nil); err != nil {
		return err
	}
	if err := h.run(context.Background()); err != nil {
		return err
	}
	rep, err := h.end()
	if err != nil {
		return err
	}
	if b, err = json.Marshal(outcome{rep, int64(h.missing)}); err != nil {
		return err
	}
	return c.sendMessage(kindReport, b)
}
