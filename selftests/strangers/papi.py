#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""PAPI, unmodified, from Debian 12 (7.0.0): each of its presets against the silicon's counts.

That is selftests/guest/papi/guest.c. Then tests of its own, which know what small programs must
count. With --icount, for some of these compare the cycles of two equal runs. Sandy Bridge; in
make soak the other machines, too.

TEST: 6.1
SOAK: 6.1
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import debian
import vm
from ktap import Ktap

TESTS = 'first', 'zero', 'low-level', 'papi_tot_ins'
# Its own tests come as source, which unpack takes for documentation; flops_testcode.c defines what
# do_loops.c does, so each takes from an archive what it needs.
BUILD = r'''
set -e
top=$1
cd "$2"
shift 2
for deb in "$CACHE"/debs/papi-examples_*.deb; do dpkg-deb -x "$deb" examples; done
d=examples/usr/share/doc/papi-examples/examples
cc=(gcc -g -w -pthread -I root/usr/include -I $d/testlib -I $d/validation_tests)
with=(-L root/lib/x86_64-linux-gnu -lpapi -lm -Wl,--allow-shlib-undefined)
mkdir o t
for f in testlib/{test_utils,clockcore,do_loops} validation_tests/{display_error,instructions_testcode}; do
	"${cc[@]}" -O2 -c -o "o/${f#*/}.o" $d/$f.c
done
ar rc o/libtests.a o/*.o
for t; do
	"${cc[@]}" -O1 -o "t/$t" "$(find $d/ctests $d/validation_tests -name "$t.c")" o/libtests.a "${with[@]}"
done
gcc -O2 -g -Wall -Wextra -Werror -I "$top/tools/silicon/model" -I root/usr/include \
	-o t/guest "$top/selftests/guest/papi/guest.c" "${with[@]}"
'''
GUEST = r'''
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
'''
PRESETS = {
    'sandybridge': '''
        L1_DCM L1_ICM L2_DCM L2_ICM L1_TCM L2_TCM L3_TCM TLB_DM TLB_IM L1_LDM L1_STM L2_STM STL_ICY
        BR_UCN BR_CN BR_TKN BR_NTK BR_MSP BR_PRC TOT_INS FP_INS LD_INS SR_INS BR_INS TOT_CYC L2_DCH
        L2_DCA L3_DCA L2_DCR L3_DCR L2_DCW L3_DCW L2_ICH L2_ICA L3_ICA L2_ICR L3_ICR L2_TCA L3_TCA
        L2_TCR L3_TCR L2_TCW L3_TCW FDV_INS FP_OPS SP_OPS DP_OPS VEC_SP VEC_DP REF_CYC''',
    'xeon7500': '''
        L1_DCM L1_ICM L2_DCM L2_ICM L1_TCM L2_TCM L3_TCM L3_LDM TLB_DM TLB_IM TLB_TL L1_LDM L1_STM
        L2_LDM L2_STM BR_UCN BR_CN BR_TKN BR_NTK BR_MSP BR_PRC TOT_IIS TOT_INS FP_INS LD_INS SR_INS
        BR_INS RES_STL TOT_CYC LST_INS L1_DCH L2_DCH L1_DCA L2_DCA L3_DCA L1_DCR L2_DCR L3_DCR L1_DCW
        L2_DCW L3_DCW L1_ICH L2_ICH L1_ICA L2_ICA L3_ICA L1_ICR L2_ICR L3_ICR L2_TCH L1_TCA L2_TCA
        L3_TCA L1_TCR L2_TCR L3_TCR L2_TCW L3_TCW FP_OPS SP_OPS DP_OPS VEC_SP VEC_DP REF_CYC''',
    'silvermont': '''
        L1_ICM L1_TCM L2_TCM BR_CN BR_MSP TOT_INS BR_INS RES_STL TOT_CYC L1_ICH L1_ICA L2_TCH L2_TCA
        REF_CYC''',
}
# It has no preset there, so none of its tests finds any.
GOLDMONT = '''
    INSTRUCTION_RETIRED UNHALTED_CORE_CYCLES UNHALTED_REFERENCE_CYCLES BR_INST_RETIRED:ALL_TAKEN_BRANCHES
    BR_MISP_RETIRED:ALL_BRANCHES UOPS_RETIRED:ANY MEM_UOPS_RETIRED:ALL_LOADS MEM_UOPS_RETIRED:ALL_STORES
    MEM_LOAD_UOPS_RETIRED:L1_HIT MEM_LOAD_UOPS_RETIRED:L2_HIT LONGEST_LAT_CACHE:REFERENCE
    LONGEST_LAT_CACHE:MISS'''.split()


def papi(machine, command, *expected):
    """Its tests, after this one of guest.c."""
    done = vm.boot('--machine', machine, '--kernel', '6.1', '--memory', '1024M', '--cores', '1', '--icount',
                   '--append', 'nmi_watchdog=0', *debian.PUT, '--put', vm.path('t') + ':/',
                   '--', 'sh', '-c', f'{debian.ROOT}/t/guest {command} || exit\n{GUEST}', 'sh', *TESTS)
    debian.judge(ktap, done, f'PAPI, {machine}', machine, '\n'.join(expected))


ktap = Ktap()
ktap.result('the packages are unpacked',
            debian.unpack('papi-examples', 'libpapi7.0', 'libpapi-dev', 'libsde1', 'libpfm4'))
ktap.result('its tests are built', vm.works(BUILD, vm.TOP, vm.DIR, *TESTS))
if ktap.bad:
    sys.exit(ktap.end())
for name in PRESETS if vm.SOAK else ['sandybridge']:
    papi(name, 'presets', '* passes mispredictions',
         *(f'* passes PAPI_{p}' for p in PRESETS[name].split()), *(f'* passes {t}' for t in TESTS))
if vm.SOAK:
    papi('goldmont', 'natives ' + ' '.join(GOLDMONT), *(f'* passes {e}' for e in GOLDMONT),
         *(f'* absent {t} | PAPI 7.0 has no presets of Goldmont' for t in TESTS))
sys.exit(ktap.end())
