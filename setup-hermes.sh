#!/bin/sh
# Set Hermes up in this tree and put a link to it into ~/.local/bin.
set -eu
tree=$(cd "$(dirname "$0")" && pwd -P)
bin=$HOME/.local/bin

if [ -e "$bin/hermes" ] && [ ! -h "$bin/hermes" ]; then
    echo "setup-hermes: $bin/hermes exists and is no link; move it away and start again" >&2
    exit 1
fi
"$tree/hermes" --version
mkdir -p "$bin"
ln -sfn "$tree/hermes" "$bin/hermes"
case :$PATH: in
*":$bin:"*) echo "Start it with: hermes" ;;
*) echo "Start it with: $bin/hermes (or put $bin on your PATH, then: hermes)" ;;
esac
