#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The debug kernel sees the mistakes it is there for, tools/vm/run hears of them,
# and a healthy module passes.
#
# TEST: debug
# SOAK: none
#
# shellcheck disable=SC2317 # the tests are called by name
set -u
. "$(dirname "$0")/../lib/vm.sh"

complain=$(build_modules complain debug)/complain.ko || { ktap "the module is built" false; ktap_end; }

# report ABOUT TEXT: the kernel complains about it, in these words.
report() {
	vm "$1" --kernel debug --driver none --module "$complain=about=$1" -- true
	ended "$1" 125 && said "$1" "$2"
}

healthy() {
	vm nothing --kernel debug --driver none --module "$complain" -- echo fine
	ended nothing 0 && printed nothing fine
}
ktap "nothing to complain about" healthy
ktap "KASAN: use after free" report after_free "KASAN: use-after-free"
ktap "lockdep: two locks in two orders" report lock_order "possible circular locking"
ktap "sleeping under a spinlock" report sleep "scheduling while atomic"
ktap "kmemleak: memory that nobody points to" report leak "unreferenced object"
ktap_end
