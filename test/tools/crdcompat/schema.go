package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// schemas compares the schemas of two releases: whatever an object, or who reads and writes it, could rely on.
type schemas struct {
	broken []string
}

func (s *schemas) add(path, format string, args ...any) {
	s.broken = append(s.broken, path+": "+fmt.Sprintf(format, args...))
}

// compare notes what breaks between two schemas of the field at path.
func (s *schemas) compare(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	if was.Type != is.Type || was.XIntOrString != is.XIntOrString {
		s.add(path, "the type was %s and is %s", typeOf(was), typeOf(is))
		return // all else would only follow from it
	}
	s.compareValues(path, was, is)
	s.compareLimits(path, was, is)
	s.compareMerging(path, was, is)
	s.compareRules(path, was, is)
	s.compareProperties(path, was, is)

	if was.Items != nil && was.Items.Schema != nil && is.Items != nil && is.Items.Schema != nil {
		s.compare(path+"[]", was.Items.Schema, is.Items.Schema)
	}
	switch wasMap, isMap := valuesOf(was), valuesOf(is); {
	case wasMap != nil && isMap != nil:
		s.compare(path+"{}", wasMap, isMap)
	case wasMap != nil && !allowsAny(is):
		s.add(path, "keys of one's own are no longer allowed")
	}
}

func (s *schemas) compareProperties(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	for _, name := range sortedKeys(was.Properties) {
		before := was.Properties[name]
		after, found := is.Properties[name]
		switch {
		case found:
			s.compare(path+"."+name, &before, &after)
		case !allowsAny(is):
			s.add(path+"."+name, "was removed")
		}
	}
	for _, name := range is.Required {
		if !slices.Contains(was.Required, name) && is.Properties[name].Default == nil {
			s.add(path+"."+name, "is newly required")
		}
	}
	if allowsAny(was) && !allowsAny(is) {
		s.add(path, "unknown fields are no longer kept")
	}
	if was.XEmbeddedResource != is.XEmbeddedResource {
		s.add(path, "x-kubernetes-embedded-resource changed")
	}
}

func (s *schemas) compareValues(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	if was.Nullable && !is.Nullable {
		s.add(path, "null is no longer allowed")
	}
	if before, after := text(was.Default), text(is.Default); before != after {
		s.add(path, "the default was %s and is %s", before, after)
	}
	if len(is.Enum) > 0 && len(was.Enum) == 0 {
		s.add(path, "is newly limited to an enumeration")
	}
	for i := range was.Enum {
		if len(is.Enum) > 0 && !slices.ContainsFunc(is.Enum, func(j apiextensionsv1.JSON) bool { return string(j.Raw) == string(was.Enum[i].Raw) }) {
			s.add(path, "the value %s is no longer allowed", was.Enum[i].Raw)
		}
	}
	for _, word := range []struct{ name, was, is string }{{"pattern", was.Pattern, is.Pattern}, {"format", was.Format, is.Format}} {
		if word.is != "" && word.was != word.is {
			s.add(path, "the %s was %q and is %q", word.name, word.was, word.is)
		}
	}
	for _, of := range []struct {
		name    string
		was, is any
	}{{"allOf", was.AllOf, is.AllOf}, {"anyOf", was.AnyOf, is.AnyOf}, {"oneOf", was.OneOf, is.OneOf}, {"not", was.Not, is.Not}} {
		if !reflect.DeepEqual(of.was, of.is) && !empty(of.is) {
			s.add(path, "%s changed", of.name)
		}
	}
}

