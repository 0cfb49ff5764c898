#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The faults of the kernel's core PMU: each is there without our changes, and gone with its own
# alone and with all of them, on a kernel that is built of Debian's source. Our module is not
# loaded; tests of it that apply to what a change does run on the kernel with that change. The first
# build takes half an hour, each change two minutes.
#
# TEST: none
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"
# shellcheck disable=SC2034 # vm looks at it
PTI=on

sampler=$(build_program pebs_index sampler.c) || { ktap "the program is built" false; ktap_end; }
# Tests of our module that run without it.
ours=(data_src rules precise pdir pdir_fair)
make -s -C "$TOP/selftests" OUTPUT="$TOP/build/selftests" "${ours[@]/#/$TOP/build/selftests/core/}" ||
	{ ktap "the tests of our module are built" false; ktap_end; }
rates=$(build_program upstream rates.c) || { ktap "the rates are built" false; ktap_end; }
put=()
for t in "${ours[@]}"; do put+=(--put "$TOP/build/selftests/core/$t:/t/$t"); done
mapfile -t faults < <(grep -v '^nhmex_' "$TOP/Documentation/upstream/series")

# A look is a fault, and behind a colon what is different. This kernel has no clock to check the TSC
# by, and trusts none for fine timers without.
looks=(pebs_index pebs_index:stop pebs_address pebs_weight pebs_weight:plus pebs_weight:slm
	slm_offcore goldmont_mem goldmont_mem:plus goldmont_data_src goldmont_data_src:plus
	goldmont_reduced_skid snb_pdir snb_pdir:fair)
PLUS='goldmont --model 7a'
declare -A machine=([pebs_address]=silvermont [pebs_weight:plus]="$PLUS" [goldmont_mem:plus]="$PLUS"
	[goldmont_data_src:plus]="$PLUS" [pebs_weight:slm]=silvermont [slm_offcore]=silvermont
	[snb_pdir]='sandybridge --threads 2'
	[snb_pdir:fair]='sandybridge --threads 2 --icount --append tsc=reliable')

# What each prints is compared below.
declare -A command=(
	[pebs_index]='/t/sampler below && /t/sampler above && dmesg | grep -c "PEBS index out of bounds"'
	[pebs_index:stop]='/t/sampler below && /t/sampler stop && dmesg | grep -c "PEBS index out of bounds"'
	[pebs_address]='perf record -d -c 97 -e cpu/event=0xc4/ppu -o p ls / >/dev/null && perf script -i p -F addr'
	[pebs_weight]='perf record -W -e cpu/event=0xd0,umask=0x81/pp -o p ls / >/dev/null && perf script -i p -F weight'
	[pebs_weight:slm]='perf record -W -c 97 -e cpu/event=0xc4/pp -o p ls / >/dev/null && perf script -i p -F weight'
	[slm_offcore]='/t/rates || exit
		E=cpu/event=0xb7,offcore_rsp=0x168000000
		perf stat -x, -e "{LLC-store-misses,${E}2,umask=2/}" sleep 1 2>&1 &&
		perf stat -x, -e "{LLC-load-misses,${E}1,umask=2/}" sleep 1 2>&1'
	[goldmont_mem]='perf mem record -o p ls / >/dev/null && perf script -i p -F event'
	[goldmont_data_src]='PATCHED=1 /t/data_src; [ $? -le 1 ]'
	[goldmont_reduced_skid]='PATCHED=1 /t/rules; [ $? -le 1 ]'
	[precise]='PATCHED=1 /t/precise; [ $? -le 1 ]'
	[snb_pdir]='PATCHED=1 /t/pdir; [ $? -le 1 ]'
	[snb_pdir:fair]='PATCHED=1 /t/pdir_fair; [ $? -le 1 ]'
)

# What is seen without the change, each line somewhere; more than that it is not as with it.
oops='RIP: 0010:\(intel_pmu_drain_pebs_nhm\|__intel_pmu_pebs_\|get_next_pebs\)'
declare -A seen=([pebs_index]="^after: 0\$"$'\n'"$oops" [pebs_address]='5a5a5a5a5a5a5a5a'
	[pebs_weight]='1515870810' [slm_offcore]='LLC-load-misses event is not supported'
	[goldmont_mem]='memory events not supported'
	[goldmont_data_src]='^not ok .* by the event, fixed period'
	[goldmont_reduced_skid]='^not ok .* precision under enforce'
	[snb_pdir]='^not ok .* turns on one thread'$'\n''^not ok .* turns between threads'
	[snb_pdir:fair]='^not ok .* share PDIR')

# values LOOK: the first word of each line.
values() { sed 's/^ *//; s/[, ].*//' "$DIR/$1.out"; }

# Samples before and after a fault, twice. One is lost; the walk has a few more of its own. The
# kernel says so once.
right_pebs_index() {
	cat "$DIR/$1.out"
	[ "$(sed -n 's/^before: //p' "$DIR/$1.out" | awk '$1 >= 200 && $1 < 210' | wc -l)" = 2 ] &&
		[ "$(sed -n 's/^after: //p' "$DIR/$1.out" | awk '$1 >= 199' | wc -l)" = 2 ] &&
		[ "$(tail -n 1 "$DIR/$1.out")" = 1 ]
}

