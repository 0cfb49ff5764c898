#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Other people's stress tests of perf_event_open(), from Debian, beside live sessions of
# the uncore: trinity's random calls, and stress-ng, which counts with every event the
# kernel has while it stresses something. The kernel has nothing to complain of, and the
# sessions end as they should.
#
# TEST: none
# SOAK: 6.1 6.12 newest debug
# PART: adversaries
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"
. "$(dirname "$0")/../lib/debian.sh"

# Who starts in the background of a script ignores SIGINT until perf has its own handler.
stress='
perf stat -a -I 1000 -e xeon7500_cbox/llc_misses.all/,xeon7500_mbox/bbox_cmds.reads/ -o /tmp/stat sleep 100000 &
stat=$!
perf record -q -a -e xeon7500_cbox_0/llc_misses.all/ -c 1000003 -o /dev/null sleep 100000 2>/tmp/record &
record=$!
until grep -qs llc_misses /tmp/stat && ls -l /proc/$record/fd 2>&1 | grep -q perf_event; do
	kill -0 $stat && kill -0 $record || exit
	sleep 0.1
done
status=0
cd /tmp && "$@" >/tmp/out 2>&1 </dev/null || status=$?
tail -n 10 /tmp/out
kill -INT $stat $record
wait $stat; [ $? = 130 ] || [ $? = 0 ] || { echo "perf stat: $?"; status=1; }
wait $record
tail -n 2 /tmp/stat
grep -c llc_misses /tmp/stat
exit $status
'

# beside COMMAND... An event of ftrace changes 45,000 functions of the kernel, which takes
# longer here than a soft lockup may last. The newest perf starts sooner.
beside() {
	vm beside --kernel "$kernel" --perf newest --memory 1536M --sockets 2 --cores 2 --append nosoftlockup \
		"${PUT_ROOT[@]}" --put /lib/x86_64-linux-gnu/libpthread.so.0:/lib/x86_64-linux-gnu/ -- \
		sh -c "$DEBIAN_ROOT $stress" sh "$@"
	cat "$DIR/beside.out"
	ended beside 0 && [ "$(tail -n 1 "$DIR/beside.out")" -gt 2 ]
}

ktap "the packages are unpacked" unpack stress-ng trinity libbsd0 libmd0 libcrypt1 libipsec-mb1 libjudydebian1 \
	libsctp1 libkmod2 libegl1 libgbm1 libglvnd0 libxxhash0 libaio1 libapparmor1 libjpeg62-turbo libgles2 \
	libdrm2 libffi8 libssl3 libwayland-server0
for kernel in "${KERNELS[@]}"; do
	# 20,000 had not ended there after 40 minutes.
	calls=20000 && [ "$kernel" != debug ] || calls=1000
	ktap "trinity, $kernel" beside trinity --dangerous -q -l off -s 1 --enable-fds=perf \
		-c perf_event_open -N "$calls" -C 4
	ktap "stress-ng, $kernel" beside stress-ng --perf --cpu 4 --timer 2 --clone 2 --exec 2 --timeout 60
done
ktap_end
