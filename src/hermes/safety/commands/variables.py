"""Variables that change what programs do: those that name code to run, or that tell Hermes itself how to behave."""

import re

from hermes.protocol.actions import Verdict
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import RUNS_CODE_IN_INDEX, UNKNOWN
from hermes.safety.commands.verdicts import ask
from hermes.safety.patterns import Pattern

_RUNS_CODE = Pattern(
    r"LD_(PRELOAD|AUDIT|LIBRARY_PATH)|DYLD_\w+|BASH_ENV|ENV|PROMPT_COMMAND|PS4|BASH_FUNC.*|SHELLOPTS|BASHOPTS|"
    r"PERL5(OPT|LIB|DB)|RUBY(OPT|LIB)|PYTHON(STARTUP|HOME|INSPECT|BREAKPOINT)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|"
    r"JDK_JAVA_OPTIONS|LESSOPEN|LESSCLOSE|GIT_(SSH|SSH_COMMAND|PROXY_COMMAND|EXTERNAL_DIFF|ASKPASS|EXEC_PATH|TEMPLATE_DIR|"
    r"CONFIG.*|DIR|ALTERNATE_OBJECT_DIRECTORIES)|SSH_ASKPASS|SUDO_ASKPASS|DOCKER_HOST|KUBECONFIG|GCONV_PATH|"
    r"npm_config_\w+|PIP_(INDEX_URL|EXTRA_INDEX_URL)|NODE_PATH|ZDOTDIR|INPUTRC|TERMINFO|MANPAGER|GLIBC_TUNABLES|"
    r"(https?|all)_proxy|HTTPS?_PROXY|ALL_PROXY|SSL_CERT_FILE|NODE_TLS_REJECT_UNAUTHORIZED|CLASSPATH_PREFIX"
)
# Names of compilers and of what runs in front of them; a path here is a program that the build starts.
_STARTS = Pattern(
    r"(HOST|TARGET|BUILD)?_?(CC|CXX|CPP|LD|AR|AS|NM|FC|STRIP|RUSTC|RUSTDOC|JAVA|PYTHON|NODE|MAKE|SHELL)|RUSTC_(WORKSPACE_)?WRAPPER|"
    r"CARGO_\w*(RUNNER|LINKER|RUSTC\w*)|CMAKE_\w+_(COMPILER|LAUNCHER)|\w*_(CMD|COMMAND|HOOK|SHELL)|MAKE_COMMAND"
)
_TELLS = Pattern(
    r"(MAKEFLAGS|GNUMAKEFLAGS|GOFLAGS|PYTEST_ADDOPTS|MAVEN_OPTS|GRADLE_OPTS|SBT_OPTS|JAVA_OPTS|RUSTFLAGS|CFLAGS|CXXFLAGS|"
    r"LDFLAGS|PYTEST_PLUGINS|ESLINT_OPTIONS|MAVEN_ARGS|DOTNET_STARTUP_HOOKS|CORECLR_PROFILER\w*)"
)
_CODE_IN_FLAGS = Pattern(
    r"--eval|-?-(toolexec|exec|vettool)|(^|\s)-p\s|javaagent|agentpath|linker=|-fplugin|-wrapper|/tmp/"
)
_FETCHES_FROM = Pattern(
    r"(GOPROXY|GOSUMDB|GOINSECURE|GONOSUMCHECK|UV_\w*INDEX\w*|YARN_\w*REGISTRY\w*|CARGO_REGISTR\w+|BUNDLE_GEMFILE|HF_ENDPOINT)"
)
# Each of these is read by some program that takes its settings, libraries or the other side from there.
_SETTLES = Pattern(
    r"TAR_OPTIONS|RSYNC_(RSH|CONNECT_PROG)|GCC_EXEC_PREFIX|COMPILER_PATH|CURL_HOME|WGETRC|OPENSSL_(CONF|MODULES|ENGINES)|"
    r"(CURL|REQUESTS|AWS)_CA_BUNDLE|AWS_(ENDPOINT_URL\w*|CONFIG_FILE|SHARED_CREDENTIALS_FILE)|SSLKEYLOGFILE|"
    r"GTK_MODULES|GIO_(MODULE_DIR|EXTRA_MODULES)|QT_(PLUGIN_PATH|QPA_PLATFORM_PLUGIN_PATH)|VIMINIT|EXINIT|VIMRUNTIME|"
    r"EMACSLOADPATH|RIPGREP_CONFIG_PATH|BAT_(CONFIG_PATH|OPTS)|FZF_DEFAULT_\w+|LESS|LESSKEY\w*|AWK(LIB)?PATH|LUA_(INIT|C?PATH)\w*|"
    r"R_(PROFILE|ENVIRON)(_USER)?|JULIA_(LOAD|DEPOT)_PATH|PHPRC|PHP_INI_SCAN_DIR|ERL_\w*FLAGS|TCLLIBPATH|GNUPGHOME|"
    r"ANSIBLE_(CONFIG|LIBRARY|\w+_PLUGINS)|TF_CLI_(CONFIG_FILE|ARGS)\w*|PIP_CONFIG_FILE|UV_CONFIG_FILE|NPM_CONFIG_\w+|"
    r"YARN_RC_FILENAME|ELECTRON_RUN_AS_NODE|PYTHON(USERBASE|EXECUTABLE|PLATLIBDIR)|CARGO_HOME|RUSTUP_HOME|HOME|XDG_CONFIG_(HOME|DIRS)"
)
_HARMLESS_VALUE = Pattern(r"LESS=-?[a-jl-np-zA-Z]*|AWS_ENDPOINT_URL\w*=https?://(localhost|127\.0\.0\.1)(:\d+)?/?")
_SHOWS = Pattern(r"\w*(EDITOR|PAGER|VISUAL|BROWSER)")
_PLAIN_TOOLS = frozenset(
    {
        "",
        "cat",
        "less",
        "more",
        "true",
        ":",
        "vi",
        "vim",
        "nano",
        "emacs",
        "less -R",
        "less -FRX",
        "code",
        "code --wait",
    }
)
_NODE_SAFE = Pattern(
    r"(--(max-old-space-size|no-warnings|experimental-[\w-]+|enable-source-maps|trace-\w+|openssl-legacy-provider|unhandled-rejections)(=[\w-]+)?\s*)*"
)


