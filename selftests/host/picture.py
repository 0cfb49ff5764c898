#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The picture of perf metrics map, of 1 to 8 packages: no two texts overlap, none is within 4 pixels
of an arrow head, nothing is outside of the canvas, each arrow has its percentage, bars and colours
are those of the counts.

All is computed from the SVG itself, with the widths of DejaVu Sans, which it asks for.
"""
import itertools
import math
import os
import random
import re
import sys
import xml.etree.ElementTree as tree
import zlib

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import fixture
from fixture import World, write
from ktap import Ktap

ktap = Ktap()
SVG = '{http://www.w3.org/2000/svg}'
# Advance widths of " " to "~" in thousandths of the size, plain and bold; of the arrow it is 838.
WIDTHS = [[int(n) for n in text.split()] for text in (
    '318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 636 636 636 636 636 337 337 '
    '838 838 838 531 1000 684 686 698 770 632 575 775 752 295 295 656 557 863 748 787 603 787 695 635 611 732 684 989 '
    '685 611 685 390 337 390 838 500 500 613 635 550 635 615 352 635 634 278 278 579 278 974 634 612 635 635 411 521 '
    '392 634 592 818 592 592 525 636 337 636 838',
    '348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696 696 696 696 696 696 696 696 400 400 '
    '838 838 838 580 1000 774 762 734 830 683 683 821 837 372 372 775 637 995 837 850 733 850 770 720 682 812 774 1103 '
    '771 724 725 457 365 457 838 500 500 675 716 593 716 678 435 716 712 343 343 665 343 1042 712 687 716 716 493 595 '
    '478 712 652 924 645 652 582 712 365 712 838')]
# Counts of one second by a seed; a link is as full as it says, and each R-Box has half of it.
COUNTS = '''
import zlib
def share(*what):
    return zlib.crc32(repr((SEED, what)).encode()) / 2 ** 32
# One is never multiplexed: what the others ran for is a share of it.
def seconds(pmu, cpu):
    return SECONDS * (1 if pmu in ('xeon7500_package', 'xeon7500_mbox_1') else RUNNING / 100)
def count(pmu, terms, cpu):
    if pmu == 'xeon7500_package':
        return SECONDS * 1e9
    if 'reads' in terms or 'imt' in terms:
        return seconds(pmu, cpu) * share(pmu, cpu) * MOST * 34.2e9 / 2 / 64
    port = re.search('qpi[0-3]', terms)
    if port:
        return seconds(pmu, cpu) * 0.8e9 * (IDLE * (1 - share(port[0], cpu)) if 'idle' in terms else 1)
    return seconds(pmu, cpu) * share(pmu, cpu) * 10 ** DIGITS
ready()
until_told()
say(lines(count, seconds, lambda pmu, cpu: 100 * seconds(pmu, cpu) / SECONDS))
'''


def overlap(a, b, more=0.0):
    """Of two boxes, as (left, top, right, bottom)."""
    return min(a[2], b[2]) - max(a[0], b[0]) > more and min(a[3], b[3]) - max(a[1], b[1]) > more


def inside(a, b):
    """Is the first one in the other?"""
    return a[0] >= b[0] and a[1] >= b[1] and a[2] <= b[2] and a[3] <= b[3]


def band(points, path):
    """Points along a path of lines and one curve, a pixel or two apart."""
    segments = re.findall('[MLC]', path)
    at, found = 0, []
    for kind in segments:
        some = points[at:at + (3 if kind == 'C' else 1)]
        whole = [points[at - 1], *some] if at else some * 2
        at += len(some)
        for step in range(201):
            t = step / 200
            # De Casteljau: of two points it is a line
            now = whole
            while len(now) > 1:
                now = [((1 - t) * ax + t * bx, (1 - t) * ay + t * by) for (ax, ay), (bx, by) in zip(now, now[1:])]
            found.append(now[0])
    return found


def gap(box, point):
    """From a box to a point, 0 inside."""
    return math.hypot(max(box[0] - point[0], 0, point[0] - box[2]), max(box[1] - point[1], 0, point[1] - box[3]))


class Picture:
    """What is in it, in the canvas's own coordinates."""

    def __init__(self, text):
        if 'svg:root { max-width: 100%; height: auto }' not in text:
            raise ValueError('a browser that is narrower does not show all of it')
        root = tree.fromstring(text)
        self.size = 0, 0, float(root.get('width')), float(root.get('height'))
        self.texts, self.rects, self.paths, self.arrows, self.links, self.bold = [], [], [], [], [], []
        self.heads = []
        self.walk(root, 0, 0, None)

    def walk(self, node, x, y, title):
        """All below a node."""
        moved = re.match(r'translate\(([-0-9.]+),([-0-9.]+)\)', node.get('transform', ''))
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        said = node.find(SVG + 'title')
        if node.tag == SVG + 'g' and said is not None:
            title = said.text
        for child in node:
            if child.tag in (SVG + 'defs', SVG + 'style'):
                continue
            if child.tag == SVG + 'text' and child.text:
                size, bold = float(child.get('font-size')), child.get('font-weight') == 'bold'
                width = sum(838 if ord(c) > 126 else WIDTHS[bold][ord(c) - 32] for c in child.text) * size / 1000
                left = x + float(child.get('x')) - width * {'middle': 0.5, 'end': 1}.get(child.get('text-anchor'), 0)
                base = y + float(child.get('y'))
                self.bold += [child.text] * bold
                self.texts.append(((left, base - 0.76 * size, left + width, base + 0.2 * size), child.text))
            elif child.tag == SVG + 'rect' and child.get('x'):
                left, top = x + float(child.get('x')), y + float(child.get('y'))
                self.rects.append(((left, top, left + float(child.get('width')), top + float(child.get('height'))), child))
            elif child.tag == SVG + 'path':
                numbers = [float(n) for n in re.findall(r'-?[0-9.]+', child.get('d'))]
                if 'h' in child.get('d') or 'v' in child.get('d'):
                    points = [(x + numbers[0], y + numbers[1])]
                else:
                    points = [(x + px, y + py) for px, py in zip(numbers[::2], numbers[1::2])]
                self.paths.append((points, child))
                if child.get('class') == 'link':
                    self.links.append((title, band(points, child.get('d')), float(child.get('stroke-width')) / 2))
                if child.get('d').endswith('Z'):
                    self.arrows.append((points[0], title, child))
                    xs, ys, edge = *zip(*points), float(child.get('stroke-width', 0)) / 2
                    self.heads.append(((min(xs) - edge, min(ys) - edge, max(xs) + edge, max(ys) + edge), title))
            self.walk(child, x, y, title)

    def wrong(self, packages):
        """What is not as it has to be."""
        boxes = [box for box, rect in self.rects if rect.get('rx') == '8']
        if len(boxes) != packages:
            yield f'{len(boxes)} packages'
        for i, (box, text) in enumerate(self.texts):
            if not inside(box, self.size):
                yield f'{text!r} at {box} is outside of {self.size}'
            for other, what in self.texts[i + 1:]:
                if overlap(box, other):
                    yield f'{text!r} at {box} and {what!r} at {other}'
            for package in boxes:
                if overlap(box, package) and not inside(box, package):
                    yield f'{text!r} at {box} is half in {package}'
            # Texts are in a cell or beside it.
            for cell, rect in self.rects:
                if rect.get('rx') != '8' and overlap(box, cell, 1) and not cell[0] <= box[0] < box[2] <= cell[2]:
                    yield f'{text!r} at {box} and a cell at {cell}'
            for head, title in self.heads:
                if overlap(box, (head[0] - 4, head[1] - 4, head[2] + 4, head[3] + 4)):
                    yield f'{text!r} at {box} is not clear of the arrow head of {title} at {head}'
        for box, rect in self.rects:
            if not inside(box, self.size):
                yield f'a rectangle at {box} is outside of {self.size}'
        for points, path in self.paths:
            if any(not inside((px, py, px, py), self.size) for px, py in points):
                yield f'{path.get("d")} is outside'
        yield from self.wrong_arrows(packages)

    def wrong_arrows(self, packages):
        """Each has its own number, near to it."""
        if len(self.arrows) != 4 * packages:
            yield f'{len(self.arrows)} arrows'
        taken = set()
        for tip, title, arrow in self.arrows:
            full = re.search(r', ([0-9.]+) % full', title)
            said = {f'{mark}{float(full[1]):.0f} %' for mark in ('', '~', '!')} | {
                f'{mark}{math.floor(float(full[1]) + d):.0f} %' for mark in ('', '~', '!') for d in (0, 1)
            } if full else {'-', 'n/a'}
            near = sorted((math.dist(tip, ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)), i)
                          for i, (box, text) in enumerate(self.texts)
                          if re.search('|'.join(re.escape(s) for s in said) if full else r'(^| )(-|n/a)$', text)
                          and not any(inside(box, b) for b, r in self.rects if r.get('rx') == '8'))
            near = [i for distance, i in near if distance < 75 and i not in taken]
            if not near:
                yield f'no {said} at the arrow of {title}'
            else:
                taken.add(near[0])
                box, text = self.texts[near[0]]
                for other, points, half in self.links:
                    if other != title and min(gap(box, point) for point in points) < half:
                        yield f'{text!r} of {title} lies on {other}'
            grey = arrow.get('fill') == '#98a2ab'
            # By what is shown, which of 59.5 is either.
            if full and full[1] != '59.5' and grey != (float(full[1]) < 59.5):
                yield f'{title} is {arrow.get("fill")}'

    def busiest(self):
        """Titles of links, by how full they are."""
        found = [(float(m[2]), m[1]) for _, title, _ in self.arrows
                 for m in [re.match(r'(S\d qpi\d → \S+): .*, ([0-9.]+) % full', title)] if m]
        return sorted(found, key=lambda one: -one[0])


