"""The tools of languages and systems: which of their verbs look, which work here, and that the rest fetches or installs."""

from hermes.safety.commands.argv import listed
from hermes.safety.commands.verbs import Verbs

RULE = "fetched-code"
INSTALLS = "{} fetches code from elsewhere and may run it"
SYSTEM = "{} changes what is installed on this machine"


_SYSTEM_READS = (
    "list search show info policy depends rdepends showpkg madison changelog history provides repolist repoquery "
    "check-update outdated version config doctor deps uses desc home leaves why files file-search find query check "
    "audit verify stats log help cat installed formulae casks services.list services.info"
)
SYSTEM_MANAGERS = dict.fromkeys(
    listed(
        "apt apt-get apt-cache aptitude dnf yum zypper brew port snap flatpak apk emerge xbps-query guix choco "
        "winget scoop mas pkg opkg eopkg"
    ),
    Verbs(reads=_SYSTEM_READS, rule="system", why=SYSTEM),
)
TOOLS: dict[str, Verbs] = {
    "pip": Verbs(
        reads="list show freeze check search config.list config.get debug index.versions cache.list cache.info help "
        "inspect cache.dir download.--no-deps hash",
        valued="--python --proxy --log",
        works="wheel.--no-deps",
        rule=RULE,
        why=INSTALLS,
    ),
    "pipx": Verbs(reads="list environment", rule=RULE, why=INSTALLS),
    "uv": Verbs(
        reads="version pip.list pip.show pip.freeze pip.check pip.tree tree python.list python.find tool.list cache.dir "
        "tool.dir help pip.compile",
        works="venv lock build init export format",
        rule=RULE,
        why=INSTALLS,
    ),
    "poetry": Verbs(
        reads="show check version env.list env.info config.--list about search",
        works="build lock new init env.use export",
        rule=RULE,
        why=INSTALLS,
    ),
    "pdm": Verbs(reads="list show info config", works="build lock init", rule=RULE, why=INSTALLS),
    "hatch": Verbs(reads="version status env.show", works="build test fmt clean", rule=RULE, why=INSTALLS),
    "pipenv": Verbs(reads="graph check verify scripts", works="lock", rule=RULE, why=INSTALLS),
    "conda": Verbs(
        reads="list info search env.list config.--show env.export compare doctor",
        works="activate deactivate",
        rule=RULE,
        why=INSTALLS,
    ),
    "npm": Verbs(
        reads="ls list ll la view info show outdated audit search ping whoami root prefix bin fund explain why docs help "
        "config.list config.get config.ls pack.--dry-run version.--help doctor query sbom diff",
        works="test t tst run run-script start stop restart pack init version dedupe prune pkg set-script format",
        valued="--prefix -C --workspace -w",
        asks="--script-shell --globalconfig",
        rule=RULE,
        why=INSTALLS,
    ),
    "cargo": Verbs(
        reads="tree metadata search version locate-project pkgid info help verify-project audit outdated deny geiger "
        "read-manifest report config.get",
        works="build b check c test t run r clippy fmt doc bench clean update add remove rm new init fetch fix vendor "
        "generate-lockfile nextest package expand rustc rustdoc llvm-cov tarpaulin watch insta machete udeps hack "
        "criterion flamegraph miri",
        valued="--config -Z --manifest-path --color -C",
        asks="--config",
        rule=RULE,
        why=INSTALLS,
    ),
    "go": Verbs(
        reads="list env version doc vet help mod.graph mod.why mod.verify tool",
        works="build test fmt generate mod clean run fix work",
        rule=RULE,
        why=INSTALLS,
    ),
    "rustup": Verbs(
        reads="show check which doc toolchain.list target.list component.list man", rule="system", why=SYSTEM
    ),
    "gem": Verbs(
        reads="list search env environment info which contents dependency specification outdated help query stale",
        works="build",
        rule=RULE,
        why=INSTALLS,
    ),
    "bundle": Verbs(
        reads="list show info check outdated config.list doctor licenses platform viz",
        works="clean lock",
        rule=RULE,
        why=INSTALLS,
    ),
    "composer": Verbs(
        reads="show validate outdated diagnose info licenses depends why prohibits status about audit check-platform-reqs "
        "search browse",
        works="dump-autoload dumpautoload run-script run test archive",
        rule=RULE,
        why=INSTALLS,
    ),
    "mix": Verbs(
        reads="help hex.info hex.outdated deps deps.tree xref app.tree phx.routes ecto.migrations",
        works="test compile format credo dialyzer clean phx.server ecto.migrate run new docs coveralls deps.compile ecto.create",
        rule=RULE,
        why=INSTALLS,
    ),
    "dotnet": Verbs(
        reads="list sln.list nuget.list help list.package",
        works="build test run clean format watch new pack msbuild vstest publish sln restore",
        bare=True,
        rule=RULE,
        why=INSTALLS,
    ),
    "swift": Verbs(
        reads="package.describe package.show-dependencies",
        works="build test run package.clean format",
        rule=RULE,
        why=INSTALLS,
    ),
    "flutter": Verbs(
        reads="doctor devices analyze pub.deps pub.outdated",
        works="build test run clean format",
        rule=RULE,
        why=INSTALLS,
    ),
    "dart": Verbs(reads="analyze pub.deps info", works="test format run compile fix doc", rule=RULE, why=INSTALLS),
    "deno": Verbs(reads="info types doc lint check", works="fmt test bench cache task", rule=RULE, why=INSTALLS),
    "stack": Verbs(
        reads="path ls query list-dependencies", works="build test exec clean bench ghci", rule=RULE, why=INSTALLS
    ),
    "cabal": Verbs(
        reads="list info list-bin", works="build test run clean check repl bench configure", rule=RULE, why=INSTALLS
    ),
    "opam": Verbs(reads="list show switch.list config env search", rule=RULE, why=INSTALLS),
    "nix": Verbs(
        reads="flake.show flake.metadata flake.check eval search show-derivation path-info log why-depends store.ls",
        works="build develop fmt flake.lock",
        rule=RULE,
        why=INSTALLS,
    ),
    "pyenv": Verbs(
        reads="versions version which whence root prefix commands",
        works="local shell rehash init",
        rule=RULE,
        why=INSTALLS,
    ),
    "rbenv": Verbs(
        reads="versions version which whence root prefix", works="local shell rehash init", rule=RULE, why=INSTALLS
    ),
    "nvm": Verbs(reads="ls list ls-remote current which version", works="use alias", rule=RULE, why=INSTALLS),
    "asdf": Verbs(
        reads="list current which info where plugin.list list-all", works="local set reshim", rule=RULE, why=INSTALLS
    ),
    "mise": Verbs(reads="ls list current which doctor env", works="use run tasks r trust", rule=RULE, why=INSTALLS),
    "dpkg": Verbs(reads="", rule="system", why=SYSTEM),
    **SYSTEM_MANAGERS,
}
for _same, _as in (
    ("pip3", "pip"),
    ("mamba", "conda"),
    ("micromamba", "conda"),
    ("bundler", "bundle"),
    ("fvm", "flutter"),
):
    TOOLS[_same] = TOOLS[_as]

# Tools of a project that `npx` and its like find in node_modules.
LOCAL_TOOLS = listed(
    "tsc tsx ts-node eslint prettier jest vitest mocha ava nyc c8 playwright cypress webpack vite rollup esbuild "
    "parcel next nuxt svelte-check astro remix tailwindcss postcss stylelint biome turbo nx lerna lint-staged "
    "commitlint tsup typedoc vue-tsc ng swc babel karma jasmine tap xo standard knip madge depcheck "
    "npm-check-updates ncu concurrently husky  prisma drizzle-kit storybook markdownlint cspell tslint sass "
    "lessc graphql-codegen openapi-typescript size-limit browserslist serve http-server oxlint rome wireit zx "
    "publint attw sequelize-cli sequelize knex typeorm mikro-orm"
)
