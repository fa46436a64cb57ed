// Package spec knows from which field of an Application's spec a field of a child comes, and writes the commands that
// change it there. It is pure.
package spec
