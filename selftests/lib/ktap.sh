# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# KTAP for shell tests, also for the busybox shell of the virtual machine.
#
#	. "$(dirname "$0")/ktap.sh"
#	counts() { [ "$(count_it)" = 3 ]; }
#	ktap "it counts to three" counts
#	ktap_end
#
# A test is a command; its output becomes diagnostics. Status 4 means skipped, the
# last line of its output being the reason. Before the first one
#
#	ktap_skip_all REASON
#
# says that none can run here. If all were skipped, the status is 4 as in all kselftests.

ktap_num=0
ktap_bad=0
ktap_skips=0
echo "KTAP version 1"

ktap() {
	ktap_name=$1
	shift
	ktap_num=$((ktap_num + 1))
	ktap_out=$( ("$@") 2>&1)
	ktap_status=$?
	[ -z "$ktap_out" ] || printf '%s\n' "$ktap_out" | sed 's/^/# /'
	case $ktap_status in
	0) echo "ok $ktap_num $ktap_name" ;;
	4)
		echo "ok $ktap_num $ktap_name # SKIP $(printf '%s\n' "$ktap_out" | tail -n 1)"
		ktap_skips=$((ktap_skips + 1))
		;;
	*) echo "not ok $ktap_num $ktap_name"; ktap_bad=1 ;;
	esac
}

ktap_end() {
	echo "1..$ktap_num"
	[ $ktap_num = 0 ] || [ $ktap_skips != $ktap_num ] || exit 4
	exit $ktap_bad
}

ktap_skip_all() {
	echo "1..0 # SKIP $*"
	exit 4
}
