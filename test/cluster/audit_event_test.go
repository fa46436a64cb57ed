package cluster

import "testing"

func TestForced(t *testing.T) {
	for uri, want := range map[string]bool{
		"/web?fieldManager=x&force=true":  true,
		"/web?force=True":                 true,
		"/web?force=1":                    true,
		"/web?force=yes&fieldManager=x":   true,
		"/web?force=":                     true,
		"/web?force":                      true,
		"/web?force=true&force=false":     true, // the first one counts
		"/web?force=false":                false,
		"/web?force=FALSE":                false,
		"/web?force=0":                    false,
		"/web?force=false&force=true":     false,
		"/web?fieldManager=x":             false,
		"/force":                          false,
		"/web?fieldManager=force%3Dtrue":  false,
		"/web?enforce=true&fieldManager=": false,
	} {
		event := Event{}
		event.RequestURI = uri
		if got := event.Forced(); got != want {
			t.Errorf("%s: got %t, want %t", uri, got, want)
		}
	}
}
