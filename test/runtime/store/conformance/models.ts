/** Compares idempotency and coalescing with a simple model, with restarts and kills between steps. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Ref } from '../../../../runtime/store/records.ts';
import type { Step as StoreStep } from '../../../../runtime/store/states.ts';
import {
  HOLDER,
  makeAccept,
  makeAdvance,
  makeAttempt,
  makeClaim,
  makeDispatch,
  makeJoin,
  makeStep,
  makeTake,
} from '../../../helpers/dispatches.ts';
import type { Step } from './model.ts';
import { LIMITS, Model, TTL_MS } from './model.ts';
import type { OpenStore, StoreOpener } from './subject.ts';
import { audit, load } from './subject.ts';

const attemptOf = (works: boolean): StoreStep =>
  makeStep({ kind: 'delivery', index: 0, ...(works ? {} : { outcome: 'permanent', reason: 'refused' }) });

class Real {
  private now = 0;
  private life = 0;
  private readonly direct = new Map<string, Ref>();
  private readonly opened: OpenStore;

  constructor(opened: OpenStore) {
    this.opened = opened;
  }

  private get holder(): string {
    return `${HOLDER} ${this.life}`;
  }

  async step(step: Step, id: string): Promise<string> {
    const { store } = this.opened;
    const { now, holder } = this;
    const dispatch = makeDispatch(id);
    const claim = 'id' in step ? makeClaim(step.id, now + TTL_MS) : null;
    switch (step.kind) {
      case 'accept':
        return (await store.write(makeAccept(id, { claim, now }))).kind;
      case 'join': {
        const result = await store.write(makeJoin(id, step.key, now, { claim, limits: LIMITS }));
        return result.kind === 'stored' ? `stored ${result.superseded} ${result.due_at}` : result.kind;
      }
      case 'direct': {
        const work = { kind: 'held', holder } as const;
        const result = await store.write(makeAccept(id, { dispatch, claim, claiming: 'later', work, now }));
        if (result.kind !== 'stored' || claim === null) return result.kind;
        const end = step.works ? ({ to: 'done', claim } as const) : ({ to: 'dead', reason: 'refused' } as const);
        await store.write({
          ...makeAdvance(result.ref, end.to, now, { ...end, steps: [attemptOf(step.works)] }),
          holder,
        });
        this.direct.set(step.id, result.ref);
        return `${step.works ? 'delivered' : 'failed'} ${result.continued?.id ?? id}`;
      }
      case 'replay':
        return this.replay(step);
      case 'pass':
        this.now += step.seconds * 1000;
        return '';
      case 'work':
        return this.work();
      case 'stop':
        await store.write({ kind: 'flush_groups', now });
        await this.opened.restart();
        return '';
      case 'crash':
        await store.write(makeTake(now, { holder }));
        await this.opened.crash();
        this.life++;
        await this.opened.store.write({
          ...{ kind: 'recover', holder: this.holder, now, under_way: { runs: [], attempts: [] } },
        });
        return '';
    }
  }

  private async replay({ id, works }: Extract<Step, { kind: 'replay' }>): Promise<string> {
    const { store } = this.opened;
    const { now, holder } = this;
    const { expires_at, ...key } = makeClaim(id);
    const ref = this.direct.get(id) ?? 0;
    const { kind } = await store.write({ kind: 'resend', ref, key, again: false, now });
    if (kind !== 'stored') return 'nothing';
    assert.equal(await store.read({ kind: 'is_claimed', key, now }), true);
    await store.write(makeTake(now, { holder, runs: 0 }));
    const attempt = { ...makeAttempt(ref, 0, now, attemptOf(works)), holder, key, due_at: null };
    assert.equal((await store.write(attempt))?.state, works ? 'done' : 'dead');
    return `${works ? 'delivered' : 'failed'} ${(await load(store, ref)).id}`;
  }

  private async work(): Promise<string> {
    const { holder, now } = this;
    const { store } = this.opened;
    const { runs } = await store.write(makeTake(now, { holder }));
    const ran = [];
    for (const { ref } of runs) {
      const { id, dispatch } = await load(store, ref);
      ran.push(`${id} ${dispatch.superseded}`);
      assert.equal(await store.write({ ...makeAdvance(ref, 'done', now, { answer: 'x' }), holder }), true);
    }
    return ran.sort().join();
  }
}

const id = fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('accept' as const), id }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('join' as const), id, key: fc.constantFrom('k', 'k', 'k', 'l') }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('direct' as const), id, works: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replay' as const), id, works: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 25 }) }) },
  { weight: 3, arbitrary: fc.constant<Step>({ kind: 'work' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'stop' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'crash' }) },
);

export function models(open: StoreOpener): void {
  it('claims ids and coalesces as the model does, across stops and kills', async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 30 }), async (steps) => {
        const opened = await open(t);
        const model = new Model();
        const real = new Real(opened);
        const last = [{ kind: 'pass', seconds: 100 }, { kind: 'work' }] as const;
        for (const [index, step] of [...steps, ...last].entries()) {
          const dispatch = `event ${String(index).padStart(2, '0')}`;
          assert.equal(
            await real.step(step, dispatch),
            model.step(step, dispatch),
            `${index}: ${JSON.stringify(step)}`,
          );
        }
        assert.deepEqual(await audit(opened.store), []);
        await opened.close();
      }),
      { seed: 5, numRuns: 40 * open.share, includeErrorInReport: true },
    );
  });
}
