package partial_test

import (
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"mycompany.io/application-operator/applyconfigs/partial"
)

func TestIndexOf(t *testing.T) {
	port := func(protocol string) fieldpath.PathElement {
		return fieldpath.PathElement{Key: fieldpath.KeyByFields("port", int64(80), "protocol", protocol)}
	}
	udp := map[string]any{"port": int64(80), "protocol": "UDP"}
	short := map[string]any{"port": int64(80)}
	other := map[string]any{"port": int64(81), "protocol": "TCP"}
	for name, c := range map[string]struct {
		items   []any
		element fieldpath.PathElement
		want    int
	}{
		"with all keys, before one that lacks one": {[]any{udp, short}, port("UDP"), 0},
		"with all keys, after one that lacks one":  {[]any{short, udp}, port("UDP"), 1},
		"one that lacks a key with a default":      {[]any{other, udp, short}, port("TCP"), 2},
		"none of that value":                       {[]any{other, udp}, port("TCP"), -1},
		"none with any key":                        {[]any{map[string]any{}, "x", nil}, port("TCP"), -1},
		"of a set":                                 {[]any{"a", "b"}, fieldpath.PathElement{Value: new(value.NewValueInterface("b"))}, 1},
		"by its place":                             {[]any{other, udp}, fieldpath.IndexElement(1), 1},
		"beyond the end":                           {[]any{other, udp}, fieldpath.IndexElement(2), -1},
		"a field":                                  {[]any{other}, fieldpath.FieldNameElement("port"), -1},
	} {
		if got := partial.IndexOf(c.items, c.element); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
