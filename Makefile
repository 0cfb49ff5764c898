# SPDX-License-Identifier: GPL-2.0-only
#
# Verbs for people; Kbuild is for the kernel.
#
#	make			modules for the running kernel (or KDIR=...)
#	make modules KERNEL=6.1	modules for a kernel of the virtual machine, in build/6.1
#	make demo		what it looks like, on a virtual Xeon 7500
#	make shell		a prompt inside the virtual Xeon 7500
#	make test-quick		a few tests of each kind, on one kernel: three minutes
#	make test		all tests
#	make test-debug		those on a kernel with lockdep, KASAN and kmemleak
#	make soak		all tests on all kernels, each for as long as it takes: hours
#	make check		static checks
#	make bench		MSR accesses and instructions, beside mainline
#	make export		what Grafana, PCP and others read, from the metric files
#	make install		install the modules for the running kernel
#	make dkms-install	let dkms do that for every kernel
#	make clean

KDIR ?= /lib/modules/$(shell uname -r)/build
KERNEL ?=

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
MODULES := drivers/uncore/xeon7500_uncore.ko drivers/core/intel_core_ext.ko

all: modules

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
	selftests/run --tier soak --kernel 6.1 --kernel 6.12 --kernel debug

check:
	tools/check

export:
	$(MAKE) -s -C tools/metrics export
	@ls build/metrics/export/*

bench:
	selftests/bench/run

install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install
	install -D -m 644 tools/modprobe.d/xeon7500-uncore.conf \
		$(DESTDIR)/etc/modprobe.d/xeon7500-uncore.conf
	depmod -a

dkms-install:
	install -d $(DESTDIR)/usr/src/xeon7500-pmu-$(VERSION)
	cp -r Kbuild dkms.conf Makefile COPYING include drivers \
		$(DESTDIR)/usr/src/xeon7500-pmu-$(VERSION)/
	install -D -m 644 tools/modprobe.d/xeon7500-uncore.conf \
		$(DESTDIR)/etc/modprobe.d/xeon7500-uncore.conf
	dkms install xeon7500-pmu/$(VERSION)

clean:
	rm -rf build
	-$(MAKE) -C $(KDIR) M=$(CURDIR) clean

.PHONY: all modules demo shell test-quick test test-debug soak check export bench \
	install dkms-install clean
