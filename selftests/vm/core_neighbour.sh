#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# intel_core_ext beside another module that extends the core PMU, which is built
# here. The cases are in selftests/core/neighbour/guest.sh.
set -uo pipefail
. "$(dirname "$0")/../../tools/lib/common.sh"

src=$TOP/selftests/core/neighbour
n=0 bad=0
echo "KTAP version 1"

# build KERNEL OUT
build() {
	local kdir objs
	kdir=$("$TOP/tools/vm/kernel" --cached --headers "$1" | sed -n 's/^KDIR=//p')
	rm -rf "$2"
	mkdir -p "$2/ext"
	ln -s "$src"/*.c "$src/Kbuild" "$TOP/include" "$2"
	ln -s "$TOP"/drivers/core/*.[ch] "$2/ext"
	objs=$(cd "$TOP/drivers/core" && printf '%s ' *.c | sed 's/\.c /.o /g')
	make -s -C "$kdir" M="$2" EXT_OBJS="$objs" modules
}

for kernel in ${KERNELS_UNDER_TEST:-6.1 6.12}; do
	out=$TOP/build/selftests/neighbour-$kernel
	mkdir -p "$out"
	log=$out.log
	if ! build "$kernel" "$out" >"$log" 2>&1; then
		sed 's/^/# /' "$log"
		echo "not ok $((++n)) the modules are built: kernel $kernel"
		bad=1
		continue
	fi
	"$TOP/tools/vm/run" --machine goldmont --kernel "$kernel" --timeout 900 \
		--put "$out/neighbour.ko:/t/neighbour.ko" --put "$out/twin.ko:/t/twin.ko" \
		--put "$src/guest.sh:/t/guest.sh" --put "$TOP/selftests/lib/ktap.sh:/t/ktap.sh" \
		-- sh /t/guest.sh >"$log" 2>&1 </dev/null
	status=$?
	while read -r line; do
		case $line in
		"ok "* | "not ok "*)
			rest=${line#*ok } result=${line%%ok *}
			echo "${result}ok $((++n)) ${rest#* }: kernel $kernel"
			[ -z "$result" ] || bad=1
			;;
		1..*) ;;
		*) echo "# ${line#\# }" ;;
		esac
	done <"$log"
	[ $status = 0 ] || bad=1
	if [ $status -gt 1 ]; then
		echo "not ok $((++n)) the machine: kernel $kernel, status $status"
	fi
done
echo "1..$n"
exit $bad
