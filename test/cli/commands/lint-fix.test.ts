/** `lint --fix` applies unambiguous repairs and changes nothing else. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `# Kept.
platforms:
  webhook:
    enabled:   yes   # on purpose
    secret: env:WEBHOOK_SECRET
    routes:
      review:
        promt: "{title}"
        deliver_exta: { chat_id: "1" }
        deliver: nonsense
`;

const FIXED = CONFIG.replace('yes', 'true').replace('promt', 'prompt').replace('deliver_exta', 'deliver_extra');

async function lint(t: TestContext, text: string, ...args: string[]): Promise<CliResult & { readonly file: string }> {
  const home = tempDir(t);
  const file = join(home, 'hookwright.yaml');
  writeFileSync(file, text);
  chmodSync(file, 0o640);
  return { ...(await runInProcess(['lint', '--config', file, ...args], { home })), file };
}

test('applies certain repairs, keeps comments and layout, and reports the rest', async (t) => {
  const { file, stdout, stderr, code } = await lint(t, CONFIG, '--fix');
  assert.equal(readFileSync(file, 'utf8'), FIXED);
  assert.equal(statSync(file).mode & 0o777, 0o640);
  assert.match(stderr, /hookwright\.yaml\D* 3 /);
  assert.match(stdout, /unknown-target/);
  assert.equal(code, 1);
});

test('--dry-run shows the repairs and writes nothing', async (t) => {
  const { file, stderr } = await lint(t, CONFIG, '--fix', '--dry-run');
  assert.equal(readFileSync(file, 'utf8'), CONFIG);
  assert.match(stderr, /\+ {9}prompt: "\{title\}"/);
});

test('the report counts the possible repairs, and JSON contains each one', async (t) => {
  const pretty = await lint(t, CONFIG);
  assert.match(pretty.stdout, /hookwright lint --fix .*\b3\b/);
  const json = await lint(t, CONFIG, '--format', 'json');
  const fixes = (JSON.parse(json.stdout) as { fix: { text: string }[] | null }[]).flatMap(({ fix }) => fix ?? []);
  assert.deepEqual(fixes.map(({ text }) => text).sort(), ['deliver_extra', 'prompt', 'true']);
});

test('an ambiguous key is not repaired', async (t) => {
  const { file } = await lint(t, CONFIG.replace('promt', 'deliver_o'), '--fix');
  assert.match(readFileSync(file, 'utf8'), /deliver_o: /);
});

test('a quoted key keeps its quotes', async (t) => {
  const { file } = await lint(t, CONFIG.replace('promt', '"promt"'), '--fix');
  assert.match(readFileSync(file, 'utf8'), /"prompt": "\{title\}"/);
});

test('the summary names a repair that was not made, with its place and the reason', async (t) => {
  const text = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      review: { source: github, events: [pull_request], prompt: "{{ title }} {{pull_request.title}}" }
`;
  const { file, stderr, code } = await lint(t, text, '--fix');
  assert.equal(readFileSync(file, 'utf8'), text.replace('{{pull_request.title}}', '{pull_request.title}'));
  assert.match(stderr, /hookwright\.yaml:6:\d+: template-braces .*unknown-payload-path/);
  assert.match(stderr, /\b1 repaired/);
  assert.equal(code, 0);
});
