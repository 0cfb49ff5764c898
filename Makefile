# SPDX-License-Identifier: GPL-2.0-only
#
# Verbs for people; Kbuild is for the kernel.
#
#	make help		this
#	make			modules for the running kernel (or KDIR=...)
#	make modules KERNEL=6.1	modules for a kernel of the virtual machine, in build/6.1
#	make demo		what it looks like, on a virtual Xeon 7500
#	make shell		a prompt inside the virtual Xeon 7500
#	make test-quick		a few tests of each kind, on one kernel: 1 to 2 minutes
#	make test		all tests
#	make test-debug		those on a kernel with lockdep, KASAN and kmemleak
#	make soak		what takes longer: hours; PART=host|uncore|core|metrics|strangers|
#				upstream|adversaries|kernels|kernels-uncore|
#				kernels-adversaries: a part of it
#	make soak-newest	all tests on the newest kernel
#	make check		static checks
#	make bench		MSR accesses and instructions, beside mainline
#	make hwcheck		asks a real machine; and its module, for the running kernel (or KDIR=...)
#	make silicon-dist	the virtual silicon as an archive, for programs of others
#	make html		the documentation as a site, in build/html
#	make export		what Grafana, PCP and others read, from the metric files
#	make deb		Debian packages, in build/deb
#	make install		modules for the running kernel (or KDIR=...), and perf-metrics
#	make dkms-install	let dkms build the modules, also for later kernels, and perf-metrics
#	make uninstall		take away what either of these has installed
#	make clean
#
# DESTDIR, PREFIX (/usr), INSTALL_MOD_PATH (DESTDIR), INSTALL_MOD_DIR and UDEVDIR
# (/etc/udev/rules.d) are honoured.

# dkms and depmod, after su.
export PATH := $(PATH):/usr/sbin:/sbin

KDIR ?= /lib/modules/$(shell uname -r)/build
KERNEL ?=
PREFIX ?= /usr
INSTALL_MOD_PATH ?= $(DESTDIR)
UDEVDIR ?= /etc/udev/rules.d

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
INSTALLED = $(INSTALL_MOD_PATH)/lib/modules/$(RELEASE)
MODULES := drivers/uncore/xeon7500_uncore.ko drivers/core/intel_core_ext.ko

all: modules