def draw(world, seed, *args, most=1.0, digits=7, running=100.0, idle=1.0):
    """A picture of the world's."""
    world.play(f'SEED, MOST, DIGITS, RUNNING, IDLE = {seed}, {most}, {digits}, {running}, {idle}\n{COUNTS}')
    path = f'{world.dir}/map.svg'
    done = world.run('map', '-o', path, *args, '--', 'true')
    if done.returncode or done.stderr:
        raise ValueError(f'{done.args[1:]}: {done.returncode}, {done.stderr[-1000:]}')
    with open(path, encoding='utf-8') as f:
        return Picture(f.read())


def topology(name):
    """The option for one of ours."""
    return ['--topology', f'{fixture.TOP}/metrics/{name}.topology'] if name else []


def layouts():
    """Of 1 to 8 packages, with each topology and without one."""
    seed = random.randrange(1 << 32)
    print(f'# seed {seed}')
    dice = random.Random(seed)
    for packages in range(1, 9):
        bad = []
        boxes = [(box, i, p) for box, num in fixture.BOXES.items() for i in range(num) for p in range(packages)]
        for name in None, 'two', 'four', 'eight', 'long', 'mesh':
            absent = set(dice.sample(boxes, 5)) if name == 'four' else ()
            # The E7 has ten.
            world = World(packages, absent=absent, cboxes=10 if name == 'mesh' else 8)
            write(f'{world.dir}/long', ''.join(f'link S{p}.qpi{i} HUBNR{p}{i}\n' for p in range(8) for i in range(4)) +
                  'limit memory 20e9\n')
            # Ports in the order of their peers: two packages may have the same port to a third one.
            free = [itertools.count() for _ in range(5)]
            write(f'{world.dir}/mesh', ''.join(f'link S{p}.qpi{next(free[p])} S{q}.qpi{next(free[q])}\n'
                                               for p, q in itertools.combinations(range(5), 2)))
            args = ['--topology', f'{world.dir}/{name}'] if name in ('long', 'mesh') else topology(name)
            for more in ({'most': 1.0}, {'most': 30.0, 'digits': 12}, {'digits': 3, 'running': 50.0},
                         {'idle': 0.0, 'running': 50.0}):
                try:
                    picture = draw(world, dice.randrange(1 << 30), '--host', *args, **more)
                    bad += [f'{name} {more}: {b}' for b in picture.wrong(packages)]
                except ValueError as error:
                    bad.append(f'{name} {more}: {error}')
            world.end()
        ktap.result(f'the layout of {packages} package{"s" * (packages > 1)}', bad[:20])


