#!/bin/sh
# Unpack a Debian package's node with all libraries it needs into a folder, whatever the machine's own release is:
# nothing of the machine is changed, and it need not be root.
#     debian_node.sh PROGRAM PACKAGE RELEASE FOLDER [RELEASE OF THE LIBRARIES]   ->   FOLDER/PROGRAM
# The mirror is the one that the machine's apt uses for Debian, or DEBIAN_MIRROR. apt checks Debian's signatures.
set -eu

program=$1 package=$2 release=$3 folder=$4 libraries=${5:-$3}
work=$folder.making
apt=$work/apt
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

stop() { printf '%s\n' "$*" >&2; exit 1; }

find_mirror() {
    [ -z "${DEBIAN_MIRROR:-}" ] || { printf '%s\n' "$DEBIAN_MIRROR"; return; }
    cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        grep -v '^[[:space:]]*#' | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' '
}

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || stop "$program: only for Linux on x86-64."
for needed in apt-get dpkg-deb; do
    command -v $needed >/dev/null || stop "$program: $needed is needed, which Debian and its relatives have."
done
[ -r $keyring ] || stop "$program: Debian's keys are missing. Run: apt-get install debian-archive-keyring"
mirror=$(find_mirror)
[ -n "$mirror" ] || stop "$program: apt uses no Debian mirror here. Name one: DEBIAN_MIRROR=http://host/debian"

rm -rf "$work"
trap 'rm -rf "$work"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs" "$work/unpacked"
for suite in $(printf '%s\n' "$release" "$libraries" | sort -u); do
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite"
done >"$apt/sources.list"

apt_get() {
    apt-get -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$apt/lists" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$apt/cache" -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User=root \
        -o APT::Default-Release="$libraries" -o Debug::NoLocking=1 "$@"
}

apt_get -qq update || stop "$program: the mirror could not be read (above is what apt said)."
# As if on an empty machine: what apt would install is all that the program needs.
needed=$(apt_get -s install --no-install-recommends "$package/$release" |
    awk -v asked="$package" -v release="$release" '/^Inst/ { print ($2 == asked) ? $2 "/" release : $2 }')
[ -n "$needed" ] || stop "$program: apt finds no way to install $package of $release."
# shellcheck disable=SC2086 # one word for each package
(cd "$apt/debs" && apt_get -qq download $needed) || stop "$program: the packages could not be fetched."
for deb in "$apt"/debs/*.deb; do
    dpkg-deb -x "$deb" "$work/unpacked"
done

binary=$(find "$work/unpacked" -type f -name "$program" -perm -u+x -size +1M | head -n 1)
loader=$(find "$work/unpacked" -type f -name 'ld-linux-x86-64.so.2' | head -n 1)
[ -n "$binary" ] && [ -n "$loader" ] || stop "$program: the packages of Debian look otherwise than expected."
inside() { printf '%s' "$folder/unpacked${1#"$work/unpacked"}"; }
paths=$(find "$work/unpacked" -type d -path '*lib/x86_64-linux-gnu' |
    while read -r path; do printf '%s:' "$(inside "$path")"; done)
printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$(inside "$loader")" "$paths" "$(inside "$binary")" \
    >"$work/$program"
chmod +x "$work/$program"
rm -rf "$apt" "$work/unpacked/usr/share" "$folder"
mv "$work" "$folder"
trap - EXIT
"$folder/$program" --version | head -n 1
