#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make deb, make install and make uninstall. In make soak, also: the packages in a fresh Debian 12
# and a fresh Debian 13, upgrades of the kernel, the modules in the virtual machine, removal.
#
# TEST: 6.1
# SOAK: 6.1
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

need_packages debhelper dh-dkms lintian >/dev/null

packages() { "$TOP/tools/deb" && cp "$TOP"/build/deb/*.deb "$DIR/"; }

# No program in the package of modules and no module in that of the program.
contents() {
	local examples=./usr/share/doc/perf-metrics/examples f
	dpkg -c "$DIR"/perf-metrics_*.deb | awk '{ print $6 }' >"$DIR/program"
	dpkg -c "$DIR"/xeon7500-pmu-dkms_*.deb | awk '{ print $6 }' >"$DIR/dkms"
	dpkg -c "$DIR"/xeon7500-hwcheck_*.deb | awk '{ print $6 }' >"$DIR/hwcheck"
	cat "$DIR/program" "$DIR/dkms" "$DIR/hwcheck"
	for f in dashboard.json perfevent.conf perf.patch likwid/nehalemEX/MEMORY.txt \
		likwid/westmereEX/MEMORY.txt; do
		grep -Eqx "$examples/$f(.gz)?" "$DIR/program" || { echo "there is no $f"; return 1; }
	done
	for f in sbin/hwcheck share/man/man8/hwcheck.8 \
		src/xeon7500-hwcheck/hwcheck_nmi.c; do
		grep -Eqx "./usr/$f(.gz)?" "$DIR/hwcheck" || { echo "there is no $f"; return 1; }
	done
	grep -qx ./usr/bin/perf-metrics "$DIR/program" && grep -q 'man5/perf-metrics.5' "$DIR/program" &&
		grep -q 'man4/xeon7500_uncore.4' "$DIR/dkms" &&
		grep -q completions/perf-metrics "$DIR/program" && ! grep -q src "$DIR/program" &&
		! dpkg -I "$DIR"/perf-metrics_*.deb | grep 'Depends:.*dkms' &&
		grep -q '/usr/src/xeon7500-pmu-.*/dkms.conf' "$DIR/dkms" &&
		grep -q '/usr/src/xeon7500-pmu-.*/drivers/uncore/main.c' "$DIR/dkms" &&
		dpkg -I "$DIR"/xeon7500-pmu-dkms_*.deb postinst | grep -q dkms &&
		! ls "$DIR"/*-dbgsym_*.deb
}

# dead DIRECTORY: links of the pages in it that lead nowhere.
dead() {
	local page link
	find "$1" -name '*.md*' | while read -r page; do
		grep -o '](\([^)#:]*\)[)#]' "$page" | sed 's/^](//; s/.$//' | while read -r link; do
			[ -e "${page%/*}/$link" ] || echo "$page: $link"
		done
	done
}
# Each PMU has its page, and each page is there with those that it names.
pages() {
	local d
	for d in "$DIR"/*.deb; do dpkg -x "$d" "$DIR/pages"; done
	ls "$DIR"/pages/usr/share/doc/*/{Documentation/{u,c,s,b,m,r,w}box.md,html/search.html} || return
	dead "$DIR/pages" | tee "$DIR/dead"
	[ ! -s "$DIR/dead" ]
}

# The module of hwcheck, from the source that is in its package, as hwcheck(8) says.
hwcheck() {
	local kdir
	kdir=$("$TOP/tools/vm/kernel" --headers 6.1 | sed -n 's/^KDIR=//p')
	dpkg -x "$DIR"/xeon7500-hwcheck_*.deb "$DIR/hw" && "$DIR/hw/usr/sbin/hwcheck" --help &&
		cp -r "$DIR/hw/usr/src/xeon7500-hwcheck" "$DIR/nmi" &&
		make -s -C "$kdir" M="$DIR/nmi" modules && modinfo "$DIR/nmi/hwcheck_nmi.ko"
}

# What make install puts below DESTDIR, make uninstall takes away again.
directories() {
	local kdir
	kdir=$("$TOP/tools/vm/kernel" --headers 6.1 | sed -n 's/^KDIR=//p')
	mkdir "$DIR/tree"
	(cd "$TOP" && git ls-files -coz --exclude-standard | xargs -0 cp --parents -t "$DIR/tree")
	make -s -C "$DIR/tree" KDIR="$kdir" DESTDIR="$DIR/root" install >"$DIR/install.log" 2>&1 ||
		{ tail -n 30 "$DIR/install.log"; return 1; }
	(cd "$DIR/root" && find . -type f | sort) | tee "$DIR/installed"
	grep -q '/lib/modules/.*/xeon7500_uncore.ko' "$DIR/installed" &&
		grep -q '/etc/udev/rules.d/' "$DIR/installed" && grep -q /usr/bin/perf-metrics "$DIR/installed" &&
		[ "$("$DIR/root/usr/bin/perf-metrics" --version)" = "perf metrics $VERSION" ] || return 1
	make -s -C "$DIR/tree" KDIR="$kdir" DESTDIR="$DIR/root" uninstall >"$DIR/install.log" 2>&1 ||
		{ tail -n 30 "$DIR/install.log"; return 1; }
	# What depmod writes is the kernel's.
	find "$DIR/root" -type f ! -name 'modules.*' | tee /dev/stderr | wc -l | grep -qx 0
}

