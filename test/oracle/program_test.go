package oracle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProgramsSurviveTheirText(t *testing.T) {
	for seed := range uint64(200) {
		text := generate(seed, 30).String()
		parsed, err := parseProgram(text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if diff := cmp.Diff(text, parsed.String()); diff != "" {
			t.Fatalf("seed %d: -generated +parsed:\n%s", seed, diff)
		}
		if text != generate(seed, 30).String() {
			t.Fatalf("seed %d makes two programs", seed)
		}
	}
}

func TestGeneratedSettingsHaveContent(t *testing.T) {
	for seed := range uint64(200) {
		for _, s := range generate(seed, 30) {
			var err error
			switch s.verb {
			case verbCreate, verbEdit:
				_, err = applicationContent(settings{}.with(s.settings...))
			case verbApply, verbForce, verbUpdate, verbPost:
				_, err = childContent(s.kind, s.settings)
			case verbPut, verbJSON:
				for _, one := range s.settings {
					if _, err = newChange(s.kind, one, map[string]any{}); err != nil {
						break
					}
				}
			}
			if err != nil {
				t.Errorf("seed %d: %s: %v", seed, s, err)
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"dance":                        `line 1: no verb "dance"`,
		"rest\nrest now":               "line 2: rest takes no settings",
		"apply":                        "line 1: apply needs an actor",
		"apply helm":                   "line 1: apply needs a kind",
		"apply helm Pod":               `line 1: no kind "Pod"`,
		"create image":                 `line 1: "image" is neither KEY=VALUE nor -KEY`,
		"scale kubectl":                "line 1: scale takes replicas=NUMBER",
		"scale kubectl cpu=1":          "line 1: scale takes replicas=NUMBER",
		"\n# a comment\nwipe Workload": `line 3: no kind "Workload"`,
	} {
		if _, err := parseProgram(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}
