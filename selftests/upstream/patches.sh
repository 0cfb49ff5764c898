#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Our changes to Linux fit the source of each kernel, one by one and together, and come out as
# patches that the kernel's own checkpatch and patch accept.
#
# KERNELS: 6.1 6.12 newest
# TIER: soak
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"

made() { "$TOP/tools/upstream" patches "$1" "$DIR/$1"; }

# The sign-off is the sender's; perf's names with a hyphen are no subtraction.
checked() {
	local f said
	for f in "$DIR/$1"/*.patch; do
		said=$("$source/scripts/checkpatch.pl" --strict --no-tree --terse --no-summary \
			--ignore MISSING_SIGN_OFF "$f" | grep -v "spaces preferred around that '-'")
		[ -z "$said" ] || { echo "$said"; return 1; }
	done
}

# applies TREE PATCH...: without a line that had to be looked for elsewhere.
applies() {
	local tree=$1 said
	shift
	said=$(cat "$@" | patch -d "$tree" -p1 --no-backup-if-mismatch 2>&1) || { echo "$said"; return 1; }
	! printf '%s\n' "$said" | grep -e fuzz -e offset
}

tree() {
	local f
	rm -rf "$DIR/tree"
	sed -n 's/^+++ b.//p' "$DIR/$1"/*.patch | sort -u | while read -r f; do
		mkdir -p "$DIR/tree/${f%/*}" && cp "$source/$f" "$DIR/tree/$f"
	done
}

together() { tree "$1" && applies "$DIR/tree" "$DIR/$1"/000[1-9]*.patch "$DIR/$1"/00[1-9][0-9]*.patch; }

# Alone it may be further up.
each() {
	local f
	for f in "$DIR/$1"/*.patch; do
		case $f in */0000-*) continue ;; esac
		tree "$1"
		patch -d "$DIR/tree" -p1 <"$f" || return
	done
}

for kernel in "${KERNELS[@]}"; do
	source=$("$TOP/tools/vm/kernel" --cached --source "$kernel" | sed -n 's/^SOURCE=//p')
	ktap "$kernel: the patches are made" made "$kernel"
	ktap "$kernel: checkpatch is silent" checked "$kernel"
	ktap "$kernel: they apply together" together "$kernel"
	ktap "$kernel: they apply one by one" each "$kernel"
done
ktap_end