def list_and_title():
    """The five busiest links in their order; time, duration, and the host only if it is wanted."""
    world, bad = World(4), []
    for seed in range(5):
        picture = draw(world, seed, *topology('four'))
        wanted = [link for _, link in picture.busiest()[:5]]
        at = {text: box for box, text in picture.texts if re.match(r'S\d qpi\d → ', text)}
        got = sorted((text for text in at), key=lambda text: at[text][1])
        if got != wanted:
            bad.append(f'{got} and not {wanted}')
    ktap.result('the five busiest links', bad)
    os.environ['SOURCE_DATE_EPOCH'], os.environ['TZ'] = '1764189261', 'UTC'
    for args in [], ['--host']:
        said = [text for _, text in draw(world, 1, *args).texts]
        host = os.uname().nodename[:40]
        wanted = [f'perf metrics map: {host}' if args else 'perf metrics map', '2025-11-26 20:34:21 +0000, 1.000 s counted']
        ktap.result(f'the title {" ".join(args)}', [] if said[:2] == wanted and (args or not any(host in t for t in said))
                    else [said[:2]])
    del os.environ['SOURCE_DATE_EPOCH'], os.environ['TZ']
    world.end()


def told(texts, wanted):
    """What is wrong with the texts that are numbers; of each a mark and a value is wanted."""
    found = [re.fullmatch(r'(?:misses )?([~!]?)([0-9.]+) ?([kMG]?)(?:B/s|/s| ?%)?', text) for text in texts]
    got = [(m[1], float(m[2]) * {'': 1, 'k': 1e3, 'M': 1e6, 'G': 1e9}[m[3]]) for m in found if m]
    if len(got) != len(wanted):
        yield f'{len(got)} numbers of {len(wanted)}: {texts}'
    for one, other in zip(got, wanted):
        if one[0] != other[0] or abs(one[1] - other[1]) > max(0.006 * other[1], 0.5):
            yield f'{one} and not {other}'


