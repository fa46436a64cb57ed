#!/bin/sh
# Builds the plugin for every platform of the manifest, packs one archive for each, and writes the manifest that belongs to
# them, all into bin/krew.
#
#	VERSION=v1.2.3 URL=https://downloads.example.com/v1.2.3 HOMEPAGE=https://example.com deploy/krew/package.sh
#
# URL is where the archives will be found. PLATFORMS="linux_amd64 …" builds fewer; the manifest then has only these.
set -eu
cd "$(dirname "$0")/../.."

: "${VERSION:?is the version, as in v1.2.3}"
: "${URL:?is where the archives will be found}"
: "${HOMEPAGE:?is the homepage of the project}"
COMMIT=${COMMIT:-$(git rev-parse HEAD 2>/dev/null || echo unknown)}
GO=${GO:-go}
template=deploy/krew/application.yaml
output=bin/krew
all=$(sed -n 's/.*<sha256_\([a-z0-9_]*\)>.*/\1/p' "$template")
PLATFORMS=${PLATFORMS:-$all}

checksum() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

rm -rf "$output"
mkdir -p "$output"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

# A platform takes the lines from its selector to its bin.
sed -e "s|<version>|$VERSION|" -e "s|<homepage>|$HOMEPAGE|" -e "s|<url>|$URL|" "$template" >"$output/application.yaml"
for platform in $all; do
	os=${platform%_*} arch=${platform#*_}
	case " $(echo "$PLATFORMS" | tr '\n' ' ') " in
	*" $platform "*) ;;
	*)
		sed "/os: $os, arch: $arch}/,/bin:/d" "$output/application.yaml" >"$folder/manifest"
		mv "$folder/manifest" "$output/application.yaml"
		continue
		;;
	esac
	binary=kubectl-application
	[ "$os" != windows ] || binary=$binary.exe
	echo "krew: $platform"
	GOOS=$os GOARCH=$arch CGO_ENABLED=0 $GO build -trimpath -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT" -o "$folder/$binary" ./cmd/kubectl-application
	cp LICENSE "$folder/"
	archive=$output/kubectl-application_$platform.tar.gz
	tar -C "$folder" -czf "$archive" "$binary" LICENSE
	rm "$folder/$binary"
	sed "s|<sha256_$platform>|$(checksum "$archive")|" "$output/application.yaml" >"$folder/manifest"
	mv "$folder/manifest" "$output/application.yaml"
done
echo "krew: $output/application.yaml"
