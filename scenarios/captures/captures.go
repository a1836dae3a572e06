// Package captures holds the captures that come with nictwin, for programs that are to have them without a folder to
// look in. README.md says where they are from.
package captures

import "embed"

// Files are all of them, by the folder that they are in.
//
//go:embed softroce/*.pcap synthetic/*.pcap
var Files embed.FS
