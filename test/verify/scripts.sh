#!/bin/sh
# Checks the syntax of the shell scripts, and that they can be started.
set -eu
cd "$(dirname "$0")/../.."

for script in .ci/run $(find deploy test -name '*.sh' | sort); do
	echo "scripts: $script"
	sh -n "$script"
	[ -x "$script" ] || {
		echo "scripts: $script is not executable" >&2
		exit 1
	}
done
