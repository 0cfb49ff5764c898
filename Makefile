# SPDX-License-Identifier: GPL-2.0-only
#
# Verbs for people; Kbuild is for the kernel.
#
#	make help		this
#	make			modules for the running kernel (or KDIR=...)
#	make modules KERNEL=6.1	modules for a kernel of the virtual machine, in build/6.1
#	make demo		what it looks like, on a virtual Xeon 7500
#	make shell		a prompt inside the virtual Xeon 7500
#	make test-quick		a few tests of each kind, on one kernel: three minutes
#	make test		all tests
#	make test-debug		those on a kernel with lockdep, KASAN and kmemleak
#	make soak		what takes longer: hours
#	make soak-newest	all tests on the newest kernel
#	make check		static checks
#	make bench		MSR accesses and instructions, beside mainline
#	make hwcheck		asks a real machine; and its module, for the running kernel (or KDIR=...)
#	make silicon-dist	the virtual silicon as an archive, for programs of others
#	make export		what Grafana, PCP and others read, from the metric files
#	make deb		Debian packages, in build/deb
#	make install		modules for the running kernel (or KDIR=...), and perf-metrics
#	make dkms-install	let dkms build the modules for every kernel, and perf-metrics
#	make uninstall		take away what either of these has installed
#	make clean
#
# DESTDIR, PREFIX (/usr), INSTALL_MOD_PATH (DESTDIR) and INSTALL_MOD_DIR are honoured.

KDIR ?= /lib/modules/$(shell uname -r)/build
KERNEL ?=
PREFIX ?= /usr
INSTALL_MOD_PATH ?= $(DESTDIR)
MODPROBEDIR ?= /etc/modprobe.d

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
MODULES := drivers/uncore/xeon7500_uncore.ko drivers/core/intel_core_ext.ko

all: modules

# What is missing is said before anything is built or written.
needs:
	@tools/need $(NEEDS)
modules install-conf install-man install-metrics dkms-source: needs
ifeq ($(KERNEL),)
modules: NEEDS = kernel=$(KDIR)
endif
install: NEEDS = kernel=$(KDIR) metrics
dkms-install: NEEDS = kernel=$(KDIR) metrics dkms

modules:
ifeq ($(KERNEL),)
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules
else
	tools/build-modules $(KERNEL)
endif

demo:
	tools/demo

shell:
	tools/vm/run --interactive --sockets 2 -- sh

test-quick:
	selftests/run --tier quick

test:
	selftests/run

test-debug:
	selftests/run --kernel debug

soak:
	selftests/run --tier soak --kernel 6.1 --kernel 6.12 --also debug --rt debug-rt

soak-newest:
	selftests/run --tier soak --also newest

check:
	tools/check

hwcheck: NEEDS = kernel=$(KDIR) hwcheck
hwcheck: needs
	$(MAKE) -C tools/hwcheck all module

silicon-dist:
	tools/silicon/dist

export: NEEDS = metrics
export: needs
	$(MAKE) -s -C tools/metrics export
	@ls build/metrics/export/*

bench:
	selftests/bench/run

# What is installed beside the modules. A file of the administrator is not overwritten.
install-conf:
	install -D -m 644 tools/modprobe.d/xeon7500-uncore.conf \
		$(DESTDIR)$(MODPROBEDIR)/xeon7500-uncore.conf

install-metrics:
	$(MAKE) -C tools/metrics install

install-man:
	install -d $(DESTDIR)$(PREFIX)/share/man/man4
	install -m 644 Documentation/man/*.4 $(DESTDIR)$(PREFIX)/share/man/man4/

install: needs modules install-conf install-man install-metrics
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(INSTALL_MOD_PATH) modules_install

dkms-source: install-conf
	install -d $(DESTDIR)/usr/src/xeon7500-pmu-$(VERSION)
	cp -r Kbuild dkms.conf COPYING include drivers \
		$(DESTDIR)/usr/src/xeon7500-pmu-$(VERSION)/

dkms-install: needs dkms-source install-man install-metrics
	dkms install xeon7500-pmu/$(VERSION)

# Modules of the kernel of KDIR; dkms knows where it has put its own.
uninstall:
	-[ -n "$(DESTDIR)" ] || ! type dkms >/dev/null 2>&1 || \
		dkms remove xeon7500-pmu/$(VERSION) --all 2>/dev/null
	rm -rf $(DESTDIR)/usr/src/xeon7500-pmu-$(VERSION)
	rm -f $(DESTDIR)$(MODPROBEDIR)/xeon7500-uncore.conf \
		$(DESTDIR)$(PREFIX)/share/man/man4/xeon7500_uncore.4 \
		$(DESTDIR)$(PREFIX)/share/man/man4/intel_core_ext.4
	$(MAKE) -C tools/metrics uninstall
	release=$$(sed -n 's/^#define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null); \
	modules=$(INSTALL_MOD_PATH)/lib/modules/$${release:-$$(uname -r)}; [ ! -d $$modules ] || { \
		find $$modules -name xeon7500_uncore.ko -delete -o -name intel_core_ext.ko -delete && \
		{ [ -n "$(INSTALL_MOD_PATH)" ] || depmod "$${modules##*/}"; }; }

deb:
	tools/deb

help:
	@sed -n 's/^#\tmake/make/p; s/^# \(DESTDIR.*\)/\n\1/p' Makefile

clean:
	rm -rf build
	[ ! -e $(KDIR)/Makefile ] || $(MAKE) -C $(KDIR) M=$(CURDIR) clean

.PHONY: all needs modules demo shell test-quick test test-debug soak soak-newest check hwcheck silicon-dist export bench \
	install-conf install-man install-metrics install dkms-source dkms-install uninstall deb help clean
