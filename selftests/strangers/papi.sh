#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PAPI, unmodified, from Debian 12 (7.0.0): each of its presets against the silicon's truth
# (selftests/guest/papi/guest.c), and tests of its own, which know what small programs must
# count. With --icount, for some of these compare the cycles of two equal runs. Sandy Bridge; in
# make soak the other machines, too.
#
# TEST: 6.1
# SOAK: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

tests=(first zero low-level papi_tot_ins)

# Its own tests come as source; flops_testcode.c defines what do_loops.c does, so each takes
# from an archive what it needs.
build() {
	local d=$DIR/examples/usr/share/doc/papi-examples/examples f t
	local cc=(gcc -g -w -pthread -I "$DIR/root/usr/include" -I "$d/testlib" -I "$d/validation_tests")
	# shellcheck disable=SC2054 # the comma is the linker's
	local with=(-L "$DIR/root/lib/x86_64-linux-gnu" -lpapi -lm -Wl,--allow-shlib-undefined)
	mkdir -p "$DIR/o" "$DIR/t"
	for f in testlib/{test_utils,clockcore,do_loops} validation_tests/{display_error,instructions_testcode}; do
		"${cc[@]}" -O2 -c -o "$DIR/o/${f#*/}.o" "$d/$f.c" || return
	done
	ar rc "$DIR/o/libtests.a" "$DIR"/o/*.o
	for t in "${tests[@]}"; do
		f=$d/ctests/$t.c
		[ -e "$f" ] || f=$d/validation_tests/$t.c
		"${cc[@]}" -O1 -o "$DIR/t/$t" "$f" "$DIR/o/libtests.a" "${with[@]}" || return
	done
	gcc -O2 -g -Wall -Wextra -Werror -I "$TOP/tools/silicon/model" -I "$DIR/root/usr/include" \
		-o "$DIR/t/guest" "$TOP/selftests/guest/papi/guest.c" "${with[@]}"
}

cat >"$DIR/guest.sh" <<'END'
cd /tmp
for t; do
	/t/$t >/tmp/out 2>&1
	status=$?
	case $(grep -oE 'PASSED|SKIPPED|FAILED' /tmp/out | tail -n 1) in
	PASSED) [ $status = 0 ] && verdict=pass || verdict=fail ;;
	SKIPPED) verdict=skip ;;
	*) verdict=fail ;;
	esac
	echo "@ $verdict $t"
	[ $verdict = pass ] || { echo "$t: status $status"; tail -n 12 /tmp/out; }
done
END

sandybridge=(L1_DCM L1_ICM L2_DCM L2_ICM L1_TCM L2_TCM L3_TCM TLB_DM TLB_IM L1_LDM L1_STM L2_STM
	STL_ICY BR_UCN BR_CN BR_TKN BR_NTK BR_MSP BR_PRC TOT_INS FP_INS LD_INS SR_INS BR_INS TOT_CYC
	L2_DCH L2_DCA L3_DCA L2_DCR L3_DCR L2_DCW L3_DCW L2_ICH L2_ICA L3_ICA L2_ICR L3_ICR L2_TCA
	L3_TCA L2_TCR L3_TCR L2_TCW L3_TCW FDV_INS FP_OPS SP_OPS DP_OPS VEC_SP VEC_DP REF_CYC)
xeon7500=(L1_DCM L1_ICM L2_DCM L2_ICM L1_TCM L2_TCM L3_TCM L3_LDM TLB_DM TLB_IM TLB_TL L1_LDM L1_STM
	L2_LDM L2_STM BR_UCN BR_CN BR_TKN BR_NTK BR_MSP BR_PRC TOT_IIS TOT_INS FP_INS LD_INS SR_INS
	BR_INS RES_STL TOT_CYC LST_INS L1_DCH L2_DCH L1_DCA L2_DCA L3_DCA L1_DCR L2_DCR L3_DCR L1_DCW
	L2_DCW L3_DCW L1_ICH L2_ICH L1_ICA L2_ICA L3_ICA L1_ICR L2_ICR L3_ICR L2_TCH L1_TCA L2_TCA
	L3_TCA L1_TCR L2_TCR L3_TCR L2_TCW L3_TCW FP_OPS SP_OPS DP_OPS VEC_SP VEC_DP REF_CYC)
silvermont=(L1_ICM L1_TCM L2_TCM BR_CN BR_MSP TOT_INS BR_INS RES_STL TOT_CYC L1_ICH L1_ICA L2_TCH
	L2_TCA REF_CYC)
# It has no preset there, so none of its tests finds any.
goldmont=(INSTRUCTION_RETIRED UNHALTED_CORE_CYCLES UNHALTED_REFERENCE_CYCLES
	BR_INST_RETIRED:ALL_TAKEN_BRANCHES BR_MISP_RETIRED:ALL_BRANCHES UOPS_RETIRED:ANY
	MEM_UOPS_RETIRED:ALL_LOADS MEM_UOPS_RETIRED:ALL_STORES MEM_LOAD_UOPS_RETIRED:L1_HIT
	MEM_LOAD_UOPS_RETIRED:L2_HIT LONGEST_LAT_CACHE:REFERENCE LONGEST_LAT_CACHE:MISS)

# papi MACHINE COMMAND: its tests, after this one of guest.c; the list is on stdin.
papi() {
	vm "$1" --machine "$1" --kernel 6.1 --memory 1024M --cores 1 --icount \
		--append nmi_watchdog=0 "${PUT_ROOT[@]}" --put "$DIR/t:/" \
		--put "$DIR/guest.sh:/t/guest.sh" -- \
		sh -c "$DEBIAN_ROOT $2 && exec sh /t/guest.sh ${tests[*]}"
	judge "$1" "PAPI, $1" "$1"
}
passes() { printf '* passes %s\n' "$@" "${tests[@]}"; }

ktap "the packages are unpacked" unpack papi-examples libpapi7.0 libpapi-dev libsde1 libpfm4
# What unpack takes for documentation are the tests.
for deb in "$CACHE"/debs/papi-examples_*.deb; do dpkg-deb -x "$deb" "$DIR/examples"; done
ktap "its tests are built" build || ktap_end
papi sandybridge "/t/guest presets" < <(passes mispredictions "${sandybridge[@]/#/PAPI_}")
if [ -n "${SOAK:-}" ]; then
	papi xeon7500 "/t/guest presets" < <(passes mispredictions "${xeon7500[@]/#/PAPI_}")
	papi silvermont "/t/guest presets" < <(passes mispredictions "${silvermont[@]/#/PAPI_}")
	papi goldmont "/t/guest natives ${goldmont[*]}" < <(
		printf '* passes %s\n' "${goldmont[@]}"
		printf '* absent %s | PAPI 7.0 has no presets of Goldmont\n' "${tests[@]}")
fi
ktap_end
