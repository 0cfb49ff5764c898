#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Does not end.
#
# VM: --driver none
echo "KTAP version 1"
echo "1..1"
sleep 12345
