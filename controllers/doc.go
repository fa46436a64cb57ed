// Package controllers holds the reconcile loop of Application.
//
// Data flows one way: request, cached reads, desired, compare, apply, status apply. Nothing here reads an object in
// order to write it back, nothing forces a conflict, nothing sleeps or polls.
package controllers
