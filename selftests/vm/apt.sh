#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What needs packages waits while another program holds a lock of apt or dpkg, and says so; not for
# ever, and not for what does not end.
#
# TEST: none
# SOAK: 6.1
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
# Locks and packages are those of an overlay, which ends with this process.
[ -n "${MOUNTS:-}" ] || [ "$(id -u)" != 0 ] || MOUNTS=own exec unshare -m "$0"
. "$(dirname "$0")/../lib/ktap.sh"
[ "$(id -u)" = 0 ] || ktap_skip_all "for root only"

DIR=$(mktemp -d)
mount -t tmpfs tmpfs "$DIR" && trap 'umount -l "$DIR" && rm -r "$DIR"' EXIT
for d in usr etc var; do
	mkdir "$DIR/$d" "$DIR/$d.work"
	mount -t overlay overlay "/$d" -o "lowerdir=/$d,upperdir=$DIR/$d,workdir=$DIR/$d.work" ||
		ktap_skip_all "no overlay can be mounted here"
done
export XEON7500_PMU_CACHE=$DIR/cache
. "$(dirname "$0")/../../tools/lib/common.sh"

# waits LOCK: installs hello while another program holds it, which it does until it is told of.
waits() {
	apt-get remove -y hello >"$DIR/removed" 2>&1
	mkfifo "$DIR/let-go" "$DIR/held"
	: >"$DIR/said"
	python3 -c 'import fcntl, sys
lock = open(sys.argv[1], "a")
fcntl.lockf(lock, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
open(sys.argv[3]).read()' "$1" "$DIR/held" "$DIR/let-go" &
	cat "$DIR/held"
	need_packages hello 2>"$DIR/said" &
	until grep "waiting for" "$DIR/said" || ! kill -0 $! 2>/dev/null; do sleep 0.2; done
	: >"$DIR/let-go"
	rm "$DIR/let-go" "$DIR/held"
	wait $!
	local status=$?
	cat "$DIR/said"
	grep -q "waiting for $1.*python3" "$DIR/said" && [ $status = 0 ] && hello
}
fails() {
	! (need_packages no-such-package) 2>"$DIR/said" && cat "$DIR/said" && grep -q "Unable to locate" "$DIR/said"
}
# pretends OUTPUT: need_packages where apt-get says that and each wait takes half a minute.
pretends() {
	(
		said=$1
		apt-get() { echo "$said"; return 100; }
		sleep() { echo waits; SECONDS=$((SECONDS + 30)); }
		need_packages no-such-package
	) >"$DIR/said" 2>&1 && return 1
	sort "$DIR/said" | uniq -c
}
never() {
	pretends "E: Could not get lock /l - open (37: No locks available)" &&
		grep "No locks available" "$DIR/said" && ! grep -q waits "$DIR/said"
}
for_ever() {
	pretends "E: Could not get lock $1" && [ "$(grep -cF "waiting for $1" "$DIR/said")" = 30 ] &&
		grep "waited half an hour for /l" "$DIR/said"
}
second() {
	mkfifo "$DIR/let-go"
	flock "$CACHE/locks/install" cat "$DIR/let-go" &
	(
		apt-get() { :; }
		until ! flock -n "$CACHE/locks/install" true; do sleep 0.2; done
		need_packages no-such-package
	) 2>"$DIR/said" &
	until grep "waiting for another program" "$DIR/said" || ! kill -0 $! 2>/dev/null; do sleep 0.2; done
	: >"$DIR/let-go"
	wait $! && grep -q "waiting for another program" "$DIR/said"
}

for lock in lib/dpkg/lock-frontend cache/apt/archives/lock; do
	ktap "/var/$lock" waits /var/$lock
done
# Nothing is known of any package, so that the lists are fetched first.
rm -rf /var/lib/apt/lists/*
ktap "the lists" waits /var/lib/apt/lists/lock
ktap "what cannot be installed is said" fails
ktap "a lock that cannot be had at all" never
ktap "a lock that is held for ever" for_ever "/l. It is held by process 1 (init)"
# It was let go before apt could ask who has it.
ktap "likewise, by nobody knows whom" for_ever "/l - open (11: Resource temporarily unavailable)"
ktap "another program of this project installs packages" second
ktap_end
