// Command hello stands for the plugin in a test of its release.
package main

import "fmt"

var version, commit string

func main() { fmt.Println(version, commit) }
