/**
 * An empty address is refused when it is compiled exactly if the target sends nothing without it, and then nothing is sent:
 * the runtime, with the double of each service, says which addresses are needed.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileConfig } from '../helpers/compile.ts';
import { deliveryTo } from '../helpers/deliveries.ts';
import type { TargetCase } from '../helpers/target-cases.ts';
import { TARGET_CASES } from '../helpers/target-cases.ts';
import { startTarget } from '../helpers/target-fake.ts';
import { shippedTargets } from '../helpers/targets.ts';

/** The rules that report a file, each with its value. */
const found = (platforms: unknown, more: object = {}): readonly string[] =>
  compileConfig(JSON.stringify({ ...more, platforms })).diagnostics.flatMap(({ rule, source, range }) =>
    ['address-form', 'missing-address'].includes(rule) ? [source.text.slice(range.start, range.end)] : [],
  );

const routeTo = (route: object) => ({ enabled: true, secret: 'env:S', routes: { a: { prompt: 'x', ...route } } });

const settingsOf = ({ settings, apiBase }: TargetCase): object => {
  const server = 'https://service.example';
  const written = Object.entries(settings).map(([name, value]) => [name, value.replace('{server}', server)]);
  return { ...(apiBase === false ? {} : { api_base: server }), ...Object.fromEntries(written) };
};

describe('the compiler refuses an empty address where the runtime does:', () => {
  for (const one of TARGET_CASES)
    test(`${one.target}: ${one.name}`, async (t) => {
      const { deliverer, sends } = await startTarget(t, one, () => one.ok[0] ?? 'drop');
      for (const key of Object.keys(one.extra ?? {})) {
        for (const empty of ['', '  ', '\u200b', '\u2800\u00ad']) {
          const extra = { ...one.extra, [key]: empty };
          const before = sends.length;
          const outcome = await deliverer.deliver(deliveryTo(one.target, { extra }));
          const platforms = {
            webhook: routeTo({ deliver: one.target, deliver_extra: extra }),
            [shippedTargets()[one.target]?.platform ?? one.target]: {
              enabled: true,
              variant: one.variant,
              ...settingsOf(one),
            },
          };
          const isRefused = outcome.kind !== 'ok';
          const places = found(platforms);
          // A place that is only a thread has no chat without it, which is reported at its target.
          if (!('chat_id' in extra) && isRefused) assert.ok(places.length > 0);
          else assert.deepEqual(places, isRefused ? [JSON.stringify(empty)] : [], `${key} ${outcome.kind}`);
          if (!isRefused) continue;
          assert.equal(outcome.kind, 'permanent');
          assert.equal(sends.length, before);
        }
      }
    });
});

describe('an empty address is refused in', () => {
  const to = { deliver: 'telegram', deliver_extra: { chat_id: '' } };
  const telegram = { enabled: true, token: 'env:T' };
  const job = { schedule: '0 9 * * *', prompt: 'x', agent: 'none' };
  const places: Readonly<Record<string, readonly [object, object]>> = {
    'a group of a target': [{ deliver: 'telegram', deliver_extra: { telegram: { chat_id: '' } } }, {}],
    on_failure: [{ on_failure: to }, {}],
    'an output': [{ outputs: { page: { deliver: 'telegram', chat_id: '', max: 1 } } }, {}],
    'an output of a code host': [{ outputs: { page: { deliver: 'github_issue', repo: '', max: 1 } } }, {}],
    'a job': [{}, { jobs: { j: { ...job, ...to } } }],
    alerts: [{}, { gateway: { alerts: to } }],
    approvals: [{}, { gateway: { approvals: to } }],
  };
  const github = { enabled: true, token: 'env:G' };
  for (const [place, [route, more]] of Object.entries(places))
    test(place, () => assert.deepEqual(found({ webhook: routeTo(route), telegram, github }, more), ['""']));

  test('a home channel', () => {
    const platforms = { webhook: routeTo({ deliver: 'telegram' }), telegram: { ...telegram, home_channel: '' } };
    assert.deepEqual(found(platforms), ['""']);
  });

  test('the URL of a service', () => {
    const http = { enabled: true, url: 'https://example.org/{id}', secret: 'env:H' };
    assert.deepEqual(found({ webhook: routeTo({ deliver: 'http', deliver_extra: { id: '' } }), http }), ['""']);
  });
});
