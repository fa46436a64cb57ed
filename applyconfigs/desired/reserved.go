package desired

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"mycompany.io/application-operator/apis/application/v1alpha1"
)

// reservation is a field of a child that is not for users to set, and why.
type reservation struct {
	path fieldpath.Path
	why  string
}

func reserve(why string, paths ...fieldpath.Path) []reservation {
	list := make([]reservation, 0, len(paths))
	for _, path := range paths {
		list = append(list, reservation{path: path, why: why})
	}
	return list
}

func joined(lists ...[]reservation) []reservation {
	var all []reservation
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// reservedOfAll are those of every child.
var reservedOfAll = joined(
	reserve("it says which object this is, which the operator knows",
		fieldpath.MakePathOrDie("apiVersion"),
		fieldpath.MakePathOrDie("kind"),
		fieldpath.MakePathOrDie("metadata", "name"),
		fieldpath.MakePathOrDie("metadata", "generateName"),
		fieldpath.MakePathOrDie("metadata", "namespace"),
		fieldpath.MakePathOrDie("metadata", "uid"),
	),
	reserve("the Application owns the object, and only the API server writes it otherwise",
		recordKept("metadata")...),
	reserve("nobody would remove the finalizer, and the object could never go",
		fieldpath.MakePathOrDie("metadata", "finalizers"),
	),
	reserve("it is for whoever can write the object itself to let an Application adopt it",
		fieldpath.MakePathOrDie("metadata", "annotations", v1alpha1.AnnotationAdopt),
	),
	reserve("by this label the operator finds its objects and pods",
		fieldpath.MakePathOrDie("metadata", "labels", v1alpha1.LabelApp),
		fieldpath.MakePathOrDie("metadata", "labels", v1alpha1.LabelOwner),
	),
	reserve("it selects the pods, which the operator sees to",
		fieldpath.MakePathOrDie("spec", "selector"),
	),
	reserve("it is for the object's controller to report",
		fieldpath.MakePathOrDie("status"),
	),
)

var (
	reservedOfDeployment = joined(reservedOfAll,
		reserve("the selector needs this label as it is",
			fieldpath.MakePathOrDie("spec", "template", "metadata", "labels", v1alpha1.LabelApp),
			fieldpath.MakePathOrDie("spec", "template", "metadata", "labels", v1alpha1.LabelOwner),
		),
		reserve("the API server writes it for each pod, and heeds no template there",
			append(recordKept("spec", "template", "metadata"), fieldpath.MakePathOrDie("spec", "template", "metadata", "uid"))...),
	)
	reservedOfService = reservedOfAll
)

// recordKept returns the fields of an object's metadata in which the API server keeps its record of the object.
func recordKept(metadata ...any) []fieldpath.Path {
	var paths []fieldpath.Path
	for _, name := range []string{
		"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "ownerReferences", "resourceVersion", "selfLink",
	} {
		paths = append(paths, append(fieldpath.MakePathOrDie(metadata...), fieldpath.MakePathOrDie(name)...))
	}
	return paths
}
