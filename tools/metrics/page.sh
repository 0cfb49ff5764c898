#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# page.sh FILE...: styles and scripts that html.c puts into each page, as C. A browser takes one
# only if it has the hash that the page's policy names.
set -e
for file; do
	name=${file##*/}
	name=${name//./_}
	hash=$(sha256sum <"$file" | cut -c -64 | sed 's/../\\x&/g')
	# shellcheck disable=SC2059 # the bytes of the hash
	printf '#define %s_HASH "sha256-%s"\n' "${name^^}" "$(printf "$hash" | base64)"
	printf 'const char %s[] =\n' "$name"
	sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' "$file"
	printf ';\n'
done
