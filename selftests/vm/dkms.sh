#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What apt runs when a kernel is installed: with the dkms of Debian 12 and of Debian 13 the modules
# are built for a kernel that they are for, and for any other apt goes on and nothing changes.
#
# TEST: none
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
# Mounts of our own: hooks and dkms have their places in the root directory.
[ -n "${MOUNTS:-}" ] || MOUNTS=own exec unshare -rm "$0"
. "$(dirname "$0")/../lib/vm.sh"
PATH=$PATH:/usr/sbin:/sbin

need_packages build-essential kmod
known=$("$TOP/tools/vm/kernel" --cached --headers "${KERNELS[0]}")
release=$(sed -n 's/^RELEASE=//p' <<<"$known")
kdir=$(sed -n 's/^KDIR=//p' <<<"$known")
name=xeon7500-pmu version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
# Before and after the window, and another one in it.
older=6.0.0-6-amd64 newer=7.4.0+deb13-amd64 upgrade=7.3.99+deb13-amd64
mount -t tmpfs tmpfs "$DIR" && trap 'umount -l "$DIR" && rm -r "$DIR"' EXIT

# A kernel like this one, but for a symbol that it does not export.
lacking=$DIR/lacking
cp -rs "$kdir" "$lacking"
rm "$lacking/Module.symvers" "$lacking/Makefile"
grep -v '	perf_pmu_register	' "$kdir/Module.symvers" >"$lacking/Module.symvers"
sed "s#^KBUILD_OUTPUT=.*#KBUILD_OUTPUT=$lacking#" "$kdir/Makefile" >"$lacking/Makefile"

# machine SUITE: the root directory with the dkms of that Debian, and with headers of two kernels.
machine() {
	local d k
	(
		private_apt "$1"
		mkdir "$DIR/$1" && cd "$DIR/$1" && apt-get "${APT_OPTS[@]}" download dkms >apt.log 2>&1 &&
			dpkg -x dkms_*.deb . || { cat "$DIR/$1/apt.log"; exit 1; }
	) || return
	for d in usr etc var; do
		mkdir -p "$DIR/$1.upper/$d" "$DIR/$1.work/$d"
		mount -t overlay overlay "/$d" \
			-o "lowerdir=$DIR/$1/$d:/$d,upperdir=$DIR/$1.upper/$d,workdir=$DIR/$1.work/$d" || return
	done
	make -s -C "$TOP" dkms-source DESTDIR=/ || return
	headers "$older" "$newer"
}
headers() {
	local k
	for k; do
		mkdir -p "/lib/modules/$k"
		ln -s "$kdir" "/lib/modules/$k/build"
	done
}

# shown COMMAND...: its output, that of make as well if it fails.
shown() {
	"$@" >"$DIR/out" 2>&1 && cat "$DIR/out" && return
	cat "$DIR/out" "/var/lib/dkms/$name/$version/build/make.log" 2>/dev/null
	return 1
}
installed() { (cd /lib/modules && find . -name '*.ko*' | sed 's/[.]ko[.].*/.ko/' | sort); }
# ours RELEASE...: they are built for these, and for no other, and dkms knows them again.
ours() {
	diff <(printf './%s\n' "${@/%//updates/dkms/intel_core_ext.ko}" "${@/%//updates/dkms/xeon7500_uncore.ko}" |
		sort) <(installed) && ! dkms status | grep WARNING
}

# The postinst of our package, and of that of a kernel and its headers.
package() { shown /usr/lib/dkms/common.postinst "$name" "$version" "/usr/share/$name" "" ""; }
kernel() {
	shown /etc/kernel/postinst.d/dkms "$1" "/boot/vmlinuz-$1" &&
		shown /etc/kernel/header_postinst.d/dkms "$1" "/boot/vmlinuz-$1"
}

first() {
	package && [ -z "$(installed)" ] && [ "$(dkms status)" = "$name/$version: added" ]
}
by_hand() {
	! shown dkms install "$name/$version" -k "$1" && grep BUILD_EXCLUSIVE "$DIR/out"
}
# A kernel that is not for us leaves everything as it was.
nothing() {
	local before after
	before=$(installed; dkms status)
	"$@" || return
	after=$(installed; dkms status)
	diff <(echo "$before") <(echo "$after")
}
lacks() {
	! shown dkms install "$name/$version" -k "$release" --kernelsourcedir "$lacking" &&
		grep 'perf_pmu_register.* undefined' /var/lib/dkms/"$name/$version"/build/make.log &&
		[ -z "$(installed)" ]
}
# Secure Boot wants a signature. The key that dkms has made is told in install.md.
signed() {
	local f
	for f in /lib/modules/"$release"/updates/dkms/*; do
		case $f in *.xz) xz -dc "$f" ;; *) cat "$f" ;; esac | tail -c 28 | grep -a "Module signature appended" ||
			{ echo "$f is not signed"; return 1; }
	done
	ls /var/lib/dkms/mok.key /var/lib/dkms/mok.pub
}
removed() { shown dkms remove "$name/$version" --all && [ -z "$(installed)" ] && [ -z "$(dkms status)" ]; }

for debian in bookworm trixie; do
	machine $debian || { ktap "$debian: dkms" false; continue; }
	ktap "$debian: our package, and no kernel that it is for" first
	for k in $older $newer; do
		ktap "$debian: dkms says why not for $k" by_hand "$k"
		ktap "$debian: $k is installed" nothing kernel "$k"
	done
	ktap "$debian: a kernel that lacks a symbol" lacks
	headers "$release"
	ktap "$debian: our package, and a kernel that it is for" package
	ktap "$debian: the modules are there" ours "$release"
	ktap "$debian: they are signed" signed
	for k in $older $newer; do
		ktap "$debian: $k is installed after it" nothing kernel "$k"
	done
	headers "$upgrade"
	ktap "$debian: a processor of 32 bits" nothing setarch i686 /etc/kernel/postinst.d/dkms "$upgrade"
	ktap "$debian: another kernel that they are for is installed" kernel "$upgrade"
	ktap "$debian: the modules are there for both" ours "$release" "$upgrade"
	ktap "$debian: they can be removed" removed
	umount -l /usr /etc /var
done
ktap_end
