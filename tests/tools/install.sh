#!/bin/sh
# Install what the browser and chain tests need: Chromium from the system's packages, anvil (a local Ethereum node)
# from npm and nodes of Bitcoin and Litecoin from Debian's packages into a folder outside the clone. What is there
# already is left as it is.
set -eu

tools=${GRIDLOT_TOOLS:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/gridlot}
anvil_package=@foundry-rs/anvil-linux-amd64
anvil_version=1.7.1
anvil=$tools/npm/node_modules/$anvil_package/bin/anvil
missing=""

say() { printf '%s\n' "$*"; }
lacks() { missing="$missing
  $*"; }

find_chromium() {
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
        if [ -n "$name" ] && command -v "$name" >/dev/null; then
            command -v "$name"
            return
        fi
    done
}

apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" \
        >"$tools/apt.log" 2>&1 </dev/null
}

install_chromium() {
    if [ -n "$(find_chromium)" ]; then
        say "Chromium: $(find_chromium)"
    elif ! command -v apt-get >/dev/null; then
        lacks "Chromium: there is no apt-get here. Install Chromium by hand, or name one: CHROMIUM=/path/to/chromium"
    elif [ "$(id -u)" -ne 0 ]; then
        lacks "Chromium: only root may install it. Run: sudo apt-get install chromium"
    else
        say "Installing Chromium with apt-get, about a minute ..."
        if apt_install chromium || { apt-get update -qq >/dev/null 2>&1 && apt_install chromium; }; then
            say "Chromium: $(find_chromium)"
        else
            tail -n 5 "$tools/apt.log" >&2
            lacks "Chromium: apt-get failed (above is what it said)."
        fi
    fi
}

install_anvil() {
    if [ -x "${ANVIL:-}" ]; then
        say "Ethereum node (anvil): $ANVIL"
    elif [ -x "$anvil" ] && "$anvil" --version 2>/dev/null | grep -q "$anvil_version"; then
        say "Ethereum node (anvil): $anvil"
    elif [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then
        lacks "Ethereum node: its package is for Linux on x86-64. Install anvil $anvil_version, or name one: ANVIL=/path"
    elif ! command -v npm >/dev/null; then
        lacks "Ethereum node: npm is needed to fetch it. Run: apt-get install npm"
    else
        say "Installing the Ethereum node (anvil) with npm, about 10 seconds ..."
        mkdir -p "$tools/npm"
        # A package's own scripts are not run: the binary lies inside the package.
        if npm install --prefix "$tools/npm" --ignore-scripts --no-audit --no-fund --no-save --loglevel=error \
            "$anvil_package@$anvil_version" >"$tools/npm.log" 2>&1 </dev/null && [ -x "$anvil" ]; then
            say "Ethereum node (anvil): $anvil"
        else
            tail -n 5 "$tools/npm.log" >&2
            lacks "Ethereum node: npm failed (above is what it said)."
        fi
    fi
}

# install_node NAME VARIABLE PROGRAM PACKAGE RELEASE [RELEASE OF THE LIBRARIES]
install_node() {
    name=$1 variable=$2 program=$3 folder=$tools/$3
    shift 3
    given=$(printenv "$variable" || true)
    if [ -x "$given" ]; then
        say "$name node: $given"
    elif [ -x "$folder/$program" ] && "$folder/$program" --version >/dev/null 2>&1; then
        say "$name node: $folder/$program"
    else
        say "Fetching the $name node from Debian's packages, about half a minute ..."
        if "$(dirname -- "$0")/debian_node.sh" "$program" "$1" "$2" "$folder" ${3:+"$3"} >"$tools/$program.log" 2>&1; then
            say "$name node: $folder/$program"
        else
            tail -n 5 "$tools/$program.log" >&2
            lacks "$name node: it could not be fetched (above is why). Install $program, or name one: $variable=/path"
        fi
    fi
}

mkdir -p "$tools"
install_chromium
install_anvil
# Only the newest release has a node of Bitcoin, and only an older one that of Litecoin. Libraries of a finished release
# are steadier than those of the one that is being made.
install_node Bitcoin BITCOIND bitcoind bitcoin-knots sid trixie
install_node Litecoin LITECOIND litecoind litecoind bookworm
if [ -n "$missing" ]; then
    say "Not installed:$missing" >&2
    exit 1
fi
say "All tools are there."
