package main

import (
	"fmt"
	"runtime"
)

// version and commit are set when the command is linked.
var (
	version = "v0.0.0-dev"
	commit  = "unknown"
)

func versionString() string {
	return fmt.Sprintf("application-operator %s (commit %s, %s, %s/%s)", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
