// Package render shows what the operator applies for an Application, without any cluster.
package render
