import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RATE_WINDOW_MS, RateWindow, RateWindows } from '../../../runtime/table/rate-limit.ts';

test('a window grants its limit and then returns the seconds until it ends', () => {
  const window = new RateWindow();
  assert.equal(window.take(2, 1000), 0);
  assert.equal(window.take(2, 2000), 0);
  assert.equal(window.take(2, 2000), 59);
  assert.equal(window.wait(2, 60_999), 1);
});

test('a window is fixed: it ends 60 s after its first request', () => {
  const window = new RateWindow();
  window.take(2, 0);
  window.take(2, 59_000);
  assert.equal(window.take(2, RATE_WINDOW_MS), 0);
  assert.equal(window.take(2, RATE_WINDOW_MS), 0);
  assert.equal(window.take(2, RATE_WINDOW_MS), 60);
});

test('a check takes no slot', () => {
  const window = new RateWindow();
  for (let i = 0; i < 10; i++) assert.equal(window.wait(1, 0), 0);
  assert.equal(window.take(1, 0), 0);
});

test('a changed limit applies within the window', () => {
  const window = new RateWindow();
  for (let i = 0; i < 5; i++) window.take(5, 0);
  assert.equal(window.wait(5, 0), 60);
  assert.equal(window.wait(6, 0), 0);
  assert.equal(window.wait(3, 0), 60);
});

test('profiles and routes have their own windows, which survive a swap', () => {
  const windows = new RateWindows();
  const window = windows.of('default', 'a');
  assert.equal(windows.of('default', 'a'), window);
  assert.notEqual(windows.of('ops', 'a'), window);
  assert.notEqual(windows.of('default', 'b'), window);
});

test('only expired windows without a route are dropped', () => {
  const windows = new RateWindows();
  const [live, open, over] = [windows.of('p', 'live'), windows.of('p', 'open'), windows.of('p', 'over')];
  live.take(1, 0);
  open.take(1, RATE_WINDOW_MS);
  over.take(1, 0);
  windows.retain(new Set([live]), RATE_WINDOW_MS + 1);
  assert.equal(windows.of('p', 'live'), live);
  assert.equal(windows.of('p', 'open'), open);
  assert.notEqual(windows.of('p', 'over'), over);
});
