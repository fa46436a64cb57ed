// Package spec writes the commands that change a field of an Application's spec. It is pure.
package spec
