# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of perf-metrics for bash: words, groups and metrics, options, files.

_perf_metrics() {
	local word=$2 before=$3 i command=""
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--)	# what follows is a command of its own
			mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
			return
			;;
		list | check | map) command=${command:-${COMP_WORDS[i]}} ;;
		esac
	done
	case $before in
	-o | --output | --openmetrics | --topology)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	-I | --interval | --interval-count) return ;;
	esac
	case $command,$word in
	check,*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	map,* | *,-*)
		mapfile -t COMPREPLY < <(compgen -W "$(perf-metrics ${command:-NAME} --help |
			sed -n 's/^  .. --\([a-z-]*\) .*/--\1/p') --" -- "$word")
		;;
	*)
		mapfile -t COMPREPLY < <(compgen -W "$(perf-metrics list 2>/dev/null |
			sed -n 's/^\([a-z0-9_]*\): .*/\1/p; s/^  \([a-z0-9_]*\) .*/\1/p')
			$([ "$COMP_CWORD" -gt 1 ] || echo list check map)" -- "$word")
		;;
	esac
} && complete -F _perf_metrics perf-metrics
