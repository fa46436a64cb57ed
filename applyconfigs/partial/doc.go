// Package partial reads partial objects, which hold some fields of a kind, and merges them over apply configurations as
// Server-Side Apply would.
//
// What a user writes into such an object may be anything. [Parse] is strict: it finds every field that the kind does not
// have, every value of a wrong type, and every list entry that could not be told from another, and says where each is.
// [Object.MergeOver] merges by the API server's own code (sigs.k8s.io/structured-merge-diff) under the API server's
// schema: maps by their keys, lists by their keys where they have some, all else as a whole.
//
// The package is pure.
package partial
