// Package ownership answers who owns which field of an object: what its managedFields say, what an unforced
// Server-Side Apply would do to it, and with whom that apply would conflict.
//
// It is pure. Nothing here talks to an API server; everything follows from a live object, its managedFields and an
// apply configuration, by the same merge code (sigs.k8s.io/structured-merge-diff) that the API server runs.
//
// An [Intent] is one apply configuration together with the manager that applies it. [Intent.Compare] decides whether
// applying it would change anything, [Intent.Conflicts] foretells the conflicts, [Intent.Without] gives fields up.
// [Parse] reads managedFields, [FromError] the answer to an apply that did conflict.
package ownership
