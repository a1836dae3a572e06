// Package flexins has the experiments about FlexiNS and SmartNS (FN, SN): the figures of their evaluation over the
// whole stack, in scenarios as nictwin run plays them. Figures have FlexiNS's numbers; those of SmartNS are one lower.
//
//	sizes        SEND and WRITE over one connection, by size (Fig. 10)
//	connections  1 to 12 connections (Fig. 11)
//	transmit     header-only transmission and transmission through Arm memory (Fig. 12)
//	timeline     the same beside a flow that is received (Fig. 13)
//	receive      in-cache and naive reception, by the size of the receive rings (Fig. 14)
//	notify       ways to notify the card of requests (Fig. 15a)
//	reflector    a reflector of small frames (Fig. 15b)
//	walk         lists walked on the card, and by READs (Fig. 16a)
//	batch        READs in batches, on the card and one by one (Fig. 16b)
//
// Snap is not modelled. Each point is a scenario (scene), written here, which package run parses and plays. All share
// one calibration (inputs.go): the cycles that a packet takes on an Arm core.
//
// Invariants:
//   - A point in which anything was lost, or arrived late or wrong, fails the experiment.
//   - Rates are taken over a window that begins when rings and caches are warm, and each belongs to a run that
//     was recorded with its precision.
package flexins
