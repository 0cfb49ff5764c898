# SPDX-License-Identifier: GPL-2.0-only
"""Debian's Chromium, led through a pipe by its own protocol.

    with Browser() as browser:
        browser.open(path, width=400, dark=True)
        browser.run('document.title')
        browser.picture('x.png')
        browser.errors          what scripts and the page's policy have complained of
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile


class Browser:
    """One page of a browser of its own."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='browser-')
        ours, theirs = os.pipe(), os.pipe()

        def ends():
            """The program reads 3 and writes 4."""
            fds = os.dup(ours[0]), os.dup(theirs[1])
            os.dup2(fds[0], 3)
            os.dup2(fds[1], 4)
        self.child = subprocess.Popen(
            ['chromium', '--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe',
             '--no-first-run', '--disable-dev-shm-usage', f'--user-data-dir={self.dir}', 'about:blank'],
            preexec_fn=ends, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, 'HOME': self.dir})
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.pipe = os.fdopen(ours[1], 'wb', 0), os.fdopen(theirs[0], 'rb')
        self.num, self.session, self.errors, self.loaded, self.text = 0, None, [], False, b''
        target = next(t for t in self.call('Target.getTargets')['targetInfos'] if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=target['targetId'], flatten=True)['sessionId']
        for domain in 'Page', 'Runtime', 'Log', 'Network':
            self.call(f'{domain}.enable')

    def take(self):
        """The next message; what is of interest at any time is kept."""
        while b'\0' not in self.text:
            more = self.pipe.read1(1 << 20)
            if not more:
                raise OSError('the browser has ended')
            self.text += more
        text, _, self.text = self.text.partition(b'\0')
        message = json.loads(text)
        method, params = message.get('method'), message.get('params', {})
        if method == 'Runtime.exceptionThrown':
            self.errors.append(json.dumps(params['exceptionDetails'])[:500])
        elif method == 'Log.entryAdded':
            self.errors.append(params['entry']['text'])
        elif method == 'Network.requestWillBeSent' and not params['request']['url'].startswith('file:'):
            self.errors.append('asks for ' + params['request']['url'])
        self.loaded |= method == 'Page.loadEventFired'
        return message

    def call(self, method, **params):
        """Its result."""
        self.num += 1
        message = {'id': self.num, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        self.to.write(json.dumps(message).encode() + b'\0')
        while (got := self.take()).get('id') != self.num:
            pass
        if 'error' in got:
            raise OSError(f'{method}: {got["error"]}')
        return got['result']

    def open(self, path, width=1600, height=900, dark=False):
        """A file, in a window of that width."""
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call('Emulation.setEmulatedMedia', media='',
                  features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])
        self.loaded = False
        self.call('Page.navigate', url=f'file://{path}')
        while not self.loaded:
            self.take()

    def run(self, text):
        """The value of an expression in the page."""
        got = self.call('Runtime.evaluate', expression=text, returnByValue=True)
        if 'exceptionDetails' in got:
            raise ValueError(json.dumps(got['exceptionDetails'])[:500])
        return got['result'].get('value')

    def picture(self, path):
        """Of the whole page, PNG."""
        size = self.call('Page.getLayoutMetrics')['cssContentSize']
        shot = self.call('Page.captureScreenshot', captureBeyondViewport=True, clip={**size, 'scale': 1})
        with open(path, 'wb') as f:
            f.write(base64.b64decode(shot['data']))

    def paper(self, path):
        """Printed, PDF."""
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.call('Page.printToPDF', printBackground=True)['data']))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
