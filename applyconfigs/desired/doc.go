// Package desired turns an Application into the apply configurations of its children.
//
// Its functions are pure. Each call builds a fresh configuration that holds only what the operator owns: nothing
// empty (an empty list or map in an intent can bump the resourceVersion at each apply) and nothing that the API server
// would default (an owned default would conflict with whoever sets the field later). The exception are the defaults inside
// atomic structs, which are owned as a whole anyway.
package desired
