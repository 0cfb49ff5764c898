#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Is killed in the middle.
#
# VM: --driver none
echo "KTAP version 1"
echo "1..2"
echo "ok 1 before it is killed"
kill -9 $$
