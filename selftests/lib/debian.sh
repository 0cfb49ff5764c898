# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Programs of others from Debian 12, unpacked and put into the guest as they are. For tests
# that source vm.sh.
#
#	unpack PACKAGE...
#	vm NAME --put ... "${PUT_ROOT[@]}" -- sh -c "$DEBIAN_ROOT program"

# unpack PACKAGE...: Libraries go where the guest's loader looks.
unpack() {
	private_apt bookworm
	(
		cd "$DIR" || exit
		mkdir -p debs root/lib
		cd debs && apt-get "${APT_OPTS[@]}" download "$@" >log 2>&1 || { cat log; exit 1; }
		for d in *.deb; do dpkg-deb -x "$d" ../root || exit; done
		cd ../root && cp -a usr/lib/x86_64-linux-gnu lib/ && rm -r usr/lib usr/share/doc usr/share/man
	)
}

# shellcheck disable=SC2034 # for who sources this
PUT_ROOT=(--put "$DIR/root/usr:/usr" --put "$DIR/root/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu")

# Paths and a bash that such programs expect, for the guest's shell.
# shellcheck disable=SC2016,SC2034
DEBIAN_ROOT='
mkdir -p /usr/lib && ln -s /lib/x86_64-linux-gnu /usr/lib/
printf "#!/bin/sh\nexec /bin/busybox sh \"\$@\"\n" >/bin/bash
chmod +x /bin/bash
export PATH=$PATH:/usr/bin:/usr/sbin
'
