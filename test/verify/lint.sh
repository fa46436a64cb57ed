#!/bin/sh
# Lints the given modules, each from its own folder, with the one configuration at the root.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD

failed=
for module; do
	echo "lint: $module"
	# The control plane's module loads all of Kubernetes, which takes the linters that need types minutes each time.
	only=
	[ "$module" != test/controlplane ] || only=--fast-only
	(cd "$module" && "$root/bin/tools/golangci-lint" run --config "$root/.golangci.yml" $only ./...) || failed=yes
done
[ -z "$failed" ]
