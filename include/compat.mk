# SPDX-License-Identifier: GPL-2.0-only
#
# For each Kbuild: where our headers are, and what compat.h cannot find out by itself.
compat-include := $(dir $(lastword $(MAKEFILE_LIST)))
ccflags-y += -I$(compat-include)
ifneq ($(shell grep 'struct syscore {' $(srctree)/include/linux/syscore_ops.h),)
ccflags-y += -DHAVE_STRUCT_SYSCORE
endif
ifneq ($(shell grep '^static inline int perf_allow_kernel.struct' $(srctree)/include/linux/perf_event.h),)
ccflags-y += -DPERF_ALLOW_KERNEL_INLINE
else ifneq ($(shell grep 'int perf_allow_kernel.struct' $(srctree)/include/linux/perf_event.h),)
ccflags-y += -DPERF_ALLOW_KERNEL_ATTR
endif
ifeq ($(shell grep 'extern int perf_allow_cpu' $(srctree)/include/linux/perf_event.h),)
ccflags-y += -DPERF_ALLOW_CPU_INLINE
endif
ifneq ($(shell grep 'struct perf_time_ctx {' $(srctree)/include/linux/perf_event.h),)
ccflags-y += -DHAVE_PERF_TIME_CTX
endif
