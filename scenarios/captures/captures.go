// Package captures embeds the captures that come with nictwin, so that programs need no folder to read them from.
// README.md says where each capture was recorded.
package captures

import "embed"

// Files holds every capture, under its folder: softroce or synthetic.
//
//go:embed softroce/*.pcap synthetic/*.pcap
var Files embed.FS
