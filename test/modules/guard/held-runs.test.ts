/** Which runs a paused key holds: one author never takes all places. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countInLoops, holdRun, loopLimits } from '../../../modules/guard/runtime/loops.ts';
import type { LimitedEvent } from '../../../runtime/dispatch/dispatcher.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { routePlan } from '../../helpers/route-table.ts';

const NOW = 1_780_000_000_000;

/** Sends events of one key; returns which of them ran (`null`) or are held. */
function open() {
  const bodies = new Map<string, string>();
  const rows = {
    guardRow: ({ key }: { readonly key: string }) => bodies.get(key),
    putGuardRow: ({ key, body }: { readonly key: string; readonly body: string }) => void bodies.set(key, body),
  };
  let ref = 0;
  return (name: string | null): 'runs' | 'held' | 'ignored' => {
    const route = { plan: routePlan('r', { loop_limit: 1 }) };
    const author = { name, isPerson: name !== null };
    const event: LimitedEvent = { route, scheme: 'github', coalesceKey: 'octo/shop#7', isExchange: false, author };
    const over = countInLoops(rows, loopLimits({ targets: {} }, makeDispatch('d'), event), NOW);
    if (over === null) return 'runs';
    if (over.holds !== true) return 'ignored';
    holdRun(rows, over, ++ref);
    return 'held';
  };
}

const counted = (found: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(['runs', 'held', 'ignored'].map((kind) => [kind, found.filter((one) => one === kind).length]));

test('one author takes half of the places of a paused key, and others the rest', () => {
  const send = open();
  assert.deepEqual(counted(Array.from({ length: 80 }, () => send('stranger'))), { runs: 3, held: 50, ignored: 27 });
  assert.equal(send('owner'), 'held');
  assert.equal(send('stranger'), 'ignored');
  assert.equal(send(null), 'held', 'an author that the source does not name');
  assert.deepEqual(counted(Array.from({ length: 60 }, () => send('owner'))), { runs: 0, held: 48, ignored: 12 });
  assert.equal(send('third'), 'ignored', 'all places are taken');
});

test('events without an author take all places', () => {
  const send = open();
  assert.deepEqual(counted(Array.from({ length: 120 }, () => send(null))), { runs: 1, held: 100, ignored: 19 });
});
