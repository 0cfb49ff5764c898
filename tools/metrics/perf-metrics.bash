# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of perf-metrics for bash: words, groups and metrics, options, files.

_perf_metrics() {
	local i command="" before=$3 what=(-f)
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--)	# what follows is a command of its own
			command=--
			break
			;;
		list | check | map | top | why | status | record | report | diff) command=${command:-${COMP_WORDS[i]}} ;;
		esac
	done
	COMPREPLY=()
	# The second file of diff
	[ "$COMP_CWORD" -lt 3 ] || [ "${COMP_WORDS[COMP_CWORD - 2]}" != diff ] || before=diff
	case $command,$before,$2 in
	--,*) what=(-c -f) ;;
	*,-o,* | *,--output,* | *,--openmetrics,* | *,--topology,* | *,--html,*) ;;
	report,report,[!-]* | report,report, | diff,diff,[!-]* | diff,diff,) ;;
	*,-I,* | *,--interval,* | *,--interval-count,*) return ;;
	*,--sort,*) what=(-W "name scope value") ;;
	*,--units,*) what=(-W "auto base") ;;
	check,*) ;;
	*,--fail-on,* | why,*,[!-]* | why,*,)
		what=(-W "$(perf-metrics list --rules 2>/dev/null | sed -n 's/^\([a-z][a-z0-9_]*\).*/\1/p')
			$([ "$before" != --fail-on ] || echo any)")
		;;
	map,* | status,* | *,*,-*)
		what=(-W "$(perf-metrics "${command:-NAME}" --help |
			sed -n 's/^  ... --\([a-z-]*\) .*/--\1/p') --")
		;;
	*)
		what=(-W "$(perf-metrics list 2>/dev/null |
			sed -n 's/^\([a-z0-9_]*\): .*/\1/p; s/^  \([a-z0-9_]*\) .*/\1/p')
			$([ "$COMP_CWORD" -gt 1 ] || echo list check map top why status record report diff)
			$([ "$command" != report ] || echo map why)")
		;;
	esac
	mapfile -t COMPREPLY < <(compgen "${what[@]}" -- "$2")
} && complete -F _perf_metrics perf-metrics
