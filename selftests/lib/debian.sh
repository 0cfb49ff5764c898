# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Programs of others from Debian 12, unpacked and put into the guest as they are. For tests
# that source vm.sh.
#
#	unpack PACKAGE...
#	vm NAME --put ... "${PUT_ROOT[@]}" -- sh -c "$DEBIAN_ROOT program"
#	judge NAME WHERE MACHINE <<-'END'
#	...
#	END
#
# MENDED=FILE tries that program or library instead of the one of its name, built with what
# Documentation/upstream changes: what is "theirs" has to pass then.

# unpack PACKAGE...: Libraries go where the guest's loader looks. What has been fetched stays
# in the cache.
unpack() {
	private_apt bookworm
	(
		mkdir -p "$DIR"/root/{bin,sbin,usr,lib/x86_64-linux-gnu} "$CACHE/debs" && cd "$CACHE/debs" || exit
		once debs
		apt-get "${APT_OPTS[@]}" download "$@" >"$DIR/apt.log" 2>&1 || { cat "$DIR/apt.log"; exit 1; }
		# It names only what the directory it is in does not have.
		(cd "$DIR" && apt-get "${APT_OPTS[@]}" download --print-uris "$@") |
			while read -r _ deb _; do dpkg-deb -x "$deb" "$DIR/root" || exit; done || exit
		cd "$DIR/root" && rm -rf usr/share/{doc,man,locale,info,lintian}
		# Debian 12 has /lib and /bin in /usr, the guest the other way round.
		for d in usr/lib/x86_64-linux-gnu lib64; do
			[ ! -d $d ] || { cp -a $d lib/ && rm -r $d; }
		done
		[ -z "${MENDED:-}" ] ||
			cp "$MENDED" "$(find . -regex ".*\(bin\|linux-gnu\)/${MENDED##*/}" | grep .)"
	)
}

# shellcheck disable=SC2034 # for who sources this
PUT_ROOT=()
for d in bin sbin usr lib; do PUT_ROOT+=(--put "$DIR/root/$d:/$d"); done

# Paths and a bash that such programs expect, for the guest's shell.
# shellcheck disable=SC2016,SC2034
DEBIAN_ROOT='
mkdir -p /usr/lib && ln -s /lib/x86_64-linux-gnu /usr/lib/
[ -e /bin/bash ] || printf "#!/bin/sh\nexec /bin/busybox sh \"\$@\"\n" >/bin/bash
chmod +x /bin/bash
export PATH=$PATH:/usr/bin:/usr/sbin
'

# judge NAME WHERE MACHINE: what vm NAME has printed against the list on stdin. The guest
# prints one line for each thing that it has tried:
#
#	@ pass|fail|skip WHAT
#
# and a line of the list says what is expected on which machines:
#
#	MACHINE,...|*  VERDICT  WHAT  [| REASON]
#
# WHAT is one word. VERDICT is "passes"; "theirs", if it fails because of the stranger, the
# reason being the line of its source; or "absent", if it does not apply. Anything else than
# what the list says is a failure, a failure that has gone as well as a new one.
judge() {
	local name=$1 where=$2 machine=$3 machines verdict what rest line passes=0 explained=0 bad=0
	local -A got=() want=([passes]=pass [theirs]=fail [absent]=skip)
	while read -r _ verdict what _; do
		# shellcheck disable=SC2004
		got[$what]=$verdict
	done < <(grep '^@ ' "$DIR/$name.out")
	grep -v '^@ ' "$DIR/$name.out" | sed 's/^/# /'
	while read -r machines verdict what rest; do
		case $machines in '' | '#'*) continue ;; esac
		case ,$machines, in *",$machine,"* | *,'*',*) ;; *) continue ;; esac
		[ "$verdict" != theirs ] || [ -z "${MENDED:-}" ] || verdict=passes
		line="$where: $what"
		if [ "${got[$what]:-}" = "${want[$verdict]:-}" ]; then
			case $verdict in
			passes) passes=$((passes + 1)) ;;
			*) explained=$((explained + 1)) line+=" is ${verdict/absent/not here}: ${rest#| }" ;;
			esac
			ktap "$line" true
		else
			bad=$((bad + 1))
			ktap "$line" fails "expected: $verdict, found: ${got[$what]:-nothing}"
		fi
		unset "got[$what]"
	done
	for what in "${!got[@]}"; do
		bad=$((bad + 1))
		ktap "$where: $what" fails "found: ${got[$what]}, and no line says what is expected"
	done
	echo "# $where: $((passes + explained + bad)) measurements, $passes as they should be," \
		"$explained explained, $bad unexplained"
	sed 's/^/# /' "$DIR/$name.err"
	ktap "$where: it has run to its end" ended "$name" 0
}

fails() { echo "$*"; return 1; }
