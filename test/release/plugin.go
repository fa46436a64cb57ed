package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// pluginName is what kubectl looks for in the PATH.
const pluginName = "kubectl-application"

// platform is what a binary runs on, in Go's words.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// file is one entry of an archive.
type file struct {
	name    string
	content []byte
	mode    os.FileMode
}

// epoch dates all entries, so that the same sources make the same archives. A zip knows no earlier year.
var epoch = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// archive builds the plugin for a platform and packs it: a zip for Windows, a tar.gz for all others.
func (r *release) archive(ctx context.Context, p platform) error {
	folder, err := os.MkdirTemp("", "application-operator-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	name, pack, extension := pluginName, tarGz, "tar.gz"
	if p.os == "windows" {
		name, pack, extension = pluginName+".exe", zipped, "zip"
	}
	binary := filepath.Join(folder, name)
	if err := r.build(ctx, p, binary); err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(r.plugin, "..", "..", "LICENSE"))
	if err != nil {
		return err
	}
	packed, err := pack([]file{{name, content, 0o755}, {"LICENSE", license, 0o644}})
	if err != nil {
		return err
	}
	archive := fmt.Sprintf("%s_%s_%s_%s.%s", pluginName, r.version, p.os, p.arch, extension)
	return os.WriteFile(filepath.Join(r.output, archive), packed, 0o644)
}

// goBuild builds the plugin as static binary that knows its version.
func (r *release) goBuild(ctx context.Context, p platform, binary string) error {
	stamps := fmt.Sprintf("-s -w -X main.version=%s -X main.commit=%s", r.version, r.commit)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", stamps, "-o", binary, "./"+filepath.ToSlash(r.plugin))
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}

func tarGz(files []file) ([]byte, error) {
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipper)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.content)), ModTime: epoch, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zipper.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func zipped(files []file) ([]byte, error) {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(f.mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// writeChecksums writes what `sha256sum --check checksums.txt` reads, of all files in a folder.
func writeChecksums(folder string) error {
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), entry.Name())
	}
	return os.WriteFile(filepath.Join(folder, "checksums.txt"), []byte(lines.String()), 0o644)
}
