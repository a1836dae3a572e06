// Package verbstest holds an implementation of package verbs to what libibverbs
// promises: RunContract connects queue pairs of two devices, or of two contexts
// of one, and looks at completions, states, error numbers and memory.
//
// What a device lacks (DeviceAttr) must be refused as lacking: nothing is left
// out silently. Checks for which one type of queue pair suffices use the first of
// DeviceAttr.Types. It does not look at packets, and does not judge time.
package verbstest
