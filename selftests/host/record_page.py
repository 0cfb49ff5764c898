#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The page of perf metrics report --html in Debian's Chromium, from file://: at 400 and 1,600
pixels, light and dark, no script fails and nothing is fetched; the slider moves the map, the table
sorts, a line tells its values; a command that is a script does nothing.

PICTURES=DIRECTORY keeps what it looks like.

TEST: none
SOAK: 6.1
"""
import os
import re
import subprocess
import sys

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import fixture
from browser import Browser
from fixture import World
from ktap import Ktap

TOP = fixture.TOP
ktap = Ktap()
# Link traffic that goes up and down, the packages one after the other.
STREAM = '''
import math
def count(p, t, c):
    if 'package' in p:
        return 1e9
    wave = (1.5 + math.sin(N / 5 + c)) / 2.5
    if 'null_idle' in t:
        return 3e8 * (1 - 0.9 * wave)
    return 3e8 if 'rbox' in p else (9e7 if 'box' in p and p[9] in 'mb' else 1e7) * wave * (1 + len(p + t) % 5)
ready()
for N in range(1, 41):
    say(lines(count, interval=N))
say(lines(count, lambda p, c: 1.0))
'''
SORTED = '''(() => {
    const head = document.querySelectorAll('#values th')[COLUMN];
    head.firstElementChild.click();
    return [head.getAttribute('aria-sort'), [...document.querySelectorAll('#values tbody tr')].map(
        row => row.cells[COLUMN].dataset.v ?? row.cells[COLUMN].textContent)];
})()'''
# Text that is outside of its own card or picture, or cut by it, where nothing scrolls.
OUTSIDE = '''[...document.querySelectorAll('.card:not(.wide) *, h1, h2')].filter(one =>
    !one.closest('.wide') && one.getBoundingClientRect().right > innerWidth + 1).concat(
    [...document.querySelectorAll('figure svg text')].filter(one => {
        const text = one.getBoundingClientRect(), svg = one.closest('svg').getBoundingClientRect();
        return text.left < svg.left || text.right > svg.right;
    })).map(one => one.outerHTML.slice(0, 80))'''


def looks(browser, page, name, maps):
    """What is wrong with a page as people use it."""
    for width in 400, 1600:
        for dark in False, True:
            browser.errors.clear()
            browser.open(page, width, dark=dark)
            bad = list(browser.errors)
            if browser.run('document.documentElement.scrollWidth') > width:
                bad.append('it is wider than the window')
            bad += browser.run(OUTSIDE)
            back = browser.run('getComputedStyle(document.body).backgroundColor')
            bright = sum(map(int, re.findall(r'\d+', back)[:3])) > 3 * 128
            bad += [] if bright != dark else [f'dark {dark}, and the back is {back}']
            lines = browser.run('[...document.querySelectorAll("figure .curve")].map(one => one.getBBox().width)')
            empty = browser.run('data.metrics.flatMap(one => one.series).filter('
                                'one => one.values.every(value => value === null)).length')
            drawn = [one for one in lines if one > 100]
            bad += [] if len(drawn) > 4 and len(drawn) + empty == len(lines) else [f'{empty} are n/a; lines: {lines}']
            if os.environ.get('PICTURES'):
                browser.picture(f'{os.environ["PICTURES"]}/{name}-{width}{"-dark" if dark else ""}.png')
            ktap.result(f'{name}: {width} pixels, {"dark" if dark else "light"}', bad)
    browser.errors.clear()
    seen = []
    for at in range(maps):
        browser.run(f'document.getElementById("time").value = {at};'
                    'document.getElementById("time").dispatchEvent(new Event("input"))')
        seen.append((browser.run('document.getElementById("when").textContent'),
                     browser.run('document.querySelector("#map svg").textContent')))
    bad = list(browser.errors)
    bad += [] if len({text for text, _ in seen}) == maps and len({svg for _, svg in seen}) > maps / 2 else [seen]
    bad += [] if seen[0][0] == 'the whole time' and seen[-1][0] == 'until 40.000 s' else [seen[0][0], seen[-1][0]]
    ktap.result(f'{name}: the slider moves the map', bad)
    bad = []
    for column in 0, 1, 2, 5:
        for wanted in 'ascending', 'descending':
            said, cells = browser.run(SORTED.replace('COLUMN', str(column)))
            there = [one for one in cells if one != '']
            order = sorted(there, key=(lambda one: float(one)) if column > 1 else str.lower, reverse=wanted == 'descending')
            if said != wanted or there != order or cells[:len(there)] != there or len(cells) < 9:
                bad.append((column, said, cells))
    ktap.result(f'{name}: the table sorts', bad + browser.errors)
    browser.run('''(() => {
        const svg = document.querySelector('figure svg[aria-label^="llc_miss_rate "]');
        const box = svg.getBoundingClientRect();
        svg.dispatchEvent(new PointerEvent('pointermove', {
            clientX: box.left + box.width / 2, clientY: box.top + 20, bubbles: true }));
    })()''')
    keys = browser.run('document.querySelector(\'svg[aria-label^="llc_miss_rate "]\').parentNode.querySelector(".keys").textContent')
    ktap.result(f'{name}: a line tells its values', browser.errors + ([] if re.search(r'S0 [\d.]+ [kMG]?/s', keys) else [keys]))
    ktap.result(f'{name}: what the command is named has no effect',
                ['it ran'] if browser.run('typeof harm') != 'undefined' else [])


def main():
    said = subprocess.run(['bash', '-c', f'. {TOP}/tools/lib/common.sh && need_packages chromium fonts-dejavu-core'],
                          capture_output=True, text=True, check=False)
    ktap.result('it is built', fixture.build())
    ktap.result('Chromium', [said.stderr] if said.returncode else [])
    if ktap.bad:
        return ktap.end()
    with Browser() as browser:
        for packages, topology in (1, None), (2, 'two'), (8, 'eight'):
            world = World(packages=packages, absent={('mbox', 1, packages - 1)})
            world.play(STREAM)
            options = ['--topology', f'{TOP}/metrics/{topology}.topology'] if topology else []
            page = f'{world.dir}/p.html'
            done = world.run('record', '-o', f'{world.dir}/r', *options, '--', 'true', '</script><script>harm=1</script>',
                             '"><img src=x onerror="harm=2">')
            done = done if done.returncode else world.run('report', f'{world.dir}/r', '--html', page)
            if done.returncode:
                ktap.result('a page', [done.stderr])
                continue
            looks(browser, page, f'{packages} packages', 41)
            world.end()
        # The policy itself: a script that has come into a page does not run.
        world = World()
        world.play(STREAM)
        world.run('record', '-o', f'{world.dir}/r', '--', 'true')
        world.run('report', f'{world.dir}/r', '--html', f'{world.dir}/p.html')
        with open(f'{world.dir}/p.html', encoding='utf-8') as f:
            text = f.read()
        fixture.write(f'{world.dir}/q.html', text.replace('</h1>', '</h1><script>harm=3</script>'
                                                          '<img src="x" onerror="harm=4">', 1))
        browser.errors.clear()
        browser.open(f'{world.dir}/q.html')
        ktap.result('the policy lets no other script run', [] if browser.run('typeof harm') == 'undefined' and
                    any('Content Security Policy' in one for one in browser.errors) else browser.errors or ['it ran'])
        world.end()
    return ktap.end()


sys.exit(main())
