/** The common response to guessed routes: unknown route, unknown profile and mismatch, side by side. */
import { interleave } from '../harness/interleave.ts';
import { signedHeaders, small } from '../harness/payloads.ts';
import type { Case } from '../lab.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    rate_limit: 1000000000
    routes:
      plain:
        prompt: "{title}"
      alerts:
        profile: red
        secret: env:WEBHOOK_SECRET
        prompt: "{title}"
      asleep:
        profile: red
        enabled: false
        secret: env:WEBHOOK_SECRET
        prompt: "{title}"
gateway:
  multiplex_profiles: true
`;
const PROFILES = { 'profiles/red/config.yaml': '{}\n', 'profiles/sky/config.yaml': '{}\n' };

/** Paths of one length, all signed with the secret of `alerts`. The last row has another response by design. */
const REQUESTS = [
  ['unknown route', '/p/red/webhooks/absent', 404],
  ['unknown route, none of its length', '/p/red/webhooks/absent-at-all', 404],
  ['unknown profile', '/p/tan/webhooks/alerts', 404],
  ["another profile's route", '/p/sky/webhooks/alerts', 404],
  ["a profile's route without it", '/webhooks/alerts', 404],
  ["the default profile's route", '/p/red/webhooks/plain', 404],
  ['disabled route (403)', '/p/red/webhooks/asleep', 403],
] as const;

export const notFoundCase: Case = {
  name: 'not-found',
  title: 'One response: requests that no route accepts, in turns on one server; every part of the first is unknown',
  header: ['request', 'median', 'p99', 'median to the first'],
  run: (lab) =>
    lab.withOurs({ store: 'normal', yaml: CONFIG, files: PROFILES }, async ({ port }) => {
      const headers = signedHeaders(small.body);
      const targets = REQUESTS.map(([, path]) => ({ port, path, headers, body: small.body }));
      const [turns, warmUp] = lab.quick ? [2000, 1000] : [20_000, 5000];
      const figures = await interleave(targets, turns, warmUp);
      return REQUESTS.map(([name, path, wanted], at) => {
        const { status = 0, median = Number.NaN, p99 = Number.NaN } = figures[at] ?? {};
        if (status !== wanted) throw new Error(`${path}: expected ${wanted}, got ${status}`);
        const ratio = median / (figures[0]?.median ?? Number.NaN);
        return [name, `${median.toFixed(1)} us`, `${p99.toFixed(1)} us`, ratio.toFixed(3)];
      });
    }),
};
