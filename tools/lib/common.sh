# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the tools: progress, errors, the cache and a private apt.
# Source it; it sets TOP (the project), CACHE (what builds leave behind) and
# the functions below. Nothing here writes outside CACHE.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${XEON7500_PMU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/xeon7500-pmu}
# shellcheck disable=SC2034 # used by those who source this
export TOP CACHE

# Progress goes to stderr, so that stdout stays the result.
say() { printf '%s\n' "== $*" >&2; }
die() { printf '%s\n' "${0##*/}: $*" >&2; exit 1; }

# run_logged LOG COMMAND...: keep a long command quiet, show its tail if it fails.
run_logged() {
	local log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 30 "$log" >&2
		die "failed: $* (whole log: $log)"
	}
}

# need_packages PACKAGE...: install what is missing when root, else print the
# one line that would, and stop.
need_packages() {
	local missing=() p
	for p in "$@"; do
		dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed && continue
		# By another name, as libelf1t64 is libelf1 in Debian 13.
		dpkg-query -W -f='${db:Status-Status}, ${Provides}\n' |
			grep -E "^installed,(.*,)? $p( \\(|,|\$)" >/dev/null || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return
	[ "$(id -u)" = 0 ] ||
		die "missing packages; run: sudo apt-get install --no-install-recommends ${missing[*]}"
	say "installing ${missing[*]}"
	mkdir -p "$CACHE"
	(
		once install "waiting for another program of this project that installs packages"
		set -- "$CACHE/apt-install.log" install --no-install-recommends "${missing[@]}"
		apt_get "$@" || { apt_get "$CACHE/apt-update.log" update || true; apt_get "$@"; } ||
			{ tail -n 30 "$1" >&2; die "cannot install ${missing[*]} (whole log: $1)"; }
	) || exit
}

# apt_get LOG ARGUMENT...: apt-get, once no other program holds one of its locks; half an hour at
# most. Its own DPkg::Lock::Timeout waits for dpkg's alone.
apt_get() {
	local log=$1 lock next=$SECONDS end=$((SECONDS + 1800))
	shift
	while ! DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -y "$@" >"$log" 2>&1 </dev/null; do
		# Another error than that it is held (11, EAGAIN) will not go away.
		lock=$(sed -n '/ held by \|(11: /s/^E: Could not get lock //p' "$log")
		[ -n "$lock" ] || return 1
		[ $SECONDS -lt $end ] || die "waited half an hour for $lock"
		[ $SECONDS -lt $next ] || { say "waiting for $lock"; next=$((SECONDS + 60)); }
		sleep 2
	done
}

# The Debian mirror this machine already uses.
debian_mirror() {
	local uri
	uri=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 2>/dev/null |
		awk '$2 == "Debian" && $3 == "Debian" { print $1; exit }')
	echo "${uri:-http://deb.debian.org/debian/}"
}

# private_apt SUITE...: an apt of our own that knows these suites (deb and
# deb-src), checked by Debian's keys. Sets APT_OPTS; never touches /etc/apt.
private_apt() {
	local root mirror s site
	root=$CACHE/apt/$(printf '%s-' "$@" | tr -c 'a-z0-9-' _)
	mirror=$(debian_mirror)
	mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$root/pref.d"
	touch "$root/status"
	# shellcheck disable=SC2034
	APT_OPTS=(-o "Dir::State::Lists=$root/lists" -o "Dir::State::status=$root/status"
		-o "Dir::Etc::SourceList=$root/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o "Dir::Etc::PreferencesParts=$root/pref.d" -o Dir::Etc::Preferences=/dev/null
		-o "Dir::Cache=$root/cache" -o APT::Sandbox::User=
		-o APT::Architecture=amd64 -o Acquire::Languages=none -q)
	(
		# apt-get does not wait for another one that fetches the lists.
		once "${root##*/}lists"
		for s in "$@"; do
			site=$mirror
			case $s in *-security) site=${mirror%/debian/}/debian-security/ ;; esac
			printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
				deb "$site" "$s" deb-src "$site" "$s"
		done >"$root/sources.list.new"
		cmp -s "$root/sources.list.new" "$root/sources.list" &&
			[ -n "$(find "$root/lists" -maxdepth 1 -name '*Packages*' -mmin -720)" ] && exit
		cp "$root/sources.list.new" "$root/sources.list"
		run_logged "$root/update.log" apt-get "${APT_OPTS[@]}" update
		find "$root/lists" -maxdepth 1 -type f -exec touch {} +
	) || exit
}

# unpack_closure DIRECTORY SUITE PACKAGE...: unpack it and all it depends on, for what this
# machine's Debian is too old for. Nothing is installed.
unpack_closure() (
	dir=$1 suites=$2
	shift 2
	once apt
	# shellcheck disable=SC2086 # a list
	private_apt $suites
	say "fetching $* and what it needs"
	mkdir -p "$dir/debs"
	apt-get "${APT_OPTS[@]}" install -s --no-install-recommends "$@" >"$dir/closure.log" 2>&1 || true
	list=$(sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1=\2/p' "$dir/closure.log")
	[ -n "$list" ] || { cat "$dir/closure.log" >&2; die "cannot get $*"; }
	(
		cd "$dir/debs" || exit
		# shellcheck disable=SC2086 # a list
		run_logged ../fetch.log apt-get "${APT_OPTS[@]}" download $list
	)
	for d in "$dir"/debs/*.deb; do dpkg-deb -x "$d" "$dir"; done
	rm -rf "$dir/debs" "$dir/usr/share/doc" "$dir/usr/share/man"
)

# content_key FILE...: a name for what was built from these files.
content_key() { sha256sum "$@" | awk '{ print $1 }' | sha256sum | cut -c1-16; }

# once LOCK [TEXT]: let one process at a time build a thing; call it in a subshell. The text tells
# that there is another one.
once() {
	mkdir -p "$CACHE/locks"
	exec 9>"$CACHE/locks/$1"
	flock -n 9 || { [ -z "${2:-}" ] || say "$2"; flock 9; }
}
