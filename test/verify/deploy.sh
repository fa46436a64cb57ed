#!/bin/sh
# Checks that kustomize builds every folder of deploy without a warning; components, which only add to others, on top of
# the default.
set -eu
cd "$(dirname "$0")/../.."

# Inside of the repository: kustomize takes relative paths only.
mkdir -p bin
output=$(mktemp -d bin/deploy.XXXXXX)
trap 'rm -rf "$output"' EXIT
trap 'exit 1' HUP INT TERM

build() {
	bin/tools/kustomize build "$1" >"$output/objects" 2>"$output/warnings" || {
		cat "$output/warnings" >&2
		exit 1
	}
	[ ! -s "$output/warnings" ] || {
		cat "$output/warnings" >&2
		exit 1
	}
	[ -s "$output/objects" ] || {
		echo "deploy: $1 is empty" >&2
		exit 1
	}
}

for folder in $(find deploy -name kustomization.yaml -exec dirname {} \; | sort); do
	echo "deploy: $folder"
	grep -q '^kind: Component$' "$folder/kustomization.yaml" || {
		build "$folder"
		continue
	}
	cat >"$output/kustomization.yaml" <<-END
		resources: [../../deploy/default]
		components: [../../$folder]
	END
	build "$output"
done
