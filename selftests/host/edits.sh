#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each edit of Documentation/upstream that makes a kernel's file from one of ours applies to ours as
# it is now, and leaves no name of our module behind.
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/ktap.sh"
TOP=$(cd "$(dirname "$0")/../.." && pwd)
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT

# The one "E @TOP@/FROM" up to its "w TO". ed fails where an address matches nothing, but not at g.
applies() {
	local edit=$1 from line
	from=$TOP/$(sed -n 's:^E @TOP@/::p' "$edit")
	sed -n '/^E @TOP@/,/^w /p' "$edit" | sed "s:@TOP@:$TOP:; s:^w .*:w $DIR/made:" >"$DIR/script"
	ed -s <"$DIR/script" >/dev/null || return
	while IFS=/ read -r _ line _; do
		grep -q -- "$line" "$from" || { echo "no line for g/$line/"; return 1; }
	done < <(grep '^g/' "$DIR/script")
	! grep -n 'core_ext\|pdir\.\(add\|del\|core\|select\|resched\)\|kernel_function\|pr_fmt' "$DIR/made"
}

grep -l '^E @TOP@' "$TOP"/Documentation/upstream/*/edit >"$DIR/edits" ||
	ktap "there is such an edit" false
while read -r edit; do
	ktap "${edit#"$TOP"/} applies to our tree" applies "$edit"
done <"$DIR/edits"
ktap_end
