package house

// corners lists folders that may import less than the rest of their room (top-level folder).
var corners = map[string]room{
	"scenarios/traffic": {
		[]string{"models", "scenarios/traffic"}, "players are plugged into any Ethernet port, whatever device is " +
			"behind it", nil,
	},
	"golden/memory": {[]string{"models/sim/fixedseed"},
		"where ranges lie and which bytes of them were touched, whoever judges that", nil},
	"golden/accounts": {[]string{"models", "golden/counters", "golden/verdict"},
		"what credit accounts can be, whoever asks", nil},
	"golden/cycles": {[]string{"models/sim/fifo"}, "a set of cycles, whatever happened in them", nil},
	"golden/pause": {[]string{"models", "golden/cycles", "golden/verdict"},
		"pauses of a port, whoever holds frames and queues", nil},
	"golden/msix": {[]string{"models", "golden/msix", "golden/verdict"},
		"messages that queues owe, whoever sees them", nil},
	"golden/buffers": {
		[]string{"models", "golden/attribution", "golden/buffers", "golden/memory", "golden/rings", "golden/verdict"},
		"what was written to receive buffers, whoever judges it", nil},
	"golden/arrivals": {[]string{"models", "golden/arrivals", "golden/counters", "golden/verdict", "golden/windows"},
		"frames that came in and are undecided, whoever decides", nil},
	"golden/rings": {[]string{"models", "golden/rings"},
		"doorbells and failed reads of a ring, whoever owns it", nil},
	"golden/attribution": {
		[]string{"models", "golden/attribution", "golden/cycles", "golden/memory", "golden/rings", "golden/verdict"},
		"whose a read or a write was, whoever judges it", nil},
	"golden/counters":    {[]string{"models"}, "what counters may say, whoever judges that", nil},
	"golden/windows":     {[]string{"models"}, "what the configuration was when, whoever asks", nil},
	"golden/verdict":     {[]string{"models"}, "it writes down what others judge", nil},
	"rtlbridge/protocol": {[]string{}, "bytes and their meaning: whoever speaks it, in whatever language", nil},
	"rtlbridge/manifest": {
		[]string{"rtlbridge/protocol", "rtlbridge/manifest", "models/sim/field", "models/sim/simcore",
			"models/sim/specfile"}, "a file is read and bound, whatever is made of it", nil},
	"rtlbridge/build": {
		[]string{"models", "rtlbridge/protocol", "rtlbridge/manifest", "rtlbridge/build", "rtlbridge/lockfile"},
		"a program is made, whoever talks to it", nil},
	"rtlbridge/emulation": {
		[]string{"rtlbridge/protocol", "rtlbridge/manifest", "rtlbridge/build", "rtlbridge/emulation"},
		"a shell is a text around a device, whoever plays it", []string{"rtlbridge"}},
	"rtlbridge/build/cache": {[]string{"rtlbridge/build/cache", "rtlbridge/lockfile"},
		"files with names and locks, whatever is in them", nil},
	"rtlbridge/build/toolchain": {[]string{"rtlbridge/build/toolchain"}, "tools are found and run, whatever for", nil},
	"stack/verbs":               {[]string{"models"}, "an interface knows none of its implementations", nil},
	"stack/cc":                  {[]string{"models"}, "how fast to send does not depend on what is sent", nil},
	"stack/pipe": {
		[]string{"models", "stack/driver", "stack/verbs", "stack/pipe"},
		"a pipe carries elements, whoever makes and takes them", nil,
	},
	"scenarios/traffic/capture": {[]string{"models"}, "reading a file takes no device", nil},
	"scenarios/traffic/craft":   {[]string{"models"}, "making a frame takes no device", nil},
	"scenarios/suite/blocks": {
		[]string{"models", "rtlbridge", "scenarios/suite/blocks", "scenarios/traffic/craft", "scenarios/shell/home"},
		"a block alone is compared with its Go twin: no board, driver or referee has a say", nil,
	},
	"scenarios/suite/blocks/kit": {[]string{"models", "scenarios/traffic/craft"},
		"layouts and packets know no device", nil},
	"scenarios/suite/blocks/cells": {[]string{"models", "scenarios/suite/blocks/kit"},
		"a cell knows nothing of the contract, so its reference is of no model",
		[]string{"rtlbridge", "rtlbridge/build", "rtlbridge/manifest", "rtlbridge/protocol",
			"scenarios/suite/blocks", "scenarios/shell/home/hometest"}},
	"scenarios/suite/blocks/receive": {[]string{"models", "scenarios/suite/blocks/kit", "scenarios/traffic/craft"},
		"a pair is a layout, a stimulus and a reference, whoever plays it", nil},
	"scenarios/suite/blocks/transmit": {[]string{"models", "scenarios/suite/blocks/kit", "scenarios/traffic/craft"},
		"a pair is a layout, a stimulus and a reference, whoever plays it", nil},
	"scenarios/suite/blocks/registers": {[]string{"models", "scenarios/suite/blocks/kit", "scenarios/traffic/craft"},
		"a pair is a layout, a stimulus and a reference, whoever plays it", nil},
	"scenarios/suite/contract/kit": {
		[]string{"models", "golden", "stack/driver", "scenarios/bed/device", "scenarios/bed/judge",
			"scenarios/bed/testbed", "scenarios/traffic"}, "the checks use it, not the reverse", nil},
	"scenarios/fuzz/program": {[]string{"models", "stack/driver", "scenarios/shell/files", "scenarios/traffic/craft"},
		"a program is data: no bed, player or generator has a say", nil},
	"models/ref/remote": {[]string{"models/ref"}, "messages of a reference, whoever starts its process",
		nil},
	"models/ref": {[]string{"models/format/tlp"},
		"a reference says what is right: it knows no player, no time but cycles and no device of ours", nil},
	"scenarios/dutnew": {[]string{"rtlbridge"}, "it sees ports and writes a text, whoever reads it",
		nil},
	"scenarios/observe/waves": {[]string{"models/sim/simcore", "rtlbridge"},
		"a waveform shows pins, whatever is played on them", nil},
	"scenarios/play": {
		[]string{"models/ref", "models/sim/field", "models/sim/specfile", "models/sim/simcore", "rtlbridge",
			"scenarios/shell/home", "scenarios/shell/shard", "scenarios/play/own", "scenarios/traffic/capture",
			"scenarios/observe/waves"},
		"anybody's device is judged by its manifest and its reference: no NIC, board, driver or referee has a say", nil,
	},
	"scenarios/play/own": {
		[]string{"models/ref", "models/sim/field", "rtlbridge/build", "scenarios/shell/home/hometest"},
		"a program is built and held to limits, whatever device it judges", nil},
	"scenarios/observe/akitaview": {
		[]string{"models", "scenarios/observe/akitaview", "scenarios/bed/device", "scenarios/replay",
			"scenarios/traffic/craft"}, "a viewer sees an engine, whatever runs on it", nil},
	"stack/apps": {
		[]string{"models/sim/field", "models/sim/fifo", "models/sim/fixedseed", "stack/verbs", "stack/rb2",
			"stack/apps/kind"},
		"applications know the verbs, and not what carries them out", nil,
	},
	"stack/apps/kind": {[]string{"models/sim/field", "stack/rb2", "stack/apps/kind"},
		"a kind is described, whoever carries it out", nil},
	"stack/rb2": {[]string{"models/sim/field", "models/sim/fixedseed", "stack/verbs"},
		"a ring knows the verbs, and not what carries them out", nil},
	"stack/transport": {
		[]string{"models/format/wire", "models/sim/field", "models/sim/fifo", "stack/verbs", "stack/transport/seq"},
		"it is compared with models/rnic as an independent implementation, and needs no board, memory or congestion " +
			"control",
		[]string{"models/rnic/core", "models/rnic/rnicspec"},
	},
	"stack/transport/seq": {[]string{"models/sim/fifo"}, "numbers and their order know no packet", nil},
	"scenarios/observe/wiretap": {
		[]string{"models", "golden/trace", "scenarios/shell/files", "scenarios/observe/wiretap"},
		"a wire is recorded, whoever sends on it", nil},
	"scenarios/shell/inorder": {nil, "jobs are played in order, whatever they are",
		[]string{"models/sim/fixedseed", "scenarios/shell/inorder"}},
	"scenarios/run/probe": {
		[]string{"models", "scenarios/observe/chart", "scenarios/run/probe", "stack/driver", "stack/transport"},
		"a board is measured, whatever runs on it, by what its packets say", nil,
	},
	"scenarios/run/probe/classes": {
		[]string{"models", "stack/driver", "stack/transport"},
		"bytes are told apart by what crosses a link, and by what its memory is for", nil,
	},
	"scenarios/run/stats": {
		[]string{"models/sim/quantity", "models/sim/simcore", "models/sim/steady", "models/sim/fixedseed"},
		"statistics are of stamps, whoever made them", nil,
	},
	"scenarios/papers/claims": {nil, "what papers say does not depend on what was built", nil},
	"scenarios/papers/study":  {[]string{"models"}, "what experiments are made of knows none of them", nil},
	"scenarios/papers/requester": {
		[]string{"models"}, "it stands in a board's slot, like any NIC", nil,
	},
	"scenarios/papers/rdma": {
		[]string{"models", "stack", "scenarios/bed/device", "scenarios/papers/study", "scenarios/papers/requester"},
		"an experiment measures; claims are judged elsewhere", nil,
	},
	"scenarios/papers/ring": {
		[]string{"models", "stack", "scenarios/bed/device", "scenarios/papers/study"},
		"an experiment measures; claims are judged elsewhere", nil,
	},
	"scenarios/papers/flexins": {
		[]string{"models", "scenarios/papers/point", "scenarios/papers/study", "scenarios/run"},
		"every point is a scenario that package run plays: no script, and no part of the stack", nil,
	},
	"scenarios/papers/ceio": {
		[]string{"models", "scenarios/papers/point", "scenarios/papers/study", "scenarios/run"},
		"every point is a scenario that package run plays: no script, and no part of the stack", nil,
	},
	"scenarios/papers/point": {
		[]string{"models", "scenarios/papers/study", "scenarios/run"}, "points of any paper", nil,
	},
	"scenarios/papers/path": {
		[]string{"models", "stack", "scenarios/bed/device", "scenarios/papers/study", "scenarios/papers/requester"},
		"an experiment measures; claims are judged elsewhere", nil,
	},

	"scenarios/delta": {[]string{"models/sim/fixedseed", "scenarios/delta"}, "a search, whatever is made smaller", nil},

	"scenarios/observe/chart":     {nil, "a picture is of numbers, whatever they are of", nil},
	"scenarios/observe/heartbeat": {nil, "how far a run is, whatever runs", nil},
	"scenarios/shell/children":    {nil, "processes, whoever started them", nil},
	"scenarios/shell/shard":       {nil, "parts of a list, whatever is in it", nil},

	"scenarios/observe/junit":    {[]string{"scenarios/observe"}, "a format of results", nil},
	"scenarios/observe/annotate": {[]string{"scenarios/observe"}, "a format of results", nil},
}
