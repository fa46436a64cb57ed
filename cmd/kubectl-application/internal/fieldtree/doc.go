// Package fieldtree lays an object's managedFields over its content: a tree of all fields, each with its value and with
// exactly the managers that own it.
//
// It is pure, and takes whatever a file may hold: managedFields that are absent, malformed, written at other API versions,
// or about fields that the object does not have. Where the schema of the object's kind is known, it says which lists have
// keys and which values are owned as a whole; for all other kinds that is read off the managedFields themselves.
package fieldtree
