/** Tests `source shape`, `source learn` and the payload hints of `schema`. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const TOKEN = 'verify: token, signature: { header: X-Token }';

test('source shape prints events with their actions, or the paths of one event', async (t) => {
  const home = tempDir(t);
  const all = await runInProcess(['source', 'shape', 'github'], { home });
  assert.equal(all.code, 0);
  assert.match(all.stdout, /^star +\d+ +created, deleted$/m);
  assert.match(all.stderr, /@octokit\/webhooks-schemas \d.*\(MIT\).*@octokit\/openapi-webhooks/);
  const one = await runInProcess(['source', 'shape', 'github', 'pull_request', '--prefix', 'pull_request.stat'], {
    home,
  });
  assert.match(one.stdout, /^pull_request\.state +string +enum +open, closed$/m);
  assert.ok(!/^number/m.test(one.stdout));
  const edited = await runInProcess(['source', 'shape', 'github', 'pull_request', '--prefix', 'changes.t'], { home });
  assert.match(edited.stdout, /^changes\.title\.from +string .*\bedited$/m);
});

test('source shape accepts the event names that `events` accepts', async (t) => {
  const { stdout } = await runInProcess(['source', 'shape', 'gitlab', 'merge_request', '--prefix', 'project.id'], {
    home: tempDir(t),
  });
  assert.match(stdout, /^project\.id +number/m);
});

test('source shape --json prints all facts of paths; without an event, the origin', async (t) => {
  const home = tempDir(t);
  const { stdout } = await runInProcess(['source', 'shape', 'github', 'issues', '--prefix', 'issue.state', '--json'], {
    home,
  });
  assert.deepEqual((JSON.parse(stdout) as unknown[])[0], {
    path: 'issue.state',
    types: ['string'],
    values: ['open', 'closed'],
    format: null,
    optional: true,
    open: false,
    class: 'enum',
    written_by: null,
    actions: null,
  });
  const all = JSON.parse((await runInProcess(['source', 'shape', 'stripe', '--json'], { home })).stdout) as Record<
    string,
    unknown
  >;
  assert.deepEqual([all.source, all.quality], ['stripe', 'good']);
  assert.ok(Array.isArray(all.events) && all.events.length > 200);
});

test('source shape suggests names, and prints the paths of a sender without event names at once', async (t) => {
  const home = tempDir(t);
  const wrong = await runInProcess(['source', 'shape', 'github', 'pull_requests'], { home });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /"pull_requests"\n.*\bpull_request\b/);
  const telegram = await runInProcess(['source', 'shape', 'telegram', '--prefix', 'update_id'], { home });
  assert.match(telegram.stdout, /^update_id +number +number$/m);
  const none = await runInProcess(['source', 'shape', 'sentry'], { home });
  assert.equal(none.code, 1);
  assert.match(none.stderr, /"sentry"\n.*source learn sentry --from/);
});

test('source shape prints recursive types near the top, and deeper paths by prefix', async (t) => {
  const home = tempDir(t);
  const all = await runInProcess(['source', 'shape', 'telegram'], { home });
  assert.equal(all.code, 0, all.stderr);
  const lines = all.stdout.trimEnd().split('\n');
  assert.ok(lines.length > 900 && lines.length <= 10_001, String(lines.length));
  assert.match(all.stdout, /^message\.chat\.id +number/m);
  assert.match(all.stderr, /\b10,000\b.*--prefix <path>/);
  const deep = await runInProcess(['source', 'shape', 'telegram', '--prefix', 'message.reply_to_message.from.'], {
    home,
  });
  assert.match(deep.stdout, /^message\.reply_to_message\.from\.username +string/m);
  assert.equal(deep.stderr, '');
  const json = await runInProcess(['source', 'shape', 'telegram', '--json'], { home });
  assert.equal((JSON.parse(json.stdout) as unknown[]).length, lines.length - 1);
});

test('source learn prints a schema for one event that the config can use', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'requests'));
  for (const id of [1, 2, 3]) {
    const payload = { type: 'order.paid', id, total: { amount: id + 0.5 }, ...(id === 2 ? { coupon: 'X' } : {}) };
    writeFileSync(join(home, `requests/${id}.json`), JSON.stringify(payload));
  }
  const { stdout, stderr, code } = await runInProcess(['source', 'learn', 'shop', '--from', 'requests/*.json'], {
    home,
  });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^# .*\bshop\b.*"order\.paid".*\b3\b/);
  const schema = parse(stdout) as Record<string, unknown>;
  assert.deepEqual(schema.required, ['type', 'id', 'total']);
  assert.deepEqual(schema.properties, {
    type: { type: 'string', enum: ['order.paid'] },
    id: { type: 'integer' },
    total: { type: 'object', required: ['amount'], properties: { amount: { type: 'number' } } },
    coupon: { type: 'string' },
  });
  writeFileSync(join(home, 'shop.yaml'), stdout);
  const routes = 'routes: { r: { source: shop, prompt: "{total.amont}" } }';
  const config = `sources:\n  shop: { ${TOKEN}, shape: shop.yaml }\nplatforms:\n  webhook: { enabled: true, secret: env:S, ${routes} }\n`;
  writeFileSync(join(home, 'hookwright.yaml'), config);
  const lint = await runInProcess(['lint'], { home });
  assert.match(lint.stderr + lint.stdout, /: hint unknown-payload-path: `total\.amont`.*`\{total\.amount\}`/);
  const shape = await runInProcess(['source', 'shape', 'shop'], { home });
  assert.match(shape.stdout, /^coupon +string /m);
});

test('source learn --out writes a file per event, by the header of its source, also from a HAR file', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'hookwright.yaml'), `sources:\n  shop: { ${TOKEN}, event: { header: X-Event } }\n`);
  const entry = (event: string, body: unknown) => ({
    request: {
      method: 'POST',
      url: 'https://x.test/',
      headers: [{ name: 'X-Event', value: event }],
      postData: { text: JSON.stringify(body) },
    },
  });
  const har = { log: { entries: [entry('order/paid', { a: 1 }), entry('refund', { b: 'x' }), entry('refund', {})] } };
  writeFileSync(join(home, 'kept.har'), JSON.stringify(har));
  const many = await runInProcess(['source', 'learn', 'shop', '--from', 'kept.har'], { home });
  assert.equal(many.code, 1);
  assert.match(many.stderr, /\b2\b.*order\/paid.*refund\n.*--out <dir>/);
  const { stderr, code } = await runInProcess(['source', 'learn', 'shop', 'kept.har', '--out', 'shapes'], { home });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /\n {6}order\/paid: shapes\/order-paid\.yaml\n {6}refund: shapes\/refund\.yaml/);
  assert.match(readFileSync(join(home, 'shapes/refund.yaml'), 'utf8'), /properties:\n {2}b:\n/);
  writeFileSync(join(home, 'shapes/refund.yaml'), 'reviewed');
  const again = await runInProcess(['source', 'learn', 'shop', 'kept.har', '--out', 'shapes'], { home });
  assert.equal(again.code, 1);
  assert.match(again.stderr, /\n.*--force/);
  assert.equal(readFileSync(join(home, 'shapes/refund.yaml'), 'utf8'), 'reviewed');
});

test('source learn widens a file that exists, and keeps its comments and what was added', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'hookwright.yaml'), `sources:\n  shop: { ${TOKEN} }\n`);
  const learn = async (payload: unknown, ...more: string[]) => {
    writeFileSync(join(home, 'one.json'), JSON.stringify(payload));
    return runInProcess(['source', 'learn', 'shop', 'one.json', '--out', '.', ...more], { home });
  };
  const path = join(home, 'paid.yaml');
  assert.equal((await learn({ type: 'paid', total: 5, items: [{ sku: 'a' }] })).code, 0);
  const edited = readFileSync(path, 'utf8').replace('  total:\n', '  # In cents.\n  total:\n    description: Sum\n');
  writeFileSync(path, edited);
  assert.equal((await learn({ type: 'paid', total: 5.5, items: [{ sku: null, count: 1 }], note: 'x' })).code, 0);
  const text = readFileSync(path, 'utf8');
  assert.match(text, /# In cents\./);
  const { complete, required, properties } = parse(text) as Record<string, unknown>;
  assert.deepEqual(
    [complete, required, properties],
    [
      false,
      ['type', 'total', 'items'],
      {
        type: { type: 'string' },
        total: { description: 'Sum', type: 'number' },
        items: {
          type: 'array',
          items: {
            type: 'object',
            required: ['sku'],
            properties: { sku: { type: ['string', 'null'] }, count: { type: 'integer' } },
          },
        },
        note: { type: 'string' },
      },
    ],
  );
  assert.equal((await learn({ type: 'paid', total: 5.5, items: [] })).code, 0);
  assert.equal(readFileSync(path, 'utf8'), text);
  assert.equal((await learn({ type: 'paid' }, '--force')).code, 0);
  assert.doesNotMatch(readFileSync(path, 'utf8'), /total/);
});

test('source learn names unreadable files and writes nothing', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'bad.json'), '{"a": ');
  const bad = await runInProcess(['source', 'learn', 'shop', 'bad.json', '--out', 'shapes'], { home });
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /^error: bad\.json: not JSON/);
  assert.ok(!existsSync(join(home, 'shapes')));
  assert.equal((await runInProcess(['source', 'learn', 'shop'], { home })).code, 2);
  assert.match((await runInProcess(['source', 'learn', 'shop', 'none-*.json'], { home })).stderr, /none-\*\.json/);
});

test('schema marks places of payload paths; with --source, it lists the paths', async (t) => {
  const home = tempDir(t);
  const plain = JSON.parse((await runInProcess(['schema', 'route'], { home })).stdout) as Schema;
  assert.deepEqual(
    [plain.properties?.prompt?.['x-payload'], plain.properties?.events?.['x-payload']],
    ['template', 'events'],
  );
  assert.equal(plain.properties?.prompt?.['x-payload-paths'], undefined);
  const args = ['schema', 'route', '--source', 'github', '--event', 'star'];
  const filled = JSON.parse((await runInProcess(args, { home })).stdout) as Schema;
  assert.deepEqual(filled.properties?.events?.examples, [['star']]);
  const paths = filled.$defs?.filter?.properties?.field?.examples as readonly string[];
  assert.ok(paths.includes('starred_at') && paths.includes('repository.full_name') && !paths.includes('issue'));
  assert.deepEqual(filled.properties?.prompt?.['x-payload-paths'], paths);
});

interface Schema {
  readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
}
