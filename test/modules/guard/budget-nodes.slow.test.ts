/** A budget over three gateways of one PostgreSQL, two of which are killed while a thousand events arrive at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../../runtime/store/contract.ts';
import type { BudgetSpan } from '../../../schemas/built/operations/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { makeAccept, makeClaim, makeDispatch } from '../../helpers/dispatches.ts';
import { until } from '../../helpers/gateway.ts';
import { skipWithoutPostgres } from '../../helpers/postgres/binaries.ts';
import { suiteDatabase } from '../../helpers/postgres/database.ts';
import { openMortalStore, openTestStore } from '../../helpers/postgres/store.ts';
import { audit } from '../../runtime/store/conformance/subject.ts';

const EVENTS = 1000;
const RUNS = 100;
const HOUR = 3_600_000;
const BUDGET: BudgetSpan = { kind: 'budget', key: 'all', runs: RUNS, tokens: null, cost: null, since: 0, until: HOUR };

describe('a budget of several gateways', { skip: skipWithoutPostgres() }, () => {
  const url = suiteDatabase();

  it('accepts exactly its number of runs, through kills', async (t) => {
    const doomed = [await openMortalStore(url(), 'budget'), await openMortalStore(url(), 'budget')];
    const last = await openTestStore(url(), 'budget');
    atEnd(t, () => last.close());
    const stores: readonly Store[] = [...doomed.map(({ store }) => store), last];
    const outcomes = new Map<string, number>();
    /** Retries like a sender with another gateway, without a response or when overloaded. */
    const send = async (id: string, at: number): Promise<void> => {
      let store = stores[at % stores.length] ?? last;
      let tries = 0;
      const result = await until(async () => {
        const change = { claim: makeClaim(id, HOUR), limits: [BUDGET], now: 1000 };
        const written = await store
          .write(makeAccept(id, { ...change, dispatch: makeDispatch(`${id}-${tries++}`) }))
          .catch(() => null);
        store = last;
        return written;
      });
      outcomes.set(result.kind, (outcomes.get(result.kind) ?? 0) + 1);
    };
    const sent = Array.from({ length: EVENTS }, (_, at) => send(`e${at}`, at));
    await Promise.all(doomed.map(({ kill }) => kill()));
    await Promise.all(sent);
    const taken = (outcomes.get('stored') ?? 0) + (outcomes.get('duplicate') ?? 0);
    assert.equal((await last.read({ kind: 'list', filter: { limit: EVENTS } })).length, RUNS);
    assert.deepEqual([taken, outcomes.get('over_limit')], [RUNS, EVENTS - RUNS], JSON.stringify([...outcomes]));
    assert.deepEqual(await audit(last), []);
  });
});
