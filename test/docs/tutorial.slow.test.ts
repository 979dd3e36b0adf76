/** docs/tutorial.md, word for word: with doubles of the agent, of GitHub's client and of Telegram, and on a free port. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { atEnd } from '../helpers/at-end.ts';
import { startFakeHttp } from '../helpers/fake-http.ts';
import { until } from '../helpers/gateway.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { nodeArgv } from '../helpers/node-argv.ts';
import { ROOT } from '../helpers/root.ts';
import { checkBlocks, runBlocks, userEnvironment } from '../helpers/run-document.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const PROGRAM = nodeArgv(new URL('../../main/cli.js', import.meta.url));

test('the tutorial ends with a comment, a payment message and a digest', async (t) => {
  const telegram = await startFakeHttp(t, () => ({
    body: { ok: true, result: { message_id: 7, chat: { id: -1 }, date: 1, text: 'x' } },
  }));
  const dir = tempDir(t);
  mkdirSync(join(dir, 'home'), { mode: 0o700 });
  const env = userEnvironment(dir, PROGRAM, {
    ollama: 'cat; echo "Looks right to me."',
    gh: `echo "$@" > '${dir}/gh.argv'; cat > '${dir}/comment'; echo https://github.com/octo/demo/issues/7#issuecomment-1`,
  });
  const text = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8');
  const blocks = codeBlocks(text).map((block) => ({ ...block, text: withDoubles(block.text, telegram.url) }));
  checkBlocks(blocks);
  const stop = blocks.findIndex((block) => block.text.includes('$ hookwright gateway stop'));
  atEnd(t, () => spawnSync('hookwright', ['gateway', 'stop'], { cwd: dir, env }));

  await runBlocks(blocks.slice(0, stop), dir, env);
  const comment = await until(
    async () => existsSync(join(dir, 'comment')) && (readFileSync(join(dir, 'comment'), 'utf8') || null),
  );
  assert.match(comment, /#7\b.*octo\/demo\b.*Count from one[\s\S]*Looks right to me\./);
  assert.match(readFileSync(join(dir, 'gh.argv'), 'utf8'), /--repo=octo\/demo .* 7$/m);
  await until(async () => telegram.seen.length >= 2);
  const sent = telegram.seen.map(({ body }) => (JSON.parse(body) as { readonly text: string }).text);
  const ofPayment = sent.filter((message) => message.includes('jo@example.com, https://example.com/i/1'));
  assert.deepEqual([ofPayment.length, sent.length], [1, 2], sent.join('\n'));
  await runBlocks(blocks.slice(stop), dir, env);
});

const withDoubles = (text: string, telegram: string): string =>
  text
    .replaceAll('127.0.0.1:8644', '127.0.0.1:…')
    .replace('  webhook:\n    enabled: true\n', '  webhook:\n    enabled: true\n    port: 0\n')
    .replace('    token: env', `    api_base: ${telegram}\n    token: env`);
