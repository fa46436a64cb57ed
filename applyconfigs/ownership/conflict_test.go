package ownership

import "testing"

func TestSortAndGroupConflicts(t *testing.T) {
	a := Conflict{Field: ".a", Manager: "m", Operation: applied}
	aByUpdate := Conflict{Field: ".a", Manager: "m", Operation: updated, APIVersion: "apps/v1"}
	aByScale := Conflict{Field: ".a", Manager: "m", Operation: updated, Subresource: "scale", APIVersion: "apps/v1"}
	aByOther := Conflict{Field: ".a", Manager: "l", Operation: updated, APIVersion: "apps/v1"}
	aOldVersion := Conflict{Field: ".a", Manager: "m", Operation: updated, APIVersion: "apps/v0"}
	b := Conflict{Field: ".b", Manager: "m", Operation: applied}
	bAgainstA := Conflict{Field: ".b", Manager: "m", Operation: applied, Against: ".a"}
	bAgainstC := Conflict{Field: ".b", Manager: "m", Operation: applied, Against: ".c"}

	given := []Conflict{b, aByScale, bAgainstC, a, b, bAgainstA, aByUpdate, aOldVersion, bAgainstC, aByOther, a}
	want := []Conflict{aByOther, a, aOldVersion, aByUpdate, aByScale, b, bAgainstA, bAgainstC}
	for range given {
		given = append(given[1:], given[0])
		wantEqual(t, "sorted", SortConflicts(given), want)
	}
	wantEqual(t, "sorted twice", SortConflicts(want), want)
	wantEqual(t, "groups", GroupByField(given), []FieldConflict{
		{Field: ".a", Conflicts: []Conflict{aByOther, a, aOldVersion, aByUpdate, aByScale}},
		{Field: ".b", Conflicts: []Conflict{b, bAgainstA, bAgainstC}},
	})
	wantEqual(t, "groups of nothing", GroupByField(nil), nil)
}

func TestSortConflictsLeavesItsArgument(t *testing.T) {
	given := []Conflict{{Field: ".b"}, {Field: ".a"}, {Field: ".a"}}
	SortConflicts(given)
	wantEqual(t, "argument", given, []Conflict{{Field: ".b"}, {Field: ".a"}, {Field: ".a"}})
}

func TestConflictString(t *testing.T) {
	for want, c := range map[string]Conflict{
		`.a ("ops \"night\" team" by Apply)`:                   {Field: ".a", Manager: `ops "night" team`, Operation: applied},
		`.spec.replicas ("kubectl" by Update through "scale")`: {Field: ".spec.replicas", Manager: "kubectl", Operation: updated, Subresource: "scale", APIVersion: "apps/v1"},
		`.a (owner unknown)`:                                   {Field: ".a"},
		`.a ("" by Update)`:                                    {Field: ".a", Operation: updated},
	} {
		wantEqual(t, "text", c.String(), want)
	}
}
