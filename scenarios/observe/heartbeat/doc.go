// Package heartbeat prints how far a run has come, one line at each interval of wall time, also while it stands still.
//
// The run leaves what it knows in a Beat; a goroutine of its own reads it and prints. So a line comes as well when the
// run waits for a device that does not answer, and then says for how long nothing has moved.
//
// It does not affect results: nothing that a run does depends on a Beat. All methods accept a nil Beat, which prints
// nothing, and may be called by any goroutine.
package heartbeat
