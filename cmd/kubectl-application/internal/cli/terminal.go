package cli

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Colour is the value of the flag --color.
type Colour string

// When output is coloured.
const (
	ColourAuto   Colour = "auto"
	ColourAlways Colour = "always"
	ColourNever  Colour = "never"
)

// String returns the word. With Set and Type it makes a Colour the value of a flag.
func (c *Colour) String() string { return string(*c) }

// Set accepts auto, always and never.
func (c *Colour) Set(value string) error {
	switch Colour(value) {
	case ColourAuto, ColourAlways, ColourNever:
		*c = Colour(value)
		return nil
	}
	return errors.New("must be auto, always or never")
}

// Type is what the help calls the value.
func (c *Colour) Type() string { return "auto|always|never" }

// Terminal is what output may look like.
type Terminal struct {
	// Colour allows escape sequences for colours.
	Colour bool
	// Width is the number of columns; 0 means that lines may have any length.
	Width int
}

// Terminal tells what the standard output can show. COLUMNS and NO_COLOR have their usual meaning.
func (f *Factory) Terminal() Terminal {
	fd, isTerminal := terminal(f.Out)
	t := Terminal{Colour: isTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	switch f.Colour {
	case ColourAlways:
		t.Colour = true
	case ColourNever:
		t.Colour = false
	}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		t.Width = columns
	} else if isTerminal {
		if width, _, err := term.GetSize(fd); err == nil {
			t.Width = width
		}
	}
	return t
}

// Interactive reports whether a question can be put to a person.
func (f *Factory) Interactive() bool {
	file, ok := f.In.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func terminal(w io.Writer) (int, bool) {
	file, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	fd := int(file.Fd())
	return fd, term.IsTerminal(fd)
}