def settings(step: Step, ground: Ground) -> Verdict | None:
    """Why a variable that is set for a program asks, or None."""
    for name, value in step.env:
        if RUNS_CODE_IN_INDEX.search(value):
            return ask("hidden-code", f"the shell would run what stands in {name}, were it taken for a number")
        if name.startswith("HERMES_"):
            return ask("own-policy", f"{name} tells Hermes itself how to behave")
        if name in ("HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL"):
            return ask("traces", "it stops the record of what is typed")
        if _SHOWS.fullmatch(name) and value not in _PLAIN_TOOLS:
            return ask("hidden-code", f"{name} names a program that others start")
        if name == "NODE_OPTIONS" and not _NODE_SAFE.fullmatch(value):
            return ask("hidden-code", f"{name} can name code that other programs run")
        if _RUNS_CODE.fullmatch(name):
            return ask("hidden-code", f"{name} decides which code other programs run, or whom they speak to")
        if _SETTLES.fullmatch(name) and not _HARMLESS_VALUE.fullmatch(f"{name}={value}"):
            return ask("hidden-code", f"{name} decides which settings, code or machines other programs use")
        if (_STARTS.fullmatch(name) and "/" in value and not re.match(r"/(usr|opt|bin)/", value)) or (
            _TELLS.fullmatch(name) and _CODE_IN_FLAGS.search(value)
        ):
            return ask("hidden-code", f"{name} names a program that the build starts")
        if _FETCHES_FROM.fullmatch(name) and value not in ("off", "direct", ""):
            return ask("hidden-code", f"{name} decides whom code is fetched from")
        if name == "PYTHONPATH" and not all(ground.is_inside(step, part or ".") for part in value.split(":")):
            return ask("hidden-code", "it has Python take code from outside the working folder")
        if name == "PATH" and not all(_is_known_folder(step, ground, part) for part in value.split(":")):
            return ask("hidden-code", "it changes which programs the names stand for")
    return None


def _is_known_folder(step: Step, ground: Ground, folder: str) -> bool:
    if re.fullmatch(r"/(usr/)?(local/)?s?bin|/opt/homebrew/s?bin|/usr/local/go/bin|/snap/bin", folder):
        return True
    if UNKNOWN in folder or not folder.startswith(("/", ".venv", "venv", "node_modules", "./node_modules", "./.venv")):
        return False
    home = ground.places.user_home
    known = (
        f"{home}/.local/bin",
        f"{home}/bin",
        f"{home}/.cargo/bin",
        f"{home}/go/bin",
        f"{home}/.npm-global/bin",
        f"{home}/.bun/bin",
    )
    return folder in known or (ground.is_inside(step, folder) and folder.endswith("bin"))
