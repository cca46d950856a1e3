"""Programs that need no rule of their own: those that only read or say something, and the tools that build and test."""

from hermes.safety.commands.argv import listed

# What these are told is text to say, names to look up, or numbers; no file is opened.
SAY_ANYTHING = listed(
    "echo printf true false : pwd whoami id groups uname arch nproc uptime sleep seq yes expr basename dirname which "
    "type whereis hash man info apropos whatis help tldr tput clear reset stty tty logname users who w last lastlog "
    "free vmstat iostat mpstat sar ps top htop btop pstree pgrep pidof lsof lsblk blkid lscpu lspci lsusb lsmod lshw "
    "modinfo dmidecode inxi neofetch fastfetch screenfetch ss netstat arp getconf getent locale cal ncal bc dc "
    "factor numfmt jobs wait times dirs popd bind shopt set unset read local declare typeset readonly export let "
    "shift return exit break continue test [ [[ ls dir vdir stat du df file realpath readlink cd pushd mapfile "
    "readarray getopts compgen complete tabs caller sw_vers nvidia-smi sensors vainfo glxinfo xdpyinfo fc-list vgs "
    "lvs pvs vgdisplay lvdisplay pvdisplay findmnt mountpoint ulimit umask namei lsns lslocks lsattr getfacl getcap cloc "
    "tokei scc figlet cowsay fortune lolcat pstack pmap pwdx sestatus findfs printenv env trap alias unalias enable "
    "suspend bg fg command builtin time ltrace strace xargs hostid ltrace tsort ldd uuidgen watch timeout nice "
    "dpkg-query pkg-config lsb_release wait-for-it notify-send say beep"
)
# These open the files they are told, and only read them.
READ_FILES = listed(
    "fzf cat tac nl head tail less more most bat batcat wc cut paste join comm cmp diff sdiff colordiff delta diff3 "
    "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum od hexdump strings fold fmt "
    "pr expand unexpand column rev tr look zcat bzcat xzcat zless zmore zstdcat iconv hexyl exa eza lsd objdump "
    "readelf nm size c++filt addr2line exiftool identify mediainfo ffprobe pdfinfo pdftotext xmllint csvlook csvstat "
    "csvcut csvsql mlr xsv qsv glow mdcat shuf dust ncdu duf base32 basenc envsubst ts pv otool lipo xsltproc vd "
    "visidata difft dyff jsonlint yamllint hadolint shellcheck actionlint tomlq dasel fx gron aspell hunspell wdiff "
    "cloc sloccount last lastb zdiff zcmp mdls mdfind locate mlocate plocate apropos"
)
# The same, but their first operand is what they look for.
SEARCH = listed(
    "grep egrep fgrep rg ag ack zgrep zegrep bzgrep xzgrep ugrep ripgrep fd fdfind sift pt ast-grep semgrep"
)
# They build, test, format or check what is in the working folder.
BUILD = listed(
    "nvcc emcc emcmake emmake wasmtime wasmer wat2wasm tinygo dbt spark-submit scrapy mlflow tensorboard accelerate "
    "torchrun deepspeed kustomize solc forge hardhat gleam odin pio platformio arduino-cli west idf.py "
    "pytest py.test tox nox ruff black isort flake8 pylint mypy pyright pyre pytype bandit coverage pre-commit "
    "sphinx-build mkdocs autopep8 yapf pydocstyle vulture radon lint-imports import-linter pyinstaller cython "
    "cythonize nosetests behave robot gcc g++ cc c++ clang clang++ clang-format clang-tidy cppcheck ld as ar ranlib "
    "strip cmake ctest cpack meson ninja scons bazel bazelisk buck buck2 xmake premake5 autoconf automake aclocal "
    "autoreconf libtool configure pkgconf ccache gcov lcov gprof valgrind rustc rustfmt cargo-clippy wasm-pack trunk "
    "gofmt goimports golint golangci-lint staticcheck javac java jar javadoc mvn mvnw gradle gradlew ant sbt lein "
    "clj kotlinc kotlin scala scalac groovy ktlint checkstyle tsc eslint prettier jest vitest mocha ava karma "
    "jasmine cypress playwright webpack vite rollup esbuild parcel swc babel turbo nx lerna stylelint tslint biome "
    "standard xo next nuxt gatsby astro hugo jekyll eleventy svelte-kit ng vue tap nyc c8 typedoc rspec rubocop rake "
    "minitest standardrb brakeman steep sorbet srb phpunit phpcs phpcbf phpstan psalm php-cs-fixer pest ghc ghci "
    "cabal-fmt hlint ormolu elixirc erlc rebar3 dialyzer ocaml ocamlc dune ocamlformat zig nim nimble crystal shards "
    "swiftc swiftlint swiftformat xcodebuild xcrun ktfmt detekt dartfmt buf protoc protolint thrift flatc antlr4 "
    "bison yacc flex lex gperf swig nasm yasm latex pdflatex xelatex lualatex latexmk bibtex biber pandoc typst "
    "asciidoctor dot plantuml mmdc sass lessc postcss tailwindcss uglifyjs terser svgo imagemin convert magick "
    "mogrify ffmpeg sox optipng pngquant jpegoptim cwebp inkscape gs qpdf pdftk just task invoke inv doit shfmt "
    "stylua luacheck perltidy perlcritic prove raku sqlfluff sqlfmt pgformatter squawk alembic flask django-admin "
    "uvicorn gunicorn hypercorn daphne celery streamlit jupyter jupytext nbconvert papermill locust k6 wrk ab hey "
    "vegeta hyperfine nodemon ts-node tsx concurrently http-server live-server serve json-server cspell "
    "codespell typos vale markdownlint markdownlint-cli2 lychee commitlint cz towncrier bumpver bump2version "
    "git-cliff conventional-changelog tree-sitter ctags etags cscope doxygen gcovr llvm-cov llvm-profdata perf "
    "verilator iverilog yosys ghdl rails rackup puma spring trivy grype syft checkov tflint tfsec kubeval "
    "kubeconform kube-linter helm-docs dive dockle pip-compile pipdeptree pip-audit safety licensecheck "
    "pyproject-build sphinx-apidoc sphinx-autobuild maturin setuptools-scm cookiecutter copier nbstripout pyupgrade "
    "mutmut hypothesis atheris cosmic-ray tsup  npm-run-all run-s run-p cross-env dotenv copyfiles ncc "
    "pkg nexe electron electron-builder tauri capacitor ionic expo react-native wdio testcafe puppeteer storybook"
)
# Programs that can say what they would do instead of doing it.
DRY_RUNS = listed(
    "apt apt-get aptitude dnf yum zypper brew pip pip3 npm pnpm yarn poetry cargo make gmake rsync rclone kubectl oc "
    "helm aws gcloud docker docker-compose terraform ansible ansible-playbook puppet certbot logrotate composer gem "
    "twine goreleaser gsutil az pulumi semantic-release standard-version stow chezmoi fstrim tmpreaper fdupes flux "
    "argocd git restic borg duplicity nix gh patch terragrunt tofu lerna changeset release-it conda mamba dpkg rpm "
    "systemd-tmpfiles systemctl wget2 uv pdm flit hatch"
)
