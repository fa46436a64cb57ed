package partial

import (
	"fmt"
	"strings"
)

// maxListedProblems bounds how many problems a message names.
const maxListedProblems = 8

// Problem is one thing that is wrong with a partial object. It shows no value: that may be a secret.
type Problem struct {
	// Path is where it is, for instance spec.deployment.spec.strategy.
	Path string
	// Message says what is wrong there and what to do.
	Message string
}

func (p Problem) String() string { return p.Path + ": " + p.Message }

// InvalidError says that a partial object cannot be a part of its kind, however often it is tried.
type InvalidError struct {
	// Problems has at least one element, in the order of the object's fields.
	Problems []Problem
}

func (e *InvalidError) Error() string {
	parts := make([]string, 0, len(e.Problems))
	for i, problem := range e.Problems {
		if i == maxListedProblems {
			parts = append(parts, fmt.Sprintf("and %d more", len(e.Problems)-i))
			break
		}
		parts = append(parts, problem.String())
	}
	return strings.Join(parts, "; ")
}

// invalid returns nil if there are no problems.
func invalid(problems ...Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &InvalidError{Problems: problems}
}
