#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""perf metrics map: two runs that count the same draw the same, to the byte.

As text and as a picture. On 1 and 2 packages, and in make soak on 4 and 8, the picture is
well-formed and has all links.

TEST: 6.1
SOAK: 6.1
"""
import itertools
import math
import os
import re
import sys
import xml.etree.ElementTree as tree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

SVG = '{http://www.w3.org/2000/svg}'
TOPOLOGIES = {4: 'four', 8: 'eight'}
COMMAND = 'perf metrics map -- sleep 0.02 && perf metrics map -o map.svg -- sleep 0.02'
DRAWN = {}	# by number of packages


def draw(packages, *options):
    """The map as text, and as a picture."""
    topology, picture = TOPOLOGIES.get(packages, 'two'), vm.path('map.svg')
    text, _ = vm.run('--perf', 'newest', '--sockets', str(packages), '--cores', '1', '--memory',
                     '1G', *options, '--get', f'/root/map.svg:{picture}', '--put',
                     f'{vm.TOP}/metrics/{topology}.topology:/etc/perf-metrics/topology',
                     '--', 'sh', '-c', COMMAND)
    with open(picture, 'rb') as f:
        return text, f.read()


def links(root, packages):
    """What is wrong with the arrows, of which each package has four of its own, wherever they lead.
    Each says what it is to a mouse, and what goes there and back has room for the widest."""
    arrows = [p for p in root.iter(SVG + 'path') if p.get('d').endswith('Z')]
    frames = [r for r in root.iter(SVG + 'rect') if r.get('rx') == '8']
    # Each ends at a place of its own, or it would be at the wrong port.
    ends = {p.get('d').split()[0] for p in arrows}
    if not len(ends) == len(arrows) == 4 * packages == 4 * len(frames):
        yield f'{len(frames)} packages, {len(arrows)} arrows to {len(ends)} places'
    titles = [t.text for t in root.iterfind(f'.//{SVG}g/{SVG}title')]
    right = {t for t in titles if re.match(r'S\d qpi\d → (S\d|IOH\d|\?): .', t)}
    if len(right) != len(arrows) or not any('B/s, ' in t and ': 0 B/s' not in t for t in right):
        yield f'{len(right)} right titles of {len(arrows)}:'
        yield from titles
    places = []
    for d in {p.get('d') for p in root.iterfind(f'.//{SVG}path[@fill="none"]')}:
        numbers = [float(n) for n in re.findall(r'-?[0-9.]+', d)]
        places.append(list(zip(numbers[::2], numbers[1::2])))
    for one, other in itertools.combinations(places, 2):
        # There and back: one begins beside the other's arrow.
        if math.dist(one[0], other[-1]) > 45 or math.dist(other[0], one[-1]) > 45:
            continue
        apart = min(math.dist(p, q) for p in one for q in other)
        if apart < 16:
            yield f'only {apart:.1f} between {one[0]} and {other[0]}'


def maps(packages, *options):
    """Draws one and keeps it. Yields what is wrong with it."""
    text, picture = DRAWN[packages] = draw(packages, *options)
    yield from links(tree.fromstring(picture), packages)
    lines = text.splitlines()
    yield from (line for i, line in enumerate(lines) if len(line) > 80 or i >= 24)


def same():
    """Yields what differs."""
    again = draw(2, '--icount')
    yield from vm.differ(DRAWN[2][0].splitlines(), again[0].splitlines())
    if DRAWN[2] != again:
        yield 'another picture'
    yield from vm.missing(again[0], 'Busiest links: S[01]')


ktap = Ktap()
ktap.result('1 package', maps(1))
ktap.result('2 packages', maps(2, '--icount'))
if vm.SOAK:
    ktap.result('4 packages', maps(4))
    ktap.result('8 packages', maps(8))
ktap.result('equal runs, equal maps', same())
sys.exit(ktap.end())
