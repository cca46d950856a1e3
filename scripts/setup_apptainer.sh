#!/bin/sh
# Set up Apptainer for `make test-real`: Debian sid, the only one that has it, below .cache, and a command that runs inside.
# A second run does nothing. Where it cannot be had the reason is said, and its tests are skipped.
set -eu
cd "$(dirname "$0")/.."

home=$PWD/.cache/apptainer
root=$home/root
command=$home/bin/apptainer
if [ -x "$command" ]; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "set-up: Apptainer is set up by root on Debian only; its tests are skipped" >&2
    exit 0
fi

if ! command -v debootstrap >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends debootstrap
fi
# The mirror is the one that this machine's apt uses.
find_mirror() {
    # shellcheck disable=SC2016 # apt's own variable
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1
}
mirror=$(find_mirror)
if [ -z "$mirror" ]; then
    apt-get update -qq
    mirror=$(find_mirror)
fi
if [ -z "$mirror" ]; then
    echo "set-up: apt knows no mirror of Debian to take Apptainer from; its tests are skipped" >&2
    exit 0
fi

echo "set-up: installing Debian sid with Apptainer in .cache/apptainer (minutes)"
rm -rf "$home"
mkdir -p "$home/bin"
debootstrap --variant=minbase --include=apptainer,squashfuse,fakeroot sid "$root" "$mirror" >"$home/log" 2>&1 || {
    tail -n 5 "$home/log" >&2
    echo "set-up: debootstrap failed; the whole log is $home/log" >&2
    exit 1
}

# In a chroot the kernel gives no user namespaces; a pivoted root in a mount namespace of its own is as good as a machine.
mkdir -p "$root/old"
# Apptainer reads it, and a minimal Debian has none.
echo "127.0.0.1 localhost" >"$root/etc/hosts"
cat >"$command.new" <<END
#!/bin/sh
exec unshare --mount --propagation private sh -euc '
cd "\$0"
mount --bind . .
cd "\$0"
for each in proc sys dev tmp; do mount --rbind "/\$each" "\$each"; done
pivot_root . old
umount -l /old
exec apptainer "\$@"' '$root' "\$@"
END
chmod +x "$command.new"
"$command.new" --version
mv "$command.new" "$command"
