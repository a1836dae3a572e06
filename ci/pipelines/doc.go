// Package pipelines has ready pipelines for GitHub, GitLab and Jenkins, which play a user's device (docs/ci.md). Its
// tests run every shell step of them.
//
// The tests emulate as much of the CI systems as the pipelines use. A field, action, condition or expression of the
// YAML files that the emulation does not know is an error; of the Jenkinsfile it reads the steps sh, stash and
// unstash, the environment and the matrix.
package pipelines
