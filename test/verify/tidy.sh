#!/bin/sh
# Checks that go.mod and go.sum of the given modules are tidy, and that all modules agree on Go and on the minor
# version of the Kubernetes libraries: a mix of minors compiles but does not work together.
set -eu
cd "$(dirname "$0")/../.."

failed=
for module; do
	echo "tidy: $module"
	go -C "$module" mod tidy -diff || failed=yes
done
[ -z "$failed" ] || {
	echo "tidy: run 'make tidy'" >&2
	exit 1
}

agree() {
	[ "$(sort -u | wc -l)" -le 1 ] || {
		echo "tidy: the modules disagree on $1" >&2
		exit 1
	}
}
for module; do
	sed -n 's/^go //p' "$module/go.mod"
done | agree "Go's version"
for module; do
	sed -n 's|^.*[[:space:]]k8s\.io/[a-z-]* v0\.\([1-9][0-9]*\)\.[0-9]*\( // indirect\)\{0,1\}$|\1|p' "$module/go.mod"
done | agree 'the minor version of k8s.io/*'
