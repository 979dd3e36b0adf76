/** `docs`, `rule` and `explain <rule>` find pages and rules by other words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

test('a word from the index suggests its page', async (t) => {
  const home = tempDir(t);
  for (const [asked, page] of [
    ['nginx', 'proxies'],
    ['proxy', 'proxies'],
    ['backup', 'backups'],
    ['strip', 'stripe'],
  ]) {
    const { code, stderr } = await runInProcess(['docs', asked ?? ''], { home });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`hookwright docs ${page}\n`));
  }
  assert.equal((await runInProcess(['docs', 'zzz'], { home })).code, 1);
});

test('explain with the name of a rule and no event explains the rule', async (t) => {
  const home = tempDir(t);
  const rule = await runInProcess(['rule', 'template-syntax'], { home });
  assert.match(rule.stdout, /^template-syntax\n/);
  assert.equal((await runInProcess(['explain', 'template-syntax'], { home })).stdout, rule.stdout);
});