all_zero() {
	values "$1" | sort | uniq -c
	[ "$(values "$1" | sort -u)" = 0 ]
}
right_pebs_address() { all_zero "$1"; }
right_pebs_weight() { all_zero "$1"; }

# Two lines, equal, twice; perf warns of the workload between them.
right_slm_offcore() {
	cat "$DIR/$1.out"
	grep , "$DIR/$1.out" | awk -F , '!/^[1-9]/ || (NR % 2 == 0 && $1 != last) { bad = 1 } { last = $1 }
		END { exit bad || NR != 4 }'
}

# Of 32 responses 15 are misses and one is a device's, which the store misses count as well.
wrong_slm_offcore() {
	grep , "$DIR/$1.out" | awk -F , 'NR == 1 { more = $1 } NR == 2 { less = $1 }
		END { d = more * 15 - less * 16; exit !(less > 10000 && d * d < 32 * 32) }'
}

right_goldmont_mem() {
	sort "$DIR/$1.out" | uniq -c
	grep -q mem-loads "$DIR/$1.out" && grep -q mem-stores "$DIR/$1.out"
}

# ktap_all NAME [BUT]: each case of a test of ours has a result, and all but those are good.
ktap_all() {
	cat "$DIR/$1.out"
	[ "$(grep -c '^\(not \)\?ok ' "$DIR/$1.out")" = "$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$DIR/$1.out")" ] &&
		! grep '^not ok' "$DIR/$1.out" | grep -v "${2:-^\$}"
}
right_goldmont_reduced_skid() { ktap_all "$1"; }
right_precise() { ktap_all "$1"; }
right_snb_pdir() { ktap_all "$1"; }

# That there is no weight is what pebs_weight does.
right_goldmont_data_src() {
	case $1 in
	*-all) ktap_all "$1" ;;
	*) ktap_all "$1" 'no weight and no transaction' ;;
	esac
}

# look NAME LOOK TREE
look() {
	# shellcheck disable=SC2086 # a machine and its options
	vm "$1" --kernel "$3" --perf newest --machine ${machine[$2]:-goldmont} --cores 2 --driver none \
		--put "$sampler:/t/sampler" --put "$rates:/t/rates" "${put[@]}" \
		-- sh -c "${command[$2]:-${command[${2%:*}]}}"
}

# gone NAME FAULT, there NAME FAULT
gone() { ended "$1" 0 && "right_$2" "$1"; }
there() {
	local line look=${1%-*}
	! gone "$1" "$2" >/dev/null || return
	while read -r line; do
		grep -h "$line" "$DIR/$1.out" "$DIR/$1.err" "$DIR/$1.log" | sort | uniq -c | grep . ||
			{ echo "no $line"; tail -n 5 "$DIR/$1.out" "$DIR/$1.err"; return 1; }
	done <<<"${seen[$look]:-${seen[$2]}}"
	! declare -F "wrong_$2" >/dev/null || { cat "$DIR/$1.out"; "wrong_$2" "$1"; }
}

# perf_tests MACHINE CHANGES TREE: perf's own, without any module.
perf_tests() {
	vm "tests-$1-$2" --kernel "$3" --perf newest --machine "$1" --cores 1 --icount --driver none \
		--put "$TOP/selftests/core/perf_tests.sh:/t/perf_tests.sh" -- \
		env "TRIES=${TRIES:-20}" sh /t/perf_tests.sh list
}

no_worse() {
	local was=tests-$1-none is=tests-$1-all
	cat "$DIR/$is.out"
	ended "$was" 0 && ended "$is" 0 && [ "$(grep -c ' Ok ' "$DIR/$was.out")" -ge 20 ] &&
		"$TOP/selftests/core/perf_tests.sh" worse "$DIR/$was.out" "$DIR/$is.out"
}

for kernel in "${KERNELS[@]}"; do
	for changes in none "${faults[@]}" all; do
		# shellcheck disable=SC2046 # nothing for "none"
		tree=$("$TOP/tools/upstream" kernel "$kernel" $([ $changes = none ] || echo $changes)) ||
			{ ktap "$kernel: a kernel with the changes: $changes" false; continue; }
		for look in "${looks[@]}"; do
			name=$look-$changes fault=${look%:*}
			case $changes in
			none)
				look "$name" "$look" "$tree"
				ktap "$kernel: $look: seen without" there "$name" "$fault"
				;;
			all | "$fault")
				look "$name" "$look" "$tree"
				ktap "$kernel: $look: gone with the changes: $changes" gone "$name" "$fault"
				;;
			esac
		done
		case $changes in none | all)
			for m in goldmont sandybridge; do perf_tests $m $changes "$tree"; done ;;
		esac
	done
	look precise-all precise "$tree"
	ktap "$kernel: a sample of each precise event is at its instruction, with all" gone precise-all precise
	for m in goldmont sandybridge; do
		ktap "$kernel: perf's own tests are no worse on $m with all" no_worse $m
	done
done
ktap_end
