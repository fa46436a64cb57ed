// Package conflicts finds what is contested on the children of Applications, by the operator's own code and from the live
// objects alone, and says what would end each conflict.
package conflicts
