// Package papers runs and judges the experiments of the papers: nictwin bench
// path, nictwin bench ring.
//
// What is where:
//   - claims: what the papers say, as numbers, and how each is compared.
//   - study: the parts of experiments: inputs with their sources, series, byte
//     ledgers, rates with their precision.
//   - requester: a scripted NIC for experiments that need no transport.
//   - path: experiments of links, cache and DRAM; rdma: those that need a NIC
//     with a transport; ring: ring buffers over RDMA, with software on cores.
//     plot: pictures of series.
//
// This package runs them, turns what they measured into verdicts, and writes
// table, JSON and page.
//
// How an experiment is added: write a study.Experiment in package path (or in a
// folder of its own beside it): its name, the claims that it measures, every
// number that it takes from outside as an Input with its source, and a function
// that puts components or boards together, runs them and records series, ledgers
// and what it measured about each claim. Name it in List below. If an input was
// set by a claim, say so in Anchors, and in Instead what it would be without:
// the claim is then not scored, and leave-one-out shows what else depends on it.
// If a claim is missed, Reasons says why, honestly; no constant is added.
//
// Invariants:
//   - No claim is scored that an input of its own experiment was calibrated by,
//     nor one that is an input.
//   - Each claim of an experiment is measured exactly once; a claim that is
//     measured but not listed, or listed but not measured, is an error.
//   - The digest covers inputs, series, ledgers and verdicts; it is the same in
//     every run.
package papers
