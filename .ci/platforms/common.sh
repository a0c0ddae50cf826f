# What the scripts of this folder share; each sources it first. See docs/platforms.md.
#
# Everything is kept in build/platforms, or the folder that FASTLSH_PLATFORMS names: a second run
# takes from there what the first one downloaded and compiled. Delete it to start from nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

platforms=$(realpath --canonicalize-missing "${FASTLSH_PLATFORMS:-build/platforms}")
name=$(basename "$0")
mirror=${FASTLSH_DEBIAN:-http://deb.debian.org/debian}
folder=$platforms/$name
mkdir -p "$folder"

step() {
    echo "== $name, after $SECONDS s: $*" >&2
}

# need COMMAND=PACKAGE...: installs the Debian packages whose commands this machine lacks.
need() {
    local each missing=()
    for each in "$@"; do
        command -v "${each%%=*}" >/dev/null || missing+=("${each#*=}")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        apt-get update
        DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"
    fi
}

# native: a compiler, and this machine's Python with environments and headers.
native() {
    need gcc=gcc
    [ -e /usr/include/stdio.h ] || need no-command=libc6-dev
    python3 -c 'import ensurepip, venv' 2>/dev/null || need no-command=python3-venv
    python3 -c 'import os, sysconfig as s; open(os.path.join(s.get_path("include"), "Python.h"))' \
        2>/dev/null || need no-command=python3-dev
}

# tools PACKAGE...: an environment of this machine's Python with what builds fastlsh.
tools() {
    native
    [ -x "$platforms/tools/bin/python" ] || python3 -m venv "$platforms/tools"
    "$platforms/tools/bin/pip" install --quiet "setuptools>=77" "Cython>=3.2.1" "$@"
}

# renewed FOLDER: makes it, and deletes what was in it but for what was built there.
renewed() {
    mkdir -p "$1"
    find "$1" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
}

# copied FOLDER: the checkout's files, for a build that leaves the checkout alone.
copied() {
    renewed "$1"
    git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from - | tar --extract --directory "$1"
}

# source_tree FOLDER: what an sdist holds, and the C that Cython makes of it, which takes long where
# a processor is emulated. Files that have not changed keep their times, so that compilers rest.
source_tree() {
    tools
    local copy=$folder/checkout
    copied "$copy"
    (cd "$copy" && rm -rf dist && FASTLSH_BUILD=all "$platforms/tools/bin/python" setup.py --quiet sdist)
    renewed "$1"
    tar --extract --file "$copy"/dist/*.tar.gz --strip-components 1 --directory "$1"
    mkdir -p "$1/build"
    cp --archive "$copy/build/cython" "$1/build"
}

# emulate ARCHITECTURE: programs of another processor run here, through qemu.
emulate() {
    need "qemu-$1-static=qemu-user-static" arch-test=arch-test
    local kinds=/proc/sys/fs/binfmt_misc
    [ -e $kinds/register ] || mount -t binfmt_misc none $kinds
    [ -e "$kinds/qemu-$1" ] || cat "/usr/lib/binfmt.d/qemu-$1.conf" > $kinds/register
}

# debian SUITE ARCHITECTURES PACKAGE...: makes a Debian of its own in $folder/root.
debian() {
    local suite=$1 architectures=$2
    shift 2
    root=$folder/root
    if [ ! -e "$root/complete" ]; then
        step "a Debian $suite for $architectures"
        need mmdebstrap=mmdebstrap
        [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || need no-command=debian-archive-keyring
        rm -rf "$root"
        # A mirror may stand still for longer than its files promise; signatures are checked.
        mmdebstrap --quiet --variant=minbase --architectures="$architectures" \
            --aptopt='Acquire::Check-Valid-Until "false"' \
            --include="$(echo "$*" | tr ' ' ,)" "$suite" "$root" "$mirror"
        echo "deb-src $mirror $suite main" > "$root/etc/apt/sources.list.d/source.list"
        touch "$root/complete"
    fi
    mkdir -p "$root/etc/ssl/certs"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
}

# inside COMMAND...: runs a command in $root, in /fastlsh. The mounts end with it.
inside() {
    mkdir -p "$root/fastlsh"
    unshare --mount --pid --fork --kill-child bash -euc '
        root=$1
        shift
        mount --rbind /dev "$root/dev"
        mount -t proc proc "$root/proc"
        exec chroot "$root" /usr/bin/env --ignore-environment --chdir=/fastlsh HOME=/root ${QEMU_CPU:+QEMU_CPU=$QEMU_CPU} \
            PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
            PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
            ${PYTEST_ADDOPTS:+"PYTEST_ADDOPTS=$PYTEST_ADDOPTS"} "$@"
    ' inside "$root" "$@"
}

# libraries PIP-OPTIONS PACKAGE...: puts wheels into $root/opt/python. This machine's pip does it,
# since an emulated one takes minutes.
libraries() {
    "$platforms/tools/bin/pip" install --quiet --upgrade --target "$root/opt/python" \
        --python-version 3.13 --only-binary :all: --platform any "$@"
}

# cython: names the Cython whose C `source_tree` has brought; another one would make all of it anew.
cython() {
    echo "Cython==$("$platforms/tools/bin/python" -c 'import Cython; print(Cython.__version__)')"
}

# built PYTHON: compiles the kernels in $root, with what `libraries` has put there.
built() {
    step "building"
    inside env PYTHONPATH=/opt/python "$1" setup.py --quiet build_ext --inplace
}

# emulated_suite PYTHON [full | ARGUMENT...]: what shows that this processor gives the same answers;
# or everything, or what is named.
emulated_suite() {
    local python=$1
    shift
    if [ $# -eq 0 ]; then
        set -- tests/test_golden.py tests/keyed/test_keyed_golden.py tests/_kernels \
            tests/signatures/test_minhash.py tests/signatures/test_steps.py tests/keyed/test_key.py \
            tests/search/test_near_duplicates.py tests/search/test_deduplicate.py \
            tests/index/test_storage.py tests/index/test_sqlite.py tests/index/test_byte_order.py \
            tests/index/test_pickling.py tests/test_pickles.py tests/texts/test_forms.py \
            tests/keyed/test_keyed_stores.py tests/files/test_same_answer.py
    elif [ "$1" = full ]; then
        shift
    fi
    suite inside env PYTHONPATH=/fastlsh/src:/opt/python FASTLSH_EXAMPLES="${FASTLSH_EXAMPLES:-5}" \
        "$python" -m pytest -n 2 "$@"
}

# Why tests may be skipped on every platform: they need data or libraries of which the package needs
# none, or another shell, user or kind of name, or what an sdist lacks. A script adds the reasons of its platform.
skips='FASTLSH_DATA|articles|NormalizationTest|here: install it|names are text|not names'
skips+='|root reads everything|root may write|no such type|tables are meant|could not make it|small disk|be mounted'
skips+='|reads numbers of any length|is ignored here|does not reach any process|was not built'
skips+='|CPython 3.12 and 3.13 crash|from the sdist'
for library in aiohttp atheris chromium datasets datasketch datatrove duckdb grpc matplotlib moto \
    node pandas polars pyspark redis s3fs scipy shtab '\blsh is not installed'; do
    skips+="|$library"
done

# suite COMMAND...: runs pytest and fails if a test failed, or was skipped for no reason in $skips.
suite() {
    local log=$folder/suite.log began=$SECONDS
    step "tests"
    PYTEST_ADDOPTS="-m 'not slow' ${PYTEST_ADDOPTS:-}" "$@" -q -ra -p no:cacheprovider 2>&1 | tee "$log"
    if grep '^SKIPPED' "$log" | grep -vE "$skips"; then
        echo "$name: these tests were skipped, and the script does not say why" >&2
        exit 1
    fi
    echo "$name: $(tail -n 1 "$log" | tr -d =), $((SECONDS - began)) s of $SECONDS s in all"
}
