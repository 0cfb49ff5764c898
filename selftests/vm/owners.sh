#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Other owners of the uncore's registers: PCM and LIKWID, unmodified, from Debian. The cases
# are in selftests/guest/owners/guest.c.
#
# KERNELS: 6.1
#
# shellcheck disable=SC2016 # what is in single quotes is for the guest's shell
set -uo pipefail
. "$(dirname "$0")/../lib/vm.sh"

# unpack PACKAGE...: from Debian 12. Libraries go where the guest's loader looks.
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

# LIKWID is a Lua script whose libraries have one place, and starts bash.
before='
mkdir -p /usr/lib && ln -s /lib/x86_64-linux-gnu /usr/lib/
printf "#!/bin/sh\nexec /bin/busybox sh \"\$@\"\n" >/bin/bash
chmod +x /bin/bash
export PATH=$PATH:/usr/bin:/usr/sbin
'

ktap "the packages are unpacked" unpack pcm likwid libsimdjson14 libhwloc15 liblua5.3-0 lua5.3 \
	libudev1 libreadline8 libtinfo6 libnuma1 libstdc++6 libgcc-s1
guest=$(build_program owners guest.c) || { ktap "the program is built" false; ktap_end; }
for kernel in "${KERNELS[@]}"; do
	vm "$kernel" --kernel "$kernel" --sockets 2 --cores 2 --memory 1536M --append nmi_watchdog=0 \
		--put "$DIR/root/usr:/usr" --put "$DIR/root/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu" \
		--put "$guest:/t/guest" -- sh -c "$before /t/guest"
	ktap_guest "$kernel" "$kernel"
done
ktap_end
