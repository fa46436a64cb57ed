package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// completer is the name under which kubectl looks for a program that completes the plugin's command line.
const completer = "kubectl_complete-application"

// arguments returns what the plugin was asked. Under the completer's name, a link to the plugin, that is to complete the
// rest of the line.
func arguments(args []string) []string {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if name == completer {
		return append([]string{cobra.ShellCompRequestCmd}, args[1:]...)
	}
	return args[1:]
}
