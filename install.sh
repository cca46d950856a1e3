#!/bin/sh
# Install Hermes, or bring it up to date, and put `hermes` on the PATH.
#
# Inside a clone it installs that clone. Anywhere else (curl ... | sh) it clones the repository of HERMES_REPO into
# HERMES_INSTALL_DIR (~/.hermes/hermes-agent).
set -eu

fail() {
    echo "install: $1" >&2
    exit 1
}

find_tree() {
    here=$(cd "$(dirname "$0")" && pwd -P)
    if [ -x "$here/hermes" ] && [ -f "$here/setup-hermes.sh" ]; then
        tree=$here
        return
    fi
    command -v git >/dev/null || fail "git is needed; install it (Debian, Ubuntu: apt install git) and start again"
    tree=${HERMES_INSTALL_DIR:-$HOME/.hermes/hermes-agent}
    if [ -d "$tree/.git" ]; then
        echo "Updating $tree"
        git -C "$tree" pull --quiet --ff-only || fail "$tree has changes of its own; settle them with git and start again"
        return
    fi
    [ -n "${HERMES_REPO:-}" ] || fail "set HERMES_REPO to the address of the Hermes repository and start again"
    echo "Cloning $HERMES_REPO into $tree"
    (umask 077 && mkdir -p "$(dirname "$tree")")
    git clone --quiet "$HERMES_REPO" "$tree" || fail "cloning failed; check HERMES_REPO and the network, and start again"
}

# Interactive shells read one of these; a login shell of Debian has ~/.local/bin on its PATH once the folder exists.
# shellcheck disable=SC2016 # the shell that reads the line expands it
extend_path() {
    case :$PATH: in *":$HOME/.local/bin:"*) return ;; esac
    case ${SHELL:-} in
    */zsh) rc=$HOME/.zshrc line='export PATH="$HOME/.local/bin:$PATH"' ;;
    */fish) rc=$HOME/.config/fish/conf.d/hermes.fish line='fish_add_path ~/.local/bin' ;;
    *) rc=$HOME/.bashrc line='export PATH="$HOME/.local/bin:$PATH"' ;;
    esac
    if ! grep -qsF "$line" "$rc"; then
        mkdir -p "$(dirname "$rc")"
        printf '\n# Added by the installer of Hermes\n%s\n' "$line" >>"$rc"
        echo "Added ~/.local/bin to the PATH in $rc; open a new terminal, then: hermes"
    fi
}

# All in one function, called last: a download that is cut runs nothing.
main() {
    find_tree
    sh "$tree/setup-hermes.sh"
    extend_path
}

main
