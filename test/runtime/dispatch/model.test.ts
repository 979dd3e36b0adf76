/** Compares the dispatcher with a simple model of idempotency and coalescing, with restarts between steps. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { GroupLimits } from '../../../runtime/store/states.ts';
import type { DispatchBench } from '../../helpers/dispatch-bench.ts';
import { claimOf, dispatchBench, notSent, sentOk } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';
import { runsOf } from '../../helpers/sample.ts';

type Step =
  | { readonly kind: 'accept'; readonly id: string }
  | { readonly kind: 'coalesce'; readonly id: string; readonly key: string }
  /** Delivered immediately, or rejected by the target. */
  | { readonly kind: 'direct'; readonly id: string; readonly works: boolean }
  | { readonly kind: 'pass'; readonly seconds: number }
  /** The process is killed and another one is started. */
  | { readonly kind: 'crash' }
  /** Stopped gracefully and started again. */
  | { readonly kind: 'restart' };

const LIMITS: GroupLimits = { window_ms: 30_000, max_wait_ms: 50_000 };
const TTL_MS = 120_000;

/** The specification as simple code. */
class Model {
  now = 0;
  /** Texts that reached the target, in any order. */
  readonly delivered: string[] = [];
  private readonly claims = new Map<string, number>();
  private readonly groups = new Map<string, { first: number; last: number; count: number; text: string }>();

  step(step: Step, text: string): string | null {
    switch (step.kind) {
      case 'accept':
        if (!this.claim(step.id)) return 'duplicate';
        this.delivered.push(text);
        return 'accepted';
      case 'direct':
        if (this.isClaimed(step.id)) return 'duplicate';
        if (!step.works) return 'failed';
        this.claim(step.id);
        this.delivered.push(text);
        return 'delivered';
      case 'coalesce': {
        if (!this.claim(step.id)) return 'duplicate';
        const group = this.groups.get(step.key) ?? { first: this.now, last: 0, count: 0, text: '' };
        this.groups.set(step.key, { ...group, last: this.now, count: group.count + 1, text });
        return `coalesced ${group.count}`;
      }
      case 'pass':
        for (let second = 0; second < step.seconds; second++) {
          this.now += 1000;
          this.release(({ first, last }) => Math.min(last + LIMITS.window_ms, first + LIMITS.max_wait_ms) <= this.now);
        }
        return null;
      case 'restart':
        this.release(() => true);
        return null;
      case 'crash':
        return null;
    }
  }

  private release(due: (group: { first: number; last: number }) => boolean): void {
    for (const [key, group] of this.groups) {
      if (!due(group)) continue;
      this.groups.delete(key);
      const earlier = group.count - 1;
      const events =
        earlier === 1 ? '1 earlier event for this entity was' : `${earlier} earlier events for this entity were`;
      this.delivered.push(earlier === 0 ? group.text : `[${events} superseded by this one.]\n\n${group.text}`);
    }
  }

  private isClaimed(id: string): boolean {
    return (this.claims.get(id) ?? this.now) > this.now;
  }

  private claim(id: string): boolean {
    if (this.isClaimed(id)) return false;
    this.claims.set(id, this.now + TTL_MS);
    return true;
  }
}

/** The real dispatcher: one store, and one process after another over it. */
class Real {
  readonly delivered: string[] = [];
  private readonly store = createMemoryStore();
  private works = true;
  private bench: DispatchBench;
  private started = 0;

  constructor() {
    this.bench = this.start(0);
  }

  private start(now: number): DispatchBench {
    const process = ++this.started;
    return dispatchBench({
      store: this.store,
      clock: new FakeClock(now),
      agent: async ({ prompt }) => prompt,
      deliver: ({ text }) => {
        // A killed process does nothing more.
        if (process !== this.started) return new Promise(() => {});
        if (!this.works) return notSent('permanent');
        this.delivered.push(text);
        return sentOk();
      },
    });
  }

  async step(step: Step, text: string): Promise<string | null> {
    const { service, clock } = this.bench;
    const dispatch = makeDispatch(text, { prompt: text });
    switch (step.kind) {
      case 'accept':
        return (await service.accept(dispatch, claimOf(step.id, { ttl_ms: TTL_MS }), null)).kind;
      case 'direct': {
        this.works = step.works;
        const { kind } = await service.deliver(dispatch, claimOf(step.id, { ttl_ms: TTL_MS }), 10_000);
        this.works = true;
        return kind;
      }
      case 'coalesce': {
        const claim = claimOf(step.id, { ttl_ms: TTL_MS });
        const result = await service.coalesce(dispatch, claim, { key: step.key, ...LIMITS }, null);
        return result.kind === 'coalesced' ? `coalesced ${result.superseded}` : result.kind;
      }
      case 'pass':
        await clock.run(step.seconds * 1000);
        return null;
      case 'restart':
        await service.stop(60_000);
        await this.restart(clock.now());
        return null;
      case 'crash':
        await this.restart(clock.now());
        return null;
    }
  }

  async settle(): Promise<void> {
    await this.bench.clock.run(0);
  }

  audit(): readonly string[] {
    return this.store.look({ kind: 'audit' });
  }

  private async restart(now: number): Promise<void> {
    this.bench = this.start(now);
    await this.bench.service.start();
    await settle();
  }
}

const id = fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('accept' as const), id }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('coalesce' as const), id, key: fc.constantFrom('k', 'k', 'k', 'l') }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('direct' as const), id, works: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 25 }) }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'crash' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
);

it('idempotency and coalescing follow the model, across crashes and restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 30 }), async (steps) => {
      const model = new Model();
      const real = new Real();
      for (const [index, step] of [...steps, { kind: 'pass', seconds: 100 } as const].entries()) {
        const text = `event ${index}`;
        assert.equal(await real.step(step, text), model.step(step, text), `${index}: ${JSON.stringify(step)}`);
        await real.settle();
        assert.deepEqual([...real.delivered].sort(), [...model.delivered].sort(), `after ${index}`);
        assert.deepEqual(real.audit(), []);
      }
    }),
    { seed: 5, numRuns: runsOf(200), includeErrorInReport: true },
  );
});
