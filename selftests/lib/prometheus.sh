# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Programs of Debian's Prometheus packages, which are not installed: their services are not
# wanted here. fetch puts them into $PROGRAMS.

. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/common.sh"
PROGRAMS=$CACHE/prometheus-$(. /etc/os-release && echo "$VERSION_ID")

fetch() {
	[ -e "$PROGRAMS/usr/bin/promtool" ] && return
	(
		once prometheus
		[ ! -e "$PROGRAMS/usr/bin/promtool" ] || exit 0
		rm -rf "$PROGRAMS.tmp"
		mkdir -p "$PROGRAMS.tmp"
		cd "$PROGRAMS.tmp" && apt-get download prometheus prometheus-node-exporter || exit 1
		for d in *.deb; do dpkg -x "$d" . || exit 1; done
		rm ./*.deb
		mv "$PROGRAMS.tmp" "$PROGRAMS"
	)
}