def numbers():
    """Each is that of the counts, and what was multiplexed is marked: texts, lines and cells."""
    world = World(2)
    write(f'{world.dir}/t', 'link S0.qpi0 S1.qpi0\nlimit memory 34.2e9\n')

    def share(what, cpu):
        """As in COUNTS."""
        return zlib.crc32(repr((7, (what, cpu))).encode()) / 2 ** 32

    for running, mark in (100.0, ''), (50.0, '~'):
        picture, bad = draw(world, 7, '--topology', f'{world.dir}/t', most=0.6, running=running), []
        links = sorted(((share(f'qpi{i}', 2 * p), f'S{p} qpi{i}') for p in range(2) for i in range(4)), reverse=True)
        for p, package in enumerate(box for box, rect in picture.rects if rect.get('rx') == '8'):
            miss = [1e7 * share(f'xeon7500_cbox_{i}', 2 * p) for i in range(8)]
            # Of a cell the hatching is the mark.
            wanted = [(mark, sum(miss)), *(('', n) for n in miss)]
            for i in range(2):
                read, written = (0.3 * 34.2e9 * share(f'xeon7500_{box}_{i}', 2 * p) for box in ('mbox', 'bbox'))
                wanted += [(mark, (read + written) / 34.2e7), ('' if i else mark, read), (mark, written)]
            for i in range(4):
                wanted += [(mark, most * share(f'qpi{i}', 2 * p)) for most in (12.8e9, 100)]
            bad += told([text for at, text in picture.texts if inside(at, package)], wanted)
        listed = [text for _, text in picture.texts]
        listed = listed[listed.index('Busiest links') + 1:][:15]
        bad += told(listed, [(mark, most * full) for full, _ in links[:5] for most in (100, 12.8e9)])
        bad += [f'{text} and not {name}' for text, (_, name) in zip(listed[::3], links) if not text.startswith(name)]
        bad += [f'no {name} is {100 * full:.1f} % full' for full, name in links if not any(
            title.startswith(name + ' ') and f' {100 * full:.1f} % full' in title for title, _, _ in picture.links)]
        turns = (sum(path.get('stroke-dasharray') == '9 5' for _, path in picture.paths if path.get('class') == 'link'),
                 sum(rect.get('fill') == 'url(#turns)' for _, rect in picture.rects))
        # Of cells that is the one in the legend.
        bad += [f'{turns} lines and cells'] * (turns != ((8, 36) if mark else (0, 1)))
        ktap.result(f'numbers are those of the counts{", multiplexed" * bool(mark)}', bad)
    world.end()


