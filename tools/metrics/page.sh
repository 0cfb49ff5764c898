#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# page.sh FILE.css FILE.js: what html.c puts into each page, as C. A browser runs the script
# only if it has the hash that the page's policy names.
set -e
for file in "$1" "$2"; do
	name=page_${file##*.}
	hash=$(sha256sum <"$file" | cut -c -64 | sed 's/../\\x&/g')
	# shellcheck disable=SC2059 # the bytes of the hash
	printf '#define %s_HASH "sha256-%s"\n' "${name^^}" "$(printf "$hash" | base64)"
	printf 'static const char %s[] =\n' "$name"
	sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' "$file"
	printf ';\n'
done
