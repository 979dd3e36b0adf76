/**
 * The valid requests of every sender's vectors, sent to a gateway that captures them, each at the time it was signed.
 */
import type { TestContext } from 'node:test';
import type { RoutePlan, SchemePlan } from '../../schemas/generated/types.ts';
import { loadShippedSources } from './catalog-sources.ts';
import { vectorHeaders } from './credentials-of.ts';
import { FakeClock } from './fake-clock.ts';
import type { Keeping } from './keeping.ts';
import { serveKeeping } from './keeping.ts';
import type { Vector } from './vectors.ts';
import { vectors } from './vectors.ts';

export interface KeptVectors extends Keeping {
  /** By route: `r0`, `r1` … */
  readonly sent: readonly Vector[];
  readonly schemes: ReadonlyMap<string, SchemePlan>;
}

const routeOf = ({ scheme, secret, url }: Vector): Partial<RoutePlan> => ({
  schemes: [scheme],
  source: scheme,
  secrets: [{ ref: { kind: 'literal', value: secret, scope: 'default' }, expires_at: null }],
  public_url: url?.split('?')[0] ?? null,
});

/** @param wanted filter of the valid ones */
export async function keepVectors(
  t: TestContext,
  wanted: (vector: Vector, all: readonly Vector[]) => boolean = () => true,
): Promise<KeptVectors> {
  const schemes = new Map(loadShippedSources().lowered.map(({ name, plan }) => [name, plan]));
  const good = vectors.filter(({ valid, scheme }) => valid && schemes.has(scheme));
  const sent = good.filter((vector) => wanted(vector, good));
  const clock = new FakeClock();
  const routes = Object.fromEntries(sent.map((vector, index) => [`r${index}`, routeOf(vector)]));
  const gateway = { capture_per_second: 1000, capture_days: 100_000 };
  const keeping = await serveKeeping(t, { routes, gateway }, { clock });
  for (const [index, vector] of sent.entries()) {
    if (vector.now !== undefined) clock.jump(vector.now * 1000 - clock.now());
    const query = vector.url?.includes('?') === true ? `?${vector.url.split('?')[1]}` : '';
    const url = `http://127.0.0.1/webhooks/r${index}${query}`;
    await keeping.gateway.handle(
      new Request(url, { method: 'POST', headers: vectorHeaders(vector), body: vector.body }),
    );
  }
  return { ...keeping, sent, schemes };
}