def bars(picture):
    """(mark, frame, {colour: box}, {text}) of each M-Box."""
    for points, path in picture.paths:
        if re.search(r' v18\.0$', path.get('d')):
            x, y = points[0]
            at = [(box, rect.get('fill')) for box, rect in picture.rects if box[0] < x < box[0] + 125 and abs(box[1] - y - 3) < 0.1]
            frame = [box for box, fill in at if fill == '#ffffff'][0]
            inside_it = {rect.get('fill'): box for box, rect in picture.rects
                         if abs(box[1] - frame[1]) < 0.1 and inside(box, frame) and rect.get('fill') != '#ffffff'}
            yield x, frame, inside_it, [text for box, text in picture.texts
                                        if abs(box[2] - frame[2]) < 0.1 and 0 < frame[1] - box[1] < 55]


def limits():
    """A mark is where the limit of the topology file is, and bars and shares are of it; without one there is none."""
    world = World(2)
    write(f'{world.dir}/t', 'link S0.qpi0 S1.qpi0\nlimit memory 17.1e9\nlimit qpi 6.405e9\n')
    for name, args, most_qpi in (('no', [], 12.8e9), ('the topology file\'s', ['--topology', f'{world.dir}/t'], 6.405e9)):
        bad = []
        picture = draw(world, 7, *args, most=0.6)
        found = list(bars(picture))
        for mark, frame, colours, texts in found:
            share, read, written = [float(re.search('[0-9.]+', text)[0]) * {'k': 1e3, 'M': 1e6, 'G': 1e9}.get(text[-4], 1)
                                    for text in texts]
            if abs(share - (read + written) / 17.1e7) > 0.8:
                bad.append(f'{texts}')
            ends = [frame[0] + min((mark - frame[0]) * sum_of / 17.1e9, frame[2] - frame[0]) for sum_of in (read, read + written)]
            for colour, end in zip(('#2f6db5', '#8fbfe8'), ends):
                if colour not in colours or abs(colours[colour][2] - end) > 1:
                    bad.append(f'{texts}: {colour} ends at {colours.get(colour)}, not {end}')
        if len(found) != (4 if args else 0) or (args and max(frame[2] - colours['#2f6db5'][2] for _, frame, colours, _ in found) < 1):
            bad.append(f'{len(found)} marks')
        if not args and not any('the topology file has no limit memory' in text for _, text in picture.texts):
            bad.append('nothing says why there is no bar')
        for title, _, half in picture.links:
            sent = re.search(r'!?([0-9.]+) ([kMG])B/s', title)
            number = float(sent[1]) * {'k': 1e3, 'M': 1e6, 'G': 1e9}[sent[2]]
            if abs(2 * half - 1.5 - 14.5 * min(number / most_qpi, 1)) > 0.11:
                bad.append(f'{title}: {2 * half}')
        ktap.result(f'limits: {name}', bad)
    # 60 GB/s of 34.2 can hardly be, and reads alone are behind the mark.
    world.play('say_one = lambda pmu, terms, cpu: (60e9 if cpu < 2 else 3e9) / 64 if "reads" in terms else 1e9 if "gate" in terms '
               'else 4e8 * (0.5 if "idle" in terms else 1) if "qpi" in terms else 0\nready()\nuntil_told()\nsay(lines(say_one))\n')
    write(f'{world.dir}/t', 'limit memory 34.2e9\n')
    world.run('map', '-o', f'{world.dir}/map.svg', '--topology', f'{world.dir}/t', '--', 'true')
    with open(f'{world.dir}/map.svg', encoding='utf-8') as f:
        found = list(bars(Picture(f.read())))
    ktap.result('what cannot be is behind the mark', [] if [colours['#2f6db5'][2] > mark + 10 for mark, _, colours, _ in found] ==
                [True, True, False, False] and '!175 %' in found[0][3] else [found])
    for text in 'limit memory 0', 'limit memory x', 'limit memory 1e9 M0', 'limit qpi 1e9\nlimit qpi 1e9', 'limit qpi 1e99':
        write(f'{world.dir}/t', text + '\n')
        done = world.run('map', '--topology', f'{world.dir}/t', '--', 'true')
        ktap.result(f'refused: {text!r}', [] if done.returncode == 2 and f't:{text.count(chr(10)) + 1}: ' in done.stderr
                    else [done.returncode, done.stderr])
    world.end()


