package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// fingerprint tells builds with different results apart: it covers the
// toolchain, the pinned modules and every source file of this module but tests.
func fingerprint(module string) (string, error) {
	files, err := filepath.Glob(filepath.Join(module, "*.go"))
	if err != nil {
		return "", err
	}
	own, err := filepath.Glob(filepath.Join(module, "build", "*.go"))
	if err != nil {
		return "", err
	}
	files = append(files, own...)
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	files = append(files, filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum"))
	slices.Sort(files)

	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, file := range files {
		name, err := filepath.Rel(module, file)
		if err != nil {
			return "", err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, name, len(content))
		if _, err := sum.Write(content); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// upToDate reports whether the folder holds a finished build of this
// fingerprint. The stamp lists the links after the fingerprint.
func upToDate(folder, want string) bool {
	stamp, err := os.ReadFile(filepath.Join(folder, stampName))
	if err != nil {
		return false
	}
	lines := strings.Fields(string(stamp))
	if len(lines) < 2 || lines[0] != want {
		return false
	}
	for _, name := range lines[1:] {
		// Stat follows the link, so this covers the binary too.
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return false
		}
	}
	return true
}

func writeStamp(folder, fingerprint string, names []string) error {
	return replaceFile(filepath.Join(folder, stampName), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, strings.Join(append([]string{fingerprint}, names...), "\n"))
		return err
	})
}

// replaceFile writes a file so that readers see the old or the new content.
func replaceFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
