#!/bin/sh
# Checks that kustomize builds every folder of deploy without a warning.
set -eu
cd "$(dirname "$0")/../.."

output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
trap 'exit 1' HUP INT TERM

for folder in $(find deploy -name kustomization.yaml -exec dirname {} \; | sort); do
	echo "deploy: $folder"
	bin/tools/kustomize build "$folder" >"$output/objects" 2>"$output/warnings" || {
		cat "$output/warnings" >&2
		exit 1
	}
	[ ! -s "$output/warnings" ] || {
		cat "$output/warnings" >&2
		exit 1
	}
	[ -s "$output/objects" ] || {
		echo "deploy: $folder is empty" >&2
		exit 1
	}
done
