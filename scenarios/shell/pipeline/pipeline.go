// Package pipeline writes what CI systems read, in addition to the artifacts of a run: JUnit XML, GitLab's code quality
// report, GitHub's annotations and step summary.
//
// It also writes the bundles of runs that fail, and opens those that are played.
//
// A run that has begun has a junit.xml which says that it did not finish; End replaces it, Undo removes it for a run
// that did not take place. Without a folder of artifacts nothing is written.
package pipeline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"nictwin/scenarios/observe/annotate"
	"nictwin/scenarios/observe/junit"
	"nictwin/scenarios/observe/result"
)

// Begin writes the files of a run that has begun; `again` is its command line.
func Begin(dir *result.Folder, o *result.Object, again string) error {
	return writeJUnit(dir, junit.Unfinished(o.Command, again, o.Seed))
}

// Undo removes what Begin wrote.
func Undo(dir *result.Folder) {
	if dir.Dir != "" {
		_ = dir.Files.Remove(result.JUnit) // it may not exist yet
	}
}

// End writes the files of a run that has ended.
func End(dir *result.Folder, o *result.Object, again string) error {
	if dir.Dir == "" {
		return nil
	}
	attachments, err := dir.Attachments()
	if err != nil {
		return err
	}
	if err := writeJUnit(dir, junit.Of(o, again, attachments)); err != nil || os.Getenv("GITLAB_CI") == "" {
		return err
	}
	text, err := annotate.GitLab(sources(o), o)
	if err != nil {
		return err
	}
	return dir.Files.Write(result.CodeQuality, text)
}

// Annotate shows a run that has ended to GitHub, if it runs there: workflow commands go to w, the summary to the file
// that GitHub names.
func Annotate(w io.Writer, o *result.Object) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	err := annotate.GitHub(w, sources(o), o)
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return err
	}
	file, openErr := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if openErr != nil {
		return errors.Join(err, fmt.Errorf("GITHUB_STEP_SUMMARY: %w", openErr))
	}
	return errors.Join(err, annotate.Summary(file, o), file.Close())
}

// sources returns where the files that findings name are: below the home; the repository is the checkout of the CI
// system, else the current folder.
func sources(o *result.Object) annotate.Tree {
	t := annotate.Tree{Repo: cmp.Or(os.Getenv("GITHUB_WORKSPACE"), os.Getenv("CI_PROJECT_DIR"))}
	if here, err := os.Getwd(); err == nil {
		t.Repo, t.Here = cmp.Or(t.Repo, here), here
	}
	t.Root = t.Repo
	if o.Home != nil {
		t.Root = o.Home.Dir
	}
	return t
}

// writeJUnit writes junit.xml, whole or not at all.
func writeJUnit(dir *result.Folder, s *junit.Suites) error {
	if dir.Dir == "" {
		return nil
	}
	var text bytes.Buffer
	if err := junit.Write(&text, s); err != nil {
		return err
	}
	return dir.Files.Write(result.JUnit, text.Bytes())
}
