"""Which module holds the rule about a program: it is loaded when a command first names one of its programs."""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import listed
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.steps import FORK_BOMB, Step

Rule = Callable[[Step, Ground], Verdict]

# The modules beside this one, each with the names in its RULES.
_NAMES = {
    "clouds": "ansible ansible-galaxy ansible-playbook argocd aws az bq cap chef-client consul docker docker-compose doctl "
    "eksctl fab firebase fly flyctl gcloud gh glab gsutil hcloud helm heroku ibmcloud k3s kind kubectl "
    "linode-cli minikube nerdctl netlify nomad oc oci ollama packer podman podman-compose pulumi puppet s3api "
    "salt terraform terragrunt tofu vagrant vault vercel wrangler",
    "code": "bun",
    "databases": "clickhouse-client cockroach cqlsh createdb createuser dropdb dropuser duckdb duckdb-server initdb keydb-cli "
    "mariadb mongo mongodump mongoimport mongorestore mongosh mycli mysql mysqldump pg_dump pg_dumpall "
    "pg_isready pg_resetwal pgcli presto psql redis-cli snowsql sqlcmd sqlite sqlite3 trino usql valkey-cli",
    "files": "7z 7za base64 bsdtar bunzip2 bzip2 chmod code cp cpio csplit dd dos2unix ed emacs ex fallocate find gcp "
    "gfind gmv grm gtar gunzip gzip hx install joe ln lz4 micro mkdir mkfifo mktemp mv nano nvim patch pico "
    "prename rename rm rmdir rmtrash say script sort split sponge subl tar tee touch trash tree truncate unar "
    "uniq unix2dos unlink unrar unxz unzip unzstd vi view vim xxd xz zip zstd",
    "filters": "awk gawk gojq gsed jq mawk nawk sed yq",
    "git": "git",
    "looking": "open xdg-open",
    "network": "ab aria2c autocannon autossh axel bombardier croc cryptcat curl dig dns2tcp dnscat drill elinks ftp "
    "gallery-dl hey host html2text http https iodine ix k6 lftp links locust lynx magic-wormhole mail mailx mosh "
    "msmtp mtr mutt nc ncat ncftpput netcat nslookup oha onionshare openssl pastebinit ping ping6 pwncat rclone "
    "rsync s-nail s3cmd scp sendmail sftp siege smbclient socat ssh ssh-keyscan sshpass ssmtp swaks telnet "
    "termbin tftp tracepath traceroute transfer transmission-cli vegeta w3m websocat wget wget2 whois wormhole "
    "wrk xh xhs youtube-dl yt-dlp",
    "packages": "apk apt apt-cache apt-get aptitude asdf brew bundle bundler bunx cabal cargo choco composer conda dart deno "
    "dnf dotnet dpkg emerge eopkg flatpak flutter fvm gem gmake go guix hatch make mamba mas micromamba mise mix "
    "nix npm npx nvm opam opkg pacman paru pdm pip pip3 pipenv pipx pkg pnpm pnpx poetry port pyenv rbenv rpm "
    "rustup scoop snap stack swift uv uvx winget xbps-query yarn yay yum zypper",
    "removal": "del-cli rimraf",
    "scripts": ". ash bash cmake dash eval fish java ksh mksh rbash sh source zsh",
    "system": f"{FORK_BOMB} Clear-Disk Format-Volume Invoke-Expression Invoke-WebRequest Remove-Item Set-ExecutionPolicy Stop-Computer "
    "aa-status abduco act add-apt-repository addgroup adduser age-decrypt aircrack-ng anacron apt-key apt-mark "
    "arpspoof arptables at atq atrm badblocks batch bcdedit bettercap bitsadmin blkdiscard bloodhound bore brctl "
    "btrfs bw certutil cfdisk cgminer chamber chattr chcon chfn chgrp chisel chkconfig chown chpasswd chsh "
    "cipher cloudflared cmd cmd.exe cpuminer crackmapexec credstash crontab cryptsetup csrutil daemonize date "
    "debugfs defaults del delgroup deluser depmod dirb diskpart diskutil disown dlv dmesg dmidecode-set doas "
    "domainname dracut dropbear dscl dsniff dtach e2label ebtables ethminer ettercap fc fcron fdisk fdisk-write "
    "firewall-cmd format frida frpc frps fuser gcore getenforce gobuster gopass gotty gpasswd gpg groupadd "
    "groupdel groupmod grub-install grub-mkconfig gs-netcat gsocket hashcat hdparm hdparm-write hermes history "
    "hostname hostnamectl hwclock hydra icacls ifconfig incrontab insmod ip ip6tables ip6tables-save ipset "
    "iptables iptables-restore iptables-save john journalctl kexec kextload kextunload keyctl kill killall "
    "killall5 kwallet-query launchctl ldconfig ligolo linpeas.sh localectl localtunnel login loginctl lpass lt "
    "lvcreate lvextend lvreduce lvremove lxc masscan mdadm mdadm-write metasploit mimikatz minerd mkinitcpio "
    "mkntfs mkswap modprobe mount msfconsole msfvenom mshta multipass nbminer net netexec netsh networkctl newfs "
    "newgrp newusers nft ngrok nikto nmap nmcli nvme nvram op openvpn osascript parted partprobe pass pfctl "
    "pivot_root pkill pm2 pm2-runtime powershell powershell.exe ptrace pvcreate pvmove pvremove pwsh rd reg "
    "regsvr32 resize2fs resolvectl responder restorecon rmmod route rundll32 runuser sc schtasks screen "
    "secret-tool secure-delete security semanage service setcap setenforce setfacl setsid sg_format shred skill "
    "smartctl sops spctl sqlmap srm ssh-add ssh-agent ssh-copy-id ssh-keygen start-stop-daemon su sudo "
    "supervisorctl swapoff swapon sysctl systemctl systemd-cron systemd-run t-rex tailscale takeown tcpdump "
    "teleport telnetd testdisk tightvncserver timedatectl tmate tmux tor tshark ttyd ufw umount "
    "update-alternatives update-grub update-initramfs useradd userdel usermod vgcreate vgextend vgreduce "
    "vgremove vigr vipw virsh vncserver vssadmin wall wetty wevtutil wfuzz wg wg-quick wipe wmic x11vnc "
    "xfs_growfs xkill xmrig xrdp zellij zfs zpool",
    "trades": "adb airflow amplify ansible-config ansible-doc ansible-inventory ansible-vault apache2ctl apachectl "
    "apt-config atlas auditctl bootctl borg bpftool buildah busctl cdk cdktf certbot chage changeset chronyc "
    "codesign copilot coredumpctl crictl dagster datasette dbmate dconf devcontainer direnv dmsetup dpkg-deb "
    "drizzle-kit dscacheutil dvc e2fsck earthly eb efibootmgr etcdctl ethtool fail2ban-client fastboot flux "
    "flyway fossil fsck fwupdmgr gdb gdisk gio goose goreleaser gpgconf gsettings hadoop haproxy hdfs hf hg "
    "httpd huggingface-cli iftop influx istioctl iw iwconfig jarsigner jenv jj k9s kafka-consumer-groups "
    "kafka-consumer-groups.sh kafka-topics kafka-topics.sh kaggle keytool knex kopia kubectx kubens linkerd "
    "liquibase lldb log logrotate losetup mailq migrate mysqladmin networksetup nginx nix-env nix-store nodetool "
    "ntpdate ntpq pacman-key pactl passwd pg_ctl pg_lsclusters pg_restore pixi plutil pmset postconf postqueue "
    "prisma promtool rabbitmq-diagnostics rabbitmqctl railway render restic rfkill rye sam scutil sdk serverless "
    "sfdisk sgdisk skaffold skopeo sls softwareupdate solana sqlc sqlite-utils sshd stripe supabase svn "
    "systemd-analyze tc tmutil tune2fs twilio twine udevadm upower velero visudo volta wandb wipefs xcode-select "
    "zoxide",
}
OWNERS: dict[str, str] = {name: module for module, names in _NAMES.items() for name in names.split()}
"""The module of each program that has a rule of its own."""

_PYTHONS = listed("python python3 pypy")
FOREIGN = listed(
    "R Rscript bun deno elixir iex julia lua lua5.3 lua5.4 luajit matlab node nodejs octave octave-cli perl php ruby ts-node tsx"
)
"""The interpreters that foreign.py reads code for."""


def rule_for(name: str) -> Rule | None:
    """The rule about a program or an interpreter; None if its name alone calls for none."""
    module = OWNERS.get(name)
    return _rules(module)[name] if module else _interpreter_rule(name)


def _interpreter_rule(name: str) -> Rule | None:
    """The rule for an interpreter by its name, with or without a version behind it."""
    plain = name if name.isalpha() else re.sub(r"(?<=[a-zA-Z])\d[\d.]*$", "", name)
    if plain in _PYTHONS:
        from hermes.safety.commands.code import python

        return python
    if plain in FOREIGN or name in FOREIGN:
        from hermes.safety.commands.foreign import interpreter

        return interpreter
    return None


@cache
def _rules(module: str) -> dict[str, Rule]:
    return import_module(f"hermes.safety.commands.{module}").RULES