func (s *schemas) compareLimits(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	for _, limit := range []struct {
		name    string
		was, is *int64
		upper   bool
	}{
		{"maxLength", was.MaxLength, is.MaxLength, true},
		{"maxItems", was.MaxItems, is.MaxItems, true},
		{"maxProperties", was.MaxProperties, is.MaxProperties, true},
		{"minLength", was.MinLength, is.MinLength, false},
		{"minItems", was.MinItems, is.MinItems, false},
		{"minProperties", was.MinProperties, is.MinProperties, false},
	} {
		if limit.is != nil && *limit.is == 0 && !limit.upper {
			continue // nothing is shorter
		}
		if narrower(limit.was, limit.is, limit.upper) {
			s.add(path, "%s was %s and is %s", limit.name, number(limit.was), number(limit.is))
		}
	}
	for _, limit := range []struct {
		name      string
		was, is   *float64
		wasX, isX bool
		upper     bool
	}{
		{"maximum", was.Maximum, is.Maximum, was.ExclusiveMaximum, is.ExclusiveMaximum, true},
		{"minimum", was.Minimum, is.Minimum, was.ExclusiveMinimum, is.ExclusiveMinimum, false},
	} {
		if narrower(limit.was, limit.is, limit.upper) {
			s.add(path, "%s was %s and is %s", limit.name, number(limit.was), number(limit.is))
		} else if limit.is != nil && limit.isX && !limit.wasX {
			s.add(path, "%s itself is no longer allowed", limit.name)
		}
	}
	if is.MultipleOf != nil && !reflect.DeepEqual(was.MultipleOf, is.MultipleOf) {
		s.add(path, "multipleOf was %s and is %s", number(was.MultipleOf), number(is.MultipleOf))
	}
	if is.UniqueItems && !was.UniqueItems {
		s.add(path, "equal items are no longer allowed")
	}
}

// compareMerging compares what Server-Side Apply goes by. To change it moves ownership.
func (s *schemas) compareMerging(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	for _, word := range []struct {
		name    string
		was, is string
	}{
		{"x-kubernetes-list-type", deref(was.XListType, "atomic"), deref(is.XListType, "atomic")},
		{"x-kubernetes-map-type", deref(was.XMapType, "granular"), deref(is.XMapType, "granular")},
		{"x-kubernetes-list-map-keys", strings.Join(was.XListMapKeys, " "), strings.Join(is.XListMapKeys, " ")},
	} {
		if word.was != word.is {
			s.add(path, "%s was %q and is %q, which moves ownership", word.name, word.was, word.is)
		}
	}
}

// compareRules notes rules that are new. Rules that go away only allow more.
func (s *schemas) compareRules(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	for i := range is.XValidations {
		rule := is.XValidations[i].Rule
		if !slices.ContainsFunc(was.XValidations, func(v apiextensionsv1.ValidationRule) bool { return v.Rule == rule }) {
			s.add(path, "the rule %q is new", rule)
		}
	}
}

// allowsAny reports whether objects of the schema keep fields that it does not name.
func allowsAny(p *apiextensionsv1.JSONSchemaProps) bool {
	return p.XPreserveUnknownFields != nil && *p.XPreserveUnknownFields
}

// valuesOf returns the schema of the values of a map, or nil for anything else.
func valuesOf(p *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if p.AdditionalProperties == nil {
		return nil
	}
	return p.AdditionalProperties.Schema
}

// narrower reports whether a limit allows less than before.
func narrower[T int64 | float64](was, is *T, upper bool) bool {
	switch {
	case is == nil:
		return false
	case was == nil:
		return true
	case upper:
		return *is < *was
	default:
		return *is > *was
	}
}

func typeOf(p *apiextensionsv1.JSONSchemaProps) string {
	if p.XIntOrString {
		return "integer or string"
	}
	if p.Type == "" {
		return "any"
	}
	return p.Type
}

func text(value *apiextensionsv1.JSON) string {
	if value == nil {
		return "none"
	}
	var parsed any
	if json.Unmarshal(value.Raw, &parsed) != nil {
		return string(value.Raw)
	}
	return fmt.Sprintf("%#v", parsed)
}

func number[T int64 | float64](value *T) string {
	if value == nil {
		return "none"
	}
	return fmt.Sprint(*value)
}

func deref(value *string, fallback string) string {
	if value == nil {
		return fallback
	}
	return *value
}

func empty(value any) bool {
	v := reflect.ValueOf(value)
	return v.IsNil() || v.Kind() == reflect.Slice && v.Len() == 0
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
