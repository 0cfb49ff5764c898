# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of "perf metrics" and "perf loads" for bash. perf has a completion of its own, which is
# loaded when it is first needed and completes all the rest.

# _perf_load COMMAND: its completion, by bash-completion of this and of older versions.
_perf_load() {
	if declare -F _comp_load >/dev/null; then _comp_load "$1"; else __load_completion "$1"; fi
}

# Takes the place of what completes perf now, if anything does.
_perf_extend() {
	local own
	own=$(complete -p perf 2>/dev/null)
	case $own in
	*" -F _perf_extended "*) ;;
	*" -F "*)
		_perf_own=${own##* -F }
		_perf_own=${_perf_own%% *}
		eval "${own/ -F $_perf_own / -F _perf_extended }"
		;;
	*) complete -o bashdefault -o default -o nospace -F _perf_extended perf ;;
	esac
}

_perf_extended() {
	if [ -z "${_perf_own:-}" ]; then
		complete -r perf
		_perf_load perf
		_perf_own=:
		_perf_extend
	fi
	if [ "$COMP_CWORD" -gt 1 ] && [ "${COMP_WORDS[1]}" = metrics ]; then
		declare -F _perf_metrics >/dev/null || _perf_load perf-metrics
		local words=(perf-metrics "${COMP_WORDS[@]:2}") number=$((COMP_CWORD - 1))
		local COMP_WORDS=("${words[@]}") COMP_CWORD=$number
		compopt +o nospace
		_perf_metrics "$@"
		return
	fi
	COMPREPLY=()
	"$_perf_own" "$@"
	if [ "$COMP_CWORD" = 1 ]; then
		local own=("${COMPREPLY[@]}")
		mapfile -t COMPREPLY < <(compgen -W "metrics loads" -- "$2")
		COMPREPLY+=("${own[@]}")
	fi
}

_perf_extend
