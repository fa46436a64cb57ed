// Package cli holds what all commands of the plugin share: the user's cluster and rights, the objects of an Application,
// exit codes, errors that say what to do, the terminal, and completion.
package cli
