// Package shell writes command lines that people can paste into a POSIX shell.
package shell
