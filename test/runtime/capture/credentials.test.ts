/** No credential is kept: the good requests of every sender's vectors are sent, and everything that is kept is searched. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { placesOf } from '../../../runtime/capture/credentials.ts';
import { readValue, splitParts } from '../../../runtime/verify/locator.ts';
import { LazyRequest } from '../../../runtime/verify/request.ts';
import type { RoutePlan, SchemePlan } from '../../../schemas/generated/types.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { serveKeeping } from '../../helpers/keeping.ts';
import type { Vector } from '../../helpers/vectors.ts';
import { vectorRequest, vectors } from '../../helpers/vectors.ts';

const schemes = new Map(loadShippedSources().lowered.map(({ name, plan }) => [name, plan]));
const good = vectors.filter(({ valid, scheme }) => valid && schemes.has(scheme));
/** Shorter ones are words. */
const LEAST = 8;

/** Whatever would let someone else send this request, or another one. */
function credentialsOf(vector: Vector, scheme: SchemePlan): string[] {
  const request = new LazyRequest(vectorRequest(vector));
  const found = placesOf(scheme).flatMap(([at]) => {
    const text = String(readValue(at, request) ?? '');
    const parts = splitParts(at, text);
    return [text, ...(typeof parts === 'string' ? [] : parts)];
  });
  const isToken = scheme.verify === 'token' || scheme.verify === 'basic';
  return [...found, ...(isToken ? [vector.secret] : [])].filter((text) => text.length >= LEAST);
}

const routeOf = ({ scheme, secret, url }: Vector): Partial<RoutePlan> => ({
  schemes: [scheme],
  source: scheme,
  secrets: [{ ref: { kind: 'literal', value: secret, scope: 'default' }, expires_at: null }],
  public_url: url?.split('?')[0] ?? null,
});

/** With the content type that the body has, where the vector names none. */
function headersOf({ headers, body }: Vector): Headers {
  const all = new Headers({ ...headers });
  const type = /^\s*[{[]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded';
  if (!all.has('content-type')) all.set('content-type', type);
  return all;
}

test('no credential of any sender is kept', async (t) => {
  const clock = new FakeClock();
  const routes = Object.fromEntries(good.map((vector, index) => [`r${index}`, routeOf(vector)]));
  const gateway = { capture_per_second: 1000, capture_days: 100_000 };
  const { gateway: served, capture, list, log, path } = await serveKeeping(t, { routes, gateway }, { clock });
  for (const [index, vector] of good.entries()) {
    if (vector.now !== undefined) clock.jump(vector.now * 1000 - clock.now());
    const query = vector.url?.includes('?') === true ? `?${vector.url.split('?')[1]}` : '';
    const request = new Request(`http://127.0.0.1/webhooks/r${index}${query}`, {
      method: 'POST',
      headers: headersOf(vector),
      body: vector.body,
    });
    await served.handle(request);
  }
  const rows = await list({}, 1000);
  const kept = new Map<string, string>();
  for (const { id } of rows) {
    const found = await capture.requests.load(id);
    assert(found.kind === 'found');
    const body = Buffer.from(found.request.body ?? '', 'base64').toString('latin1');
    kept.set(found.request.route, `${JSON.stringify(found.request)}\n${body}`);
  }
  const verified = rows.filter((row) => row.verified);
  assert(verified.length >= good.length * 0.95, `${verified.length} of ${good.length} are signed as they should be`);
  const judged = new Set(verified.map(({ route }) => good[Number(route.slice(1))]?.scheme));
  const missing = [...new Set(good.map(({ scheme }) => scheme))].filter((scheme) => !judged.has(scheme));
  assert.deepEqual(missing, []);
  await capture.close();
  const file = ['', '-wal'].map((end) => (existsSync(path + end) ? readFileSync(path + end, 'latin1') : '')).join('');
  const said = JSON.stringify(log.lines);
  for (const [index, vector] of good.entries()) {
    for (const credential of credentialsOf(vector, schemes.get(vector.scheme) as SchemePlan)) {
      const where = `${vector.scheme}: ${vector.description}`;
      assert(!(kept.get(`r${index}`) ?? '').includes(credential), `${where}: ${credential} is shown`);
      assert(!file.includes(Buffer.from(credential).toString('latin1')), `${where}: ${credential} is in the file`);
      assert(!said.includes(credential), `${where}: ${credential} is in the log`);
    }
  }
});