# The release of KDIR; the path tells it where the headers have gone.
RELEASE = $(or $(shell sed -n 's/^\#define UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null),$(patsubst \
	/lib/modules/%/build,%,$(filter /lib/modules/%/build,$(KDIR:/=))))
# First in a recipe, so that what is missing is named before anything is built or written.
need = @KDIR=$(KDIR) RELEASE=$(RELEASE) DESTDIR=$(DESTDIR) tools/need

modules:
ifeq ($(KERNEL),)
	$(need) kernel
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules
else
	tools/build-modules $(KERNEL)
endif

demo:
	tools/demo

shell:
	tools/vm/run --interactive --sockets 2 --traffic tools/demo.traffic -- sh

test-quick:
	selftests/run --kernel 6.1 selftests/vm/conformance.py selftests/core/data_src.c \
		$(patsubst %,selftests/host/%.py,alerts citations formulas metrics parts plan \
		projections readings status verdicts) \
		$(patsubst %,selftests/uncore/%,count.c events.sh gate.c group.c refuse.c \
		sampling_exact.c subregs.c)

test:
	selftests/run

test-debug:
	selftests/run --kernel debug

soak:
	selftests/run --tier soak $(if $(PART),--part $(PART))

soak-newest:
	selftests/run --tier soak --kernel newest

check:
	tools/check

# The program is for any kernel and needs none.
hwcheck:
	$(need) cc python3
	$(MAKE) -C tools/hwcheck
	@if [ ! -e $(KDIR)/Makefile ]; then echo "no hwcheck_nmi.ko, which --pmi needs: no kernel headers in $(KDIR)"; \
	else $(MAKE) -C tools/hwcheck module || \
		echo "no hwcheck_nmi.ko, which --pmi needs: it does not build for $(RELEASE)"; fi

silicon-dist:
	tools/silicon/dist

html:
	tools/html

export:
	$(need) cc metrics python3
	$(MAKE) -s -C tools/metrics export
	@ls build/metrics/export/*

bench:
	selftests/bench/run

install-rules:
	install -D -m 644 tools/xeon7500-uncore.rules $(DESTDIR)$(UDEVDIR)/70-xeon7500-uncore.rules

install-metrics:
	$(MAKE) -C tools/metrics install

install-man:
	install -d $(DESTDIR)$(PREFIX)/share/man/man4
	install -m 644 Documentation/man/*.4 $(DESTDIR)$(PREFIX)/share/man/man4/

# All is built before anything is written.
install:
	$(need) unpackaged kernel cc metrics
	$(MAKE) modules
	$(MAKE) -C tools/metrics
	$(MAKE) install-rules install-man install-metrics
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(INSTALL_MOD_PATH) modules_install

DKMS_SOURCE = $(DESTDIR)/usr/src/xeon7500-pmu-$(VERSION)

elsewhere = @[ -L "$(DKMS_SOURCE)" ] || [ ! "$(DKMS_SOURCE)" -ef . ] || { \
	echo "this tree is $(DKMS_SOURCE) itself: move it elsewhere first" >&2; false; }

# Nothing that an earlier version has left there, or a build here.
dkms-source: install-rules
	$(elsewhere)
	rm -rf "$(DKMS_SOURCE)"
	install -d "$(DKMS_SOURCE)"
	find Kbuild dkms.conf COPYING include drivers -type f \( -name '*.[ch]' ! -name '*.mod.c' -o -name '*.mk' \
		-o -name Kbuild -o -name dkms.conf -o -name COPYING \) -exec cp --parents -t "$(DKMS_SOURCE)" {} +

OUR_MODULES = find "$(INSTALLED)" \( -name 'xeon7500_uncore.ko*' -o -name 'intel_core_ext.ko*' \)

# --force, because modules of the same version may be another source's; also for the kernels that
# dkms has installed for before. Of those of "make install" depmod could take either.
dkms-install:
	$(need) unpackaged kernel cc metrics dkms
	$(elsewhere)
	@[ -z "$(DESTDIR)" ] || { echo "dkms-install is for this system; with DESTDIR: make dkms-source" >&2; false; }
	$(MAKE) -C tools/metrics
	$(MAKE) dkms-source install-man install-metrics
	@module=xeon7500-pmu/$(VERSION); failed=; \
	for k in $$({ echo $(RELEASE); dkms status $$module | sed -n 's/^[^,]*, \([^,]*\), .*installed.*/\1/p'; } | \
		sort -u); do \
		[ -d /lib/modules/$$k/build ] || [ "$$k" = "$(RELEASE)" ] || continue; \
		dkms build --force $$module -k $$k || { failed="$$failed $$k"; continue; }; \
		[ "$$k" != "$(RELEASE)" ] || [ ! -d "$(INSTALLED)" ] || $(OUR_MODULES) ! -path '*/dkms/*' -delete; \
		dkms install --force $$module -k $$k || failed="$$failed $$k"; \
	done; \
	[ -z "$$failed" ] || { echo "dkms has not installed the modules for$$failed, see above" >&2; false; }

# Modules of the kernel of KDIR; dkms knows where it has put its own.
uninstall:
	$(need) unpackaged
	@[ -n "$(RELEASE)" ] || { echo "which kernel was $(KDIR)? Its modules are removed with\
 KDIR=/lib/modules/RELEASE/build" >&2; false; }
	$(elsewhere)
	-[ -n "$(DESTDIR)" ] || ! type dkms >/dev/null 2>&1 || \
		dkms remove xeon7500-pmu/$(VERSION) --all 2>/dev/null
	rm -rf "$(DKMS_SOURCE)"
	rm -f $(DESTDIR)$(UDEVDIR)/70-xeon7500-uncore.rules \
		$(DESTDIR)$(PREFIX)/share/man/man4/xeon7500_uncore.4 \
		$(DESTDIR)$(PREFIX)/share/man/man4/intel_core_ext.4
	$(MAKE) -C tools/metrics uninstall
	[ ! -d "$(INSTALLED)" ] || $(OUR_MODULES) -print -delete
	[ -n "$(INSTALL_MOD_PATH)" ] || [ ! -d "$(INSTALLED)" ] || depmod $(RELEASE)

deb:
	tools/deb

help:
	@sed -n 's/^#\tmake/make/p; s/^# \(DESTDIR.*\)/\n\1/p' Makefile

clean:
	rm -rf build
	-[ ! -e $(KDIR)/Makefile ] || $(MAKE) -C $(KDIR) M=$(CURDIR) clean

.PHONY: all modules demo shell test-quick test test-debug soak soak-newest check hwcheck silicon-dist html export bench \
	install-rules install-man install-metrics install dkms-source dkms-install uninstall deb help clean
