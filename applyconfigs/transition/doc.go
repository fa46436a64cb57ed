// Package transition plans how a live child comes to be as an intent wants it, by unforced applies alone.
//
// Most often that is one apply, or none. Where an apply would do harm on its way (a field that is let go falls back to
// the API server's default, a leftover makes the object invalid) it takes several, each of which leaves a state that is
// fine by itself and from which the plan can be made anew: a crash between any two of them loses nothing.
//
// It also knows what the schema of a kind does not tell: which fields exclude each other, or need one another. What others
// own of such is contested like a field that they own with another value.
//
// The package is pure: it reads objects and returns intents.
package transition