# Words, groups and metrics, files where files are wanted.
completion() {
	PERF_METRICS_PATH=$TOP/metrics PATH=$TOP/build/metrics:$PATH bash -c '
	. "'"$TOP"'/tools/metrics/perf-metrics.bash"
	try() { # WANTED WORD...
		wanted=$1
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_perf_metrics "$1" "${@: -1}" "${@: -2:1}"
		echo "$*: ${COMPREPLY[*]}"
		[ "${COMPREPLY[*]}" = "$wanted" ]
	}
	try "map" perf-metrics ma &&
		try "llc_miss_ratio llc_miss_rate llc_misses_per_instr" perf-metrics llc_mi &&
		try "--matrix" perf-metrics map --m &&
		try "--openmetrics" perf-metrics memory --op &&
		try "" perf-metrics memory -I "" &&
		try "'"$TOP"'/README.md" perf-metrics check "'"$TOP"'/READ"'
}

# dkms wants /proc; it is gone with the process.
# shellcheck disable=SC2016 # for the shell inside
in_root() {
	unshare -m sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$DIR/fresh-$SUITE" \
		env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}
in_root_quietly() { in_root "$@" >"$DIR/root.log" 2>&1 || { tail -n 30 "$DIR/root.log"; return 1; }; }

# A fresh Debian makes our packages, and installs them with what they recommend: kernel headers.
fresh() {
	local root=$DIR/fresh-$SUITE
	mmdebstrap --variant=apt --include=ca-certificates "$SUITE" "$root" >"$DIR/root.log" 2>&1 ||
		{ tail "$DIR/root.log"; return 1; }
	echo "deb $(debian_mirror) $SUITE-backports main" >>"$root/etc/apt/sources.list"
	mkdir "$root/root/tree"
	(cd "$TOP" && git ls-files -coz --exclude-standard | xargs -0 cp --parents -t "$root/root/tree")
	in_root_quietly sh -ec '
		apt-get update
		apt-get install -y --no-install-recommends make git
		cd /root/tree
		git init -q .
		make deb
		[ -z "$(ls -d /lib/modules/*/build 2>/dev/null)" ]
		apt-get install -y /root/tree/build/deb/*.deb
	'
}

# The releases that dkms has built for.
built() { (cd "$DIR/fresh-$SUITE/lib/modules" && ls -d ./*/updates/dkms/xeon7500_uncore.ko* 2>/dev/null) | cut -d/ -f2; }
one_more() {
	local before after
	before=$(built | wc -l)
	"$@" || return
	built
	after=$(built | wc -l)
	[ "$after" = $((before + 1)) ]
}
# An upgrade to a kernel that the modules are for: apt alone has them built.
inside() {
	in_root_quietly apt-get install -y --no-install-recommends -t "$SUITE-backports" linux-headers-amd64
}
# And to one that they are not for.
# shellcheck disable=SC2016 # for the shell inside
outside() {
	local before
	before=$(built)
	in_root_quietly sh -ec '
		release=7.9.0-1-amd64
		mkdir -p /root/k/DEBIAN /root/k/usr/lib/modules/$release
		ln -s "$(readlink -f /lib/modules/*/build | tail -n 1)" /root/k/usr/lib/modules/$release/build
		printf "%s\n" "Package: linux-headers-$release" "Version: 7.9.0-1" "Architecture: amd64" \
			"Maintainer: nobody <nobody@localhost>" "Description: newer than all" >/root/k/DEBIAN/control
		printf "%s\n" "#!/bin/sh" "set -e" \
			"run-parts --exit-on-error --arg=$release /etc/kernel/header_postinst.d" >/root/k/DEBIAN/postinst
		chmod 755 /root/k/DEBIAN/postinst
		dpkg-deb --build /root/k /root/k.deb
		apt-get install -y /root/k.deb
		dpkg -s linux-headers-$release | grep "^Status: install ok installed"
	' && [ "$(built)" = "$before" ]
}

# loads RELEASE: the very modules that dkms has built, on a kernel of that release.
loads() {
	mkdir -p "$DIR/$1"
	cp "$DIR/fresh-$SUITE/lib/modules/$1/updates/dkms"/*.ko* "$DIR/$1/"
	xz -d -q "$DIR/$1"/*.xz 2>/dev/null
	vm "loads-$1" --kernel "$1" --driver none --module "$DIR/$1/xeon7500_uncore.ko" -- \
		perf stat -a -e xeon7500_wbox/uncore_clock/ true
	ended "loads-$1" 0
}

gone() {
	in_root_quietly apt-get purge -y 'xeon7500-*' perf-metrics || return
	in_root sh -c 'find / -xdev -type f | grep -v "^/var\|^/root" | sort' >"$DIR/after"
	# What depmod writes is the kernel's; what came as a dependency is not ours.
	grep -i 'xeon7500\|intel_core_ext\|perf-metrics\|hwcheck' "$DIR/after" && return 1
	in_root find /var/lib/dkms /usr/src /lib/modules | grep -i 'xeon7500\|intel_core_ext' && return 1
	return 0
}

VERSION=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
make -s -C "$TOP/tools/metrics" >/dev/null
ktap "packages, and lintian is silent" packages
ktap "what is in them" contents
ktap "no page of them names one that is not there" pages
ktap "the module of hwcheck is built from its package" hwcheck
ktap "make install and uninstall" directories
ktap "completion" completion
if [ -n "${SOAK:-}" ] && [ "$(id -u)" = 0 ]; then
	need_packages mmdebstrap >/dev/null
	for SUITE in bookworm trixie; do
		ktap "a fresh $SUITE: the packages are installed" one_more fresh
		ktap "$SUITE: a kernel that the modules are for" one_more inside
		ktap "$SUITE: a kernel that they are not for" outside
		for release in $(built); do
			ktap "$SUITE: they load on $release" loads "$release"
		done
		ktap "$SUITE: purged, and nothing is left" gone
	done
fi
ktap_end
