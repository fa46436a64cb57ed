#!/bin/sh
# Checks that `make generate` changes nothing. It generates in a copy, so that neither a difference nor an
# interrupted run touches the working tree, and uncommitted changes do not matter.
set -eu
cd "$(dirname "$0")/../.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM

generated='apis applyconfigs deploy'
mkdir -p "$copy/test"
cp -Rp Makefile go.mod go.sum cmd controllers $generated "$copy"
cp -Rp test/tools test/metricstable "$copy/test"

echo "generate: in a copy of the working tree"
"${MAKE:-make}" -s -C "$copy" generate TOOLS="$PWD/bin/tools"
for folder in $generated; do
	diff -ru "$folder" "$copy/$folder" || {
		echo "generate: $folder is out of date; run 'make generate'" >&2
		exit 1
	}
done
