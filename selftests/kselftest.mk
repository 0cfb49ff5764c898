# SPDX-License-Identifier: GPL-2.0-only
#
# What the collections have in common. The rules are those of the kernel's own lib.mk,
# out of the kernel source in the cache; a collection says what it builds, and in LOCAL_HDRS
# which headers that no wildcard here names, before it includes this.

TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))..)
OUTPUT ?= $(TOP)/build/kselftest/$(notdir $(CURDIR))
override OUTPUT := $(abspath $(OUTPUT))
_ := $(shell mkdir -p $(OUTPUT))

ifeq ($(KSELFTEST),)
KSELFTEST := $(shell $(TOP)/tools/vm/kernel --kselftest 6.1 | sed -n 's/^KSELFTEST=//p')
endif
ifeq ($(KSELFTEST),)
$(error the source of kernel 6.1 cannot be fetched)
endif

CFLAGS := -O2 -g -Wall -Wextra -Werror -I../lib -I../../tools/silicon/model
# When one of these changes, everything is built again.
LOCAL_HDRS += $(wildcard *.h ../lib/*.h)
LOCAL_HDRS += $(addprefix $(TOP)/tools/silicon/model/,synthetic.h readings.h)
LOCAL_HDRS += Makefile ../kselftest.mk
EXTRA_CLEAN := $(OUTPUT)/lib

include $(KSELFTEST)/lib.mk

# What tests share: all of ../lib, unless a collection says what it needs.
LIB_SOURCES ?= $(wildcard ../lib/*.c)
LIB := $(OUTPUT)/lib/libtest.a
$(TEST_GEN_PROGS) $(TEST_GEN_FILES): $(LIB)
$(LIB): $(LIB_SOURCES:../lib/%.c=$(OUTPUT)/lib/%.o)
	@rm -f $@
	$(AR) rcs $@ $^
$(OUTPUT)/lib/%.o: ../lib/%.c $(LOCAL_HDRS)
	@mkdir -p $(@D)
	$(COMPILE.c) -o $@ $<

# Programs that tests start.
$(OUTPUT)/%: ../programs/%.c $(LOCAL_HDRS)
	$(LINK.c) $(filter-out $(LOCAL_HDRS),$^) $(LDLIBS) -o $@