# A part of a second that M-Boxes, links and C-Boxes are busy, and one that is so to 98 %.
ONE = '''
def count(pmu, terms, cpu):
    if pmu == 'xeon7500_package':
        return SECONDS * 1e9
    full = 0.98 if cpu == 0 and HOT in pmu + terms else SHARE
    if 'reads' in terms or 'imt' in terms:
        return full * 34.2e9 / 2 / 64
    if 'qpi' in terms:
        return 0.8e9 * (1 - full if 'idle' in terms else 1)
    return 10 ** (int(pmu[-1]) + 2)
ready()
until_told()
say(lines(count))
'''


def bottlenecks():
    """The eye goes to what is full, a controller or a link, and nowhere on a quiet machine."""
    world = World(2)
    write(f'{world.dir}/t', 'link S0.qpi0 S1.qpi0\nlimit memory 34.2e9\n')

    def play(share, hot):
        world.play(f'SHARE, HOT = {share}, {hot!r}\n{ONE}')
        world.run('map', '-o', f'{world.dir}/map.svg', '--topology', f'{world.dir}/t', '--', 'true')
        with open(f'{world.dir}/map.svg', encoding='utf-8') as f:
            return Picture(f.read())

    def loud(picture):
        """What is of a warm colour, less the legend; edges, and what is bold with a number."""
        links = {title.split(':')[0] for _, title, arrow in picture.arrows if arrow.get('fill') not in ('#98a2ab', '#888888')}
        badges = [box for box, rect in picture.rects if rect.get('rx') == '2']
        edges = [path.get('class') for _, path in picture.paths if path.get('class') == 'edge' and ' v' not in path.get('d')]
        return links, len(badges), len(edges) // 2, [text for text in picture.bold if text.endswith('%')]

    for name, share, hot, wanted in (('a quiet machine', 0.004, 'none', (set(), 0, 0, [])),
                                     ('a link', 0.1, 'qpi0', ({'S0 qpi0 → S1'}, 0, 1, ['98 %'])),
                                     ('a controller', 0.1, 'box_0', (set(), 1, 0, ['98 %']))):
        picture = play(share, hot)
        got = loud(picture)
        none = any('No link is known to be 1 % full' in text for _, text in picture.texts)
        ktap.result(f'what stands out: {name}', [] if got == wanted and none == (share < 0.01) else [got, none])
    picture = play(0.7, 'none')
    badges = [(box, rect.get('fill')) for box, rect in picture.rects if rect.get('rx') == '2']
    ktap.result('a controller is coloured from 60 %', [] if len(badges) == 4 and {fill for _, fill in badges} == {
        arrow.get('fill') for _, _, arrow in picture.arrows} else [badges])
    # Misses of C-Box 0 are 100 a second, of each other 10 times those of the one before.
    shades = [rect.get('fill') for box, rect in picture.rects if box[3] - box[1] == 26][:8]
    ktap.result('C-Boxes are coloured by decades', [] if shades[:3] == ['#f0f0f7'] * 3 and shades[6:] == ['#54278f'] * 2 and
                shades[4] == '#9e9ac8' and len(set(shades)) == 5 else [shades])
    # Each way has a casing below it that is wider by 3.
    cased = {(path.get('d'), path.get('stroke-width')) for _, path in picture.paths if path.get('class') in ('case', 'edge')}
    ktap.result('links are cased', [f'{path.get("d")}: {cased}' for _, path in picture.paths if path.get('class') == 'link' and
                                    not {(path.get('d'), f'{float(path.get("stroke-width")) + more:.1f}') for more in (3, 5)} & cased])
    for file, wanted in (('x.png', 'rsvg-convert -o x.png x.svg'), ('a.b/x.PDF', 'rsvg-convert -o a.b/x.PDF a.b/x.svg')):
        done = world.run('map', '-o', file, '--', 'touch', f'{world.dir}/ran')
        ktap.result(f'map -o {file}', [] if done.returncode == 2 and done.stderr.endswith(wanted + '\n') and
                    not os.path.exists(f'{world.dir}/ran') and not os.path.exists(file) else [done])
    world.end()


ktap.result('it is built', fixture.build())
if not ktap.bad:
    layouts()
    bottlenecks()
    numbers()
    list_and_title()
    limits()
sys.exit(ktap.end())
