#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The faults of mainline's uncore driver: each is there without our changes, and gone with its
# own alone and with all of them. What is loaded is built of Debian's source.
#
# TEST: none
# SOAK: 6.1 6.12 newest
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"

program=$(build_program upstream uncore.c) || { ktap "the program is built" false; ktap_end; }
mapfile -t faults < <(grep '^nhmex_' "$TOP/Documentation/upstream/series")
# Of which only the other machine has what it takes.
declare -A machine=([nhmex_fvc]=westmereex)

# What is seen without the change: how a count differs, and what it is where that is known. A
# package that is off counts nothing.
declare -A seen=([nhmex_fixed_ctr_bits]='(-281474976710656)$' [nhmex_wbox]='(+281474959933440)$'
	[nhmex_occupancy]=', undefined [1-9][0-9]* times$' [nhmex_en_all]=' 0, expected 0 '
	[nhmex_wrap]=' 5, expected [1-9]' [nhmex_addr_mask]=' 10, expected 7 '
	[nhmex_fvc]=' 4, expected 0 ')
# A compiler that checks shifts makes another number of it.
declare -A seen_newest=([nhmex_fixed_ctr_bits]=' 0, expected .*, UBSAN$')

# Prints "@ CHANGES FAULT STATUS what was seen". A shift by too much is in the kernel log.
guest='
while read -r changes fault; do
	/t/uncore reset && insmod /t/$changes.ko || exit
	dmesg -c >/dev/null
	said=$(/t/uncore $fault)
	status=$?
	if dmesg | grep -q UBSAN; then said="$said, UBSAN"; status=1; fi
	echo "@ $changes $fault $status $said"
	rmmod intel_uncore || exit
done </t/list'

# judged NAME CHANGES FAULT STATUS [SAID]
judged() {
	local found
	found=$(grep "^@ $2 $3 " "$DIR/$1.out")
	echo "${found:-$3 was not looked for}"
	[ "$(echo "$found" | cut -d ' ' -f 4)" = "$4" ] && echo "$found" | grep -q -- "${5:-}"
}

# said FAULT: what is to be seen of it on this kernel.
said() {
	[ "$kernel" != newest ] || [ -z "${seen_newest[$1]:-}" ] || { echo "${seen_newest[$1]}"; return; }
	echo "${seen[$1]}"
}

# look NAME MACHINE: for what is on stdin, "CHANGES FAULT" a line.
look() {
	local name=$1 changes put=(--put "$program:/t/uncore" --put "$DIR/$1.list:/t/list")
	cat >"$DIR/$name.list"
	for changes in $(cut -d ' ' -f 1 "$DIR/$name.list" | sort -u); do
		put+=(--put "$DIR/$kernel/$changes.ko:/t/$changes.ko")
	done
	vm "$name" --kernel "$kernel" --machine "$2" --cores 2 --driver none "${put[@]}" \
		-- sh -c "$guest"
}

# The faults that a machine shows.
of() { for f in "${faults[@]}"; do [ "${machine[$f]:-xeon7500}" != "$1" ] || echo "$f"; done; }

built() {
	local c
	mkdir "$DIR/$kernel"
	for c in none all "${faults[@]}"; do
		# shellcheck disable=SC2046 # nothing for "none"
		cp "$("$TOP/tools/upstream" module "$kernel" $([ "$c" = none ] || echo "$c"))" \
			"$DIR/$kernel/$c.ko" || return
	done
}

# Without the changes the newest kernel complains of that shift and of nothing else, and the others
# of nothing; with all of them none does.
complained() {
	[ "$kernel $2" = "newest xeon7500" ] || { ended "$1" 0; return; }
	"$TOP/tools/vm/trouble" "$DIR/$1.log" | grep -v 'cut here' | awk '{ print }
		/UBSAN: shift-out-of-bounds in .*uncore/ { shift = 1; next } { bad = 1 } END { exit bad || !shift }'
}

# With all, the counter of the W-Box starts at 2, so it does not wrap: only UBSAN would tell.
told_with_all() { [ "$1" != nhmex_fixed_ctr_bits ] || [ "$kernel" = newest ]; }

for kernel in "${KERNELS[@]}"; do
	ktap "$kernel: mainline is built without changes, with each and with all" built
	for m in xeon7500 westmereex; do
		of $m | sed 's/.*/none &\n& &/' | look "without-$m" $m
		of $m | sed 's/^/all /' | look "all-$m" $m
		for fault in $(of $m); do
			ktap "$kernel: $fault: seen without" judged "without-$m" none "$fault" 1 "$(said "$fault")"
			ktap "$kernel: $fault: gone with it alone" judged "without-$m" "$fault" "$fault" 0
			! told_with_all "$fault" ||
				ktap "$kernel: $fault: gone with all" judged "all-$m" all "$fault" 0
		done
		ktap "$kernel $m: no complaint but that of fixed_ctr_bits" complained "without-$m" "$m"
		ktap "$kernel $m: no complaint with all" ended "all-$m" 0
	done
done
ktap_end
