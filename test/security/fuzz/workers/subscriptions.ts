/**
 * Fuzzes `webhook_subscriptions.json`: any text, and entries of any shape beside a valid one. The file is rejected with a
 * reason or read, also with a byte order mark. Only an invalid entry is quarantined. Served routes can be linked completely.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createFacts } from '../../../../compiler/source/load-env.ts';
import { compileSubscriptions, SubscriptionsError } from '../../../../compiler/stages/compile-subscriptions.ts';
import { linkRoutes } from '../../../../runtime/table/link.ts';
import type { LoadContext } from '../../../../runtime/table/subscriptions.ts';
import { loadSubscriptions } from '../../../../runtime/table/subscriptions.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import { compileConfig, HOME, IN_FORCE, printed } from '../../../helpers/compile.ts';
import { memoryFiles } from '../../../helpers/memory-files.ts';
import { damaged, jsonOf } from '../damage.ts';
import { linkContext } from '../load-and-link.ts';
import { ODD_TEXTS, schemaWords } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { LOOP_MS } from '../worker.ts';

interface SubscriptionsCase {
  readonly text: string;
  /** An entry beside the valid one, as JSON text of a route. */
  readonly entry: string;
  readonly name: string;
}

const COMPILED = compileConfig(`
platforms:
  telegram: { enabled: true, token: "1:x" }
  webhook: { enabled: true, secret: env:S, routes: { static: { prompt: x } } }
jobs: { report: { schedule: "0 8 * * *", prompt: Report. } }
`);
if (COMPILED.output === null) throw new Error(printed(COMPILED));
/** Read back from the bytes, as in the runtime. */
const TABLE = JSON.parse(COMPILED.output.routesJson) as RouteTable;
const FACTS = createFacts({ files: memoryFiles({}), home: HOME, env: () => new Map(), jobs: [] });

const CONTEXT: LoadContext = {
  lower: (text, table) => compileSubscriptions(text, { table, facts: FACTS, rules: IN_FORCE }),
  link: (table, plans) => linkRoutes(plans, table, linkContext(table)),
};

const ENTRIES = [
  {
    prompt: '{a}',
    events: ['push', 'issue*'],
    filters: {
      any: [
        { field: 'a', regex: '^x' },
        { field: 'b', in: [1] },
      ],
    },
  },
  { secrets: ['env:A', { value: 'env:B', expires_at: '2030-01-01T00:00:00Z' }], source: 'stripe', auth: ['stripe'] },
  { deliver: ['telegram', 'log'], deliver_extra: { telegram: { chat_id: '{a}' } }, mirror_to_session: true },
  { cron_job: 'report', description: 'x', enabled: false, rate_limit: 3, idempotency_ttl_seconds: 5 },
  {
    coalesce: { key: '{a}', window_seconds: 1, max_wait_seconds: 2 },
    script: 'a.sh',
    skills: ['a'],
    toolsets: ['web'],
  },
].map((entry) => JSON.stringify(entry));
const SEEDS = [...ENTRIES.map((entry) => `{"one":${entry}}`), '{}', '[]', 'null', '{"a":{},"b":{"promt":1}}'];
const WORDS = [
  ...schemaWords(),
  ...ODD_TEXTS,
  ...['{', '}', '[', ']', ',', ':', '"', '\\u0000', '\n', 'null', '1e999'],
];
const RIGHT = '{"prompt":"x"}';

export const subscriptions: FuzzWorker<SubscriptionsCase> = {
  name: 'subscriptions',
  cases: fc.record({
    text: fc.oneof(
      damaged(SEEDS, WORDS),
      jsonOf(WORDS).map((value) => JSON.stringify(value)),
    ),
    entry: fc.oneof(
      damaged(ENTRIES, WORDS),
      jsonOf(WORDS).map((value) => JSON.stringify(value)),
    ),
    name: fc.oneof(fc.constantFrom('a', 'static', ...ODD_TEXTS), fc.string({ maxLength: 70 })),
  }),
  open: async () => ({
    longestMs: LOOP_MS,
    close: async () => {},
    async run({ text, entry, name }) {
      const marked = text.replace(/^\ufeff/, '');
      assert.deepEqual(await serve(`\ufeff${marked}`), await serve(marked), 'a byte order mark changes what is read');
      if (!isJson(entry) || name === 'right') return;
      const served = await serve(`{${JSON.stringify(name)}:${entry},"right":${RIGHT}}`);
      assert.ok(served.has('/webhooks/right'), 'an entry takes another one with it');
    },
  }),
};

/** The served paths. @throws any error that is not a rejection of the file */
async function serve(text: string): Promise<ReadonlySet<string>> {
  try {
    const { routes, rejected } = await loadSubscriptions(CONTEXT, text, TABLE);
    for (const { reason } of rejected) assert.notEqual(reason, '');
    for (const slot of routes.values()) void slot.linked;
    return new Set(routes.keys());
  } catch (error) {
    if (error instanceof SubscriptionsError) return new Set();
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
