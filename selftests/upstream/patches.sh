#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Our changes to Linux fit the source of each kernel, one by one and together, and come out as
# patches that the kernel's own checkpatch, git am and patch accept.
#
# TEST: none
# SOAK: 6.1 6.12 newest
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"

# Who sends them.
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org

made() { "$TOP/tools/upstream" patches "$1" "$DIR/$1"; }

# The sign-off is the sender's; perf's names with a hyphen are no subtraction, and a
# table of the kernel has its own style. The commits of Fixes tags are in Linux's history, which
# Debian's source does not have.
checked() {
	local f said
	for f in "$DIR/$1"/*.patch; do
		said=$("$source/scripts/checkpatch.pl" --strict --no-tree --terse --no-summary \
			--ignore MISSING_SIGN_OFF,UNKNOWN_COMMIT_ID "$f" |
			grep -v -e "spaces preferred around that '-'" -e "space prohibited .* square bracket")
		[ -z "$said" ] || { echo "$said"; return 1; }
	done
}

# tree KERNEL: what they change, as it was, in a repository.
tree() {
	local f
	rm -rf "$DIR/tree"
	sed -n 's/^+++ b.//p' "$DIR/$1"/*.patch | sort -u | while read -r f; do
		mkdir -p "$DIR/tree/${f%/*}"
		[ ! -e "$source/$f" ] || cp "$source/$f" "$DIR/tree/$f"
	done
	git init -q "$DIR/tree" && git -C "$DIR/tree" add . && git -C "$DIR/tree" commit -qm source
}

# git am takes no line that is not where it should be, nor a letter.
together() {
	tree "$1" && git -C "$DIR/tree" am -q "$DIR/$1"/*.patch || return
	git -C "$DIR/tree" log --reverse --format=%s | tail -n +2
	[ "$(git -C "$DIR/tree" rev-list --count HEAD)" = "$(($(wc -l <"$TOP/Documentation/upstream/series") + 1))" ]
}

# Alone, each may be further up, but all that surrounds it has to be there.
each() {
	local f
	for f in "$DIR/$1"/*.patch; do
		tree "$1"
		patch -F0 -d "$DIR/tree" -p1 <"$f" || return
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
