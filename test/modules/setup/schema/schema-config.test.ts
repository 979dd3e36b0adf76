import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { runInProcess } from '../../../helpers/cli.ts';
import { ROOT } from '../../../helpers/root.ts';

let validate: (data: unknown) => boolean;
let text = '';

before(async () => {
  text = (await runInProcess(['schema', 'config'], { home: ROOT })).stdout;
  validate = new Ajv2020({ strict: false, code: { optimize: false } }).compile(JSON.parse(text));
});

const withPlatform = (name: string, settings: object) => ({ platforms: { [name]: { enabled: true, ...settings } } });
const withRoute = (route: object) => ({ platforms: { webhook: { enabled: true, routes: { a: route } } } });

test('the schema accepts every example and every setting of targets', () => {
  for (const name of readdirSync(join(ROOT, 'examples'))) {
    const path = join(ROOT, 'examples', name, 'hookwright.yaml');
    if (name === 'embed') continue;
    assert.ok(validate(parse(readFileSync(path, 'utf8'))), name);
  }
  assert.ok(validate(withPlatform('telegram', { bot_token: 'env:T', home_channel: -100 })));
  assert.ok(validate(withPlatform('my_own_target', { anything: 'x' })));
  assert.ok(validate(withRoute({ '<<': {}, source: 'my-own', deliver: ['slack', 'my_own_target'] })));
});

test('the schema rejects a misspelt credential, two operators in a filter, and a schedule of three fields', () => {
  assert.ok(!validate(withPlatform('telegram', { bot_tokn: 'env:T' })));
  assert.ok(!validate(withRoute({ filters: { field: 'a', equals: 1, in: [1] } })));
  assert.ok(!validate(withRoute({ filters: { field: 'a' } })));
  assert.ok(
    validate(withRoute({ filters: { any: [{ field: 'a', equals: 1 }, { not: { field: 'b', exists: true } }] } })),
  );
  assert.ok(!validate({ jobs: { a: { schedule: '0 9 *', prompt: 'x' } } }));
});

test('the schema lists names of senders, targets and toolsets for completion', () => {
  for (const name of ['"github"', '"stripe"', '"telegram"', '"web_search"']) assert.ok(text.includes(name), name);
});
