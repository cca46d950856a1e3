"""Names under which keys, logins and what was typed are kept."""

from hermes.safety.patterns import Pattern

# Folders and files that hold keys, wherever they lie: under this person's home, another's, or in a project.
CREDENTIALS = (
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".password-store",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
    ".docker/config.json",
    ".local/share/keyrings",
    "library/keychains",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".vault-token",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".terraform.d/credentials.tfrc.json",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
)
SYSTEM_CREDENTIALS = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d")

# These only in a person's home; a project may have files of such names.
BROWSERS = (
    ".mozilla",
    ".thunderbird",
    ".librewolf",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".var/app",
    "snap/firefox",
    "snap/chromium",
    "library/application support/google/chrome",
    "library/application support/firefox",
    "library/cookies",
)
LOGINS = (
    ".config/Bitwarden",
    ".config/1Password",
    ".config/keepassxc",
    ".local/share/kwalletd",
    ".config/Slack",
    ".config/discord",
    ".config/Signal",
    ".config/rclone",
    ".config/hub",
    ".config/glab-cli",
    ".config/doctl",
    ".config/stripe",
    ".config/ngrok",
    ".config/heroku",
    ".config/.wrangler",
    ".wrangler",
    ".config/helm",
    ".config/fly",
    ".config/containers/auth.json",
    ".config/composer/auth.json",
    ".config/git/credentials",
    ".config/github-copilot",
    ".config/sops",
    ".config/age",
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".fly",
    ".ngrok2",
    ".s3cfg",
    ".wgetrc",
    ".electrum",
    ".ethereum/keystore",
    ".bitcoin",
    ".local/share/jupyter/runtime",
    ".emacs.d/server",
    ".config/emacs/server",
    ".boto",
    ".oci",
    ".bluemix",
    ".aliyun",
    ".databrickscfg",
    ".snowsql",
    ".kaggle",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".bundle/config",
    ".nuget/NuGet/NuGet.Config",
    ".Xauthority",
    ".ICEauthority",
)
TYPED = (
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".sh_history",
    ".rediscli_history",
    ".irb_history",
    ".local/state/bash/history",
    ".local/share/fish/fish_history",
)
PERSONAL = (*BROWSERS, *LOGINS, *TYPED)

# Keys by their own names, wherever they lie but in a project.
KEY_FILE = Pattern(
    r".*\.(pem|key|p12|pfx|kdbx|ppk|keystore|jks|ovpn|agekey)|.*/ssh_host_\w+_key|.*/wallet\.dat|"
    r".*/\.config/(hub|rclone/rclone\.conf|(gh|op|doctl|heroku|stripe|ngrok|sops|fly|glab-cli|wrangler|helm)/.*|git/credentials)|"
    r".*/\.(bash|zsh|sh|python|node_repl|psql|mysql|sqlite|rediscli|irb)_history|.*/\.local/share/(keyrings|fish/fish_history).*|"
    r".*/\.(s3cfg|boto|databrickscfg|wgetrc|vault-token|password-store/.*|electrum/.*|ethereum/keystore.*|fly/.*|oci/.*)|"
    r".*/\.(cargo|gem)/credentials.*|.*/\.m2/settings.*\.xml|.*/\.gradle/gradle\.properties|.*huggingface/token|"
    r".*/(\.mozilla|firefox|google-chrome|chromium|BraveSoftware|Chrome)/.*(logins|key[34]|cookies|Login Data|Cookies|Web Data).*"
)
# Here lie the certificates that everybody may know.
PUBLIC = ("/etc/ssl/certs", "/usr/share", "/usr/lib", "/etc/pki")
