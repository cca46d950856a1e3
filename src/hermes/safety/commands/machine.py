"""Programs of the machine: the verbs with which they only look, and those that never only look."""

from hermes.safety.commands.argv import listed
from hermes.safety.commands.verbs import Verbs

WHY = "{} changes this machine"
_SERVICES = "status show list-units list-unit-files list-timers list-sockets list-dependencies is-active is-enabled is-failed cat get-default list-jobs list-machines is-system-running show-environment"

VERBS: dict[str, Verbs] = {
    name: Verbs(reads=reads, bare=bare, rule="system", why=WHY, valued=valued)
    for name, reads, bare, valued in (
        ("systemctl", _SERVICES, True, "-t --type -p --property -H -M -n --state"),
        ("loginctl", "list-sessions list-users session-status user-status show-session show-user list-seats", True, ""),
        ("launchctl", "list print blame print-disabled dumpstate version managername", False, ""),
        ("hostnamectl", "status", True, ""),
        ("timedatectl", "status show list-timezones timesync-status", True, ""),
        ("localectl", "status list-locales list-keymaps", True, ""),
        ("resolvectl", "status query statistics dns", True, ""),
        ("networkctl", "list status", True, ""),
        ("nmcli", "general connection.show device.status device.show device.wifi device con.show dev.status", True, ""),
        ("ufw", "status version show app.list", False, ""),
        ("firewall-cmd", "", False, ""),
        ("zfs", "list get version diff", False, "-o -t -H"),
        ("zpool", "list status get iostat history version", False, ""),
        ("btrfs", "subvolume.list filesystem.show filesystem.usage filesystem.df device.stats", False, ""),
        ("cryptsetup", "status luksDump isLuks luksUUID benchmark", False, ""),
        ("nft", "list", False, ""),
        ("pm2", "list ls status logs show describe monit info", False, ""),
        ("supervisorctl", "status tail avail version", False, ""),
        ("tmux", "ls list-sessions list-windows list-panes capture-pane display-message show-options", False, "-L -S"),
        ("brctl", "show", False, ""),
        ("diskutil", "list info", False, ""),
        ("defaults", "read find domains", False, ""),
        ("csrutil", "status", False, ""),
        ("spctl", "", False, ""),
        ("tailscale", "status ip ping version netcheck", False, ""),
        ("update-alternatives", "", False, ""),
        ("aa-status", "", True, ""),
        ("getenforce", "", True, ""),
        ("dscl", "", False, ""),
        ("wg", "show", True, ""),
        ("virsh", "list dominfo dumpxml", False, ""),
        ("lxc", "list info image.list", False, ""),
        ("multipass", "list info version", False, ""),
    )
}

# What never only reads, whatever its arguments; with the rule and what is the matter.
ALWAYS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        listed(
            "useradd adduser usermod userdel deluser groupadd groupdel groupmod addgroup delgroup gpasswd "
            "chpasswd newusers vipw vigr chsh chfn newgrp"
        ),
        ("users", "{} changes who may use this machine"),
    ),
    **dict.fromkeys(
        listed(
            "modprobe insmod rmmod depmod kexec grub-install update-grub grub-mkconfig update-initramfs dracut "
            "mkinitcpio setenforce setcap setfacl chattr chcon semanage restorecon nvram kextload kextunload "
            "pivot_root swapoff swapon mkswap umount hwclock dmidecode-set"
        ),
        ("system", "{} changes this machine's system"),
    ),
    **dict.fromkeys(
        listed(
            "fdisk-write cfdisk blkdiscard mkntfs newfs resize2fs e2label xfs_growfs debugfs badblocks partprobe "
            "pvcreate pvremove vgcreate vgremove lvcreate lvremove lvextend lvreduce vgextend vgreduce pvmove "
            "mdadm-write hdparm-write nvme sg_format testdisk srm wipe secure-delete"
        ),
        ("disks", "{} changes or destroys a disk"),
    ),
    **dict.fromkeys(
        listed(
            "systemd-run setsid disown batch screen zellij dtach abduco daemonize start-stop-daemon incrontab fcron "
            "anacron systemd-cron pm2-runtime"
        ),
        ("stays-behind", "{} leaves something running"),
    ),
    **dict.fromkeys(
        listed(
            "ngrok cloudflared localtunnel lt bore frpc frps chisel dropbear telnetd vncserver x11vnc xrdp "
            "tightvncserver ssh-copy-id openvpn wg-quick tor ligolo gsocket gs-netcat ttyd gotty wetty tmate "
            "teleport"
        ),
        ("way-in", "{} opens a way into this machine"),
    ),
    **dict.fromkeys(["chown", "chgrp"], ("permissions", "{} changes whom files belong to, which only root can undo")),
    **dict.fromkeys(
        ["xmrig", "minerd", "cpuminer", "ethminer", "t-rex", "nbminer", "cgminer"], ("system", "{} mines for somebody")
    ),
    **dict.fromkeys(
        listed(
            "msfconsole msfvenom metasploit hydra john hashcat sqlmap nikto aircrack-ng ettercap arpspoof responder "
            "mimikatz crackmapexec netexec bloodhound masscan gobuster dirb wfuzz tcpdump tshark dsniff bettercap "
            "linpeas.sh"
        ),
        ("attack", "{} is made to attack or listen to other machines"),
    ),
    **dict.fromkeys(
        listed(
            "pass op bw lpass keyctl secret-tool security kwallet-query gopass chamber credstash sops age-decrypt "
            "ssh-agent"
        ),
        ("credentials", "{} hands out or changes keys and passwords"),
    ),
    **dict.fromkeys(
        ["ptrace", "dlv", "frida", "gcore"],
        ("process-memory", "{} can look into and change other programs"),
    ),
    **dict.fromkeys(
        listed(
            "powershell pwsh powershell.exe cmd cmd.exe reg wmic vssadmin bcdedit schtasks netsh diskpart cipher "
            "takeown icacls sc wevtutil certutil bitsadmin mshta rundll32 regsvr32 net format del rd Remove-Item "
            "Stop-Computer Invoke-Expression Format-Volume Clear-Disk Set-ExecutionPolicy Invoke-WebRequest "
            "osascript"
        ),
        ("hidden-code", "{} runs what is not shell, and cannot be followed"),
    ),
    "sudo": ("privileges", "it starts a shell, or edits files, as another user"),
    "doas": ("privileges", "it starts a shell as another user"),
    "su": ("privileges", "it becomes another user"),
    "runuser": ("privileges", "it becomes another user"),
    "login": ("privileges", "it becomes another user"),
    "shred": ("destroys", "shred destroys files beyond recovery"),
    "skill": ("kills", "it ends programs by what they are called"),
    "wall": ("outside-effect", "it writes to everybody who is logged in"),
}
